// SPDX-License-Identifier: Apache-2.0
#include "model/qwen3_5/weights.h"

#include <string>
#include <utility>

#include "base/str.h"
#include "model/qwen3_5/tensor_table.h"

namespace gdn::qwen3_5 {
namespace {

Result<GatedDeltaNet> ReadGatedDeltaNet(const ModelConfig& config, DType dtype,
                                        const std::string& p, WeightSource& source) {
  GatedDeltaNet::Weights w;
  GDN_ASSIGN_OR_RETURN(w.qkv, source.ReadLinear(p + "in_proj_qkv.weight"));
  GDN_ASSIGN_OR_RETURN(w.z, source.ReadLinear(p + "in_proj_z.weight"));
  GDN_ASSIGN_OR_RETURN(w.b, source.ReadLinear(p + "in_proj_b.weight"));
  GDN_ASSIGN_OR_RETURN(w.a, source.ReadLinear(p + "in_proj_a.weight"));
  GDN_ASSIGN_OR_RETURN(w.conv, source.ReadConv(p + "conv1d.weight", dtype));
  GDN_ASSIGN_OR_RETURN(w.a_log, source.ReadF32(p + "A_log"));
  GDN_ASSIGN_OR_RETURN(w.dt_bias, source.ReadF32(p + "dt_bias"));
  GDN_ASSIGN_OR_RETURN(w.norm, source.ReadF32(p + "norm.weight"));
  GDN_ASSIGN_OR_RETURN(w.out, source.ReadLinear(p + "out_proj.weight"));
  return GatedDeltaNet(GatedDeltaNetDims(config), std::move(w));
}

Result<GatedAttention> ReadGatedAttention(const ModelConfig& config, const std::string& p,
                                          WeightSource& source) {
  GatedAttention::Weights w;
  GDN_ASSIGN_OR_RETURN(w.q, source.ReadLinear(p + "q_proj.weight"));
  GDN_ASSIGN_OR_RETURN(w.k, source.ReadLinear(p + "k_proj.weight"));
  GDN_ASSIGN_OR_RETURN(w.v, source.ReadLinear(p + "v_proj.weight"));
  GDN_ASSIGN_OR_RETURN(w.o, source.ReadLinear(p + "o_proj.weight"));
  GDN_ASSIGN_OR_RETURN(w.q_norm, source.ReadF32(p + "q_norm.weight"));
  GDN_ASSIGN_OR_RETURN(w.k_norm, source.ReadF32(p + "k_norm.weight"));
  return GatedAttention(GatedAttentionDims(config), std::move(w));
}

Result<Mlp> ReadMlp(const std::string& p, WeightSource& source) {
  Mlp::Weights w;
  GDN_ASSIGN_OR_RETURN(w.gate, source.ReadLinear(p + "gate_proj.weight"));
  GDN_ASSIGN_OR_RETURN(w.up, source.ReadLinear(p + "up_proj.weight"));
  GDN_ASSIGN_OR_RETURN(w.down, source.ReadLinear(p + "down_proj.weight"));
  return Mlp(std::move(w));
}

Result<Layer> ReadLayer(const ModelConfig& config, DType dtype, LayerKind kind,
                        const std::string& p, WeightSource& source) {
  GDN_ASSIGN_OR_RETURN(OwnedTensor input_norm, source.ReadF32(p + "input_layernorm.weight"));
  GDN_ASSIGN_OR_RETURN(OwnedTensor post_norm,
                       source.ReadF32(p + "post_attention_layernorm.weight"));
  GDN_ASSIGN_OR_RETURN(Mlp mlp, ReadMlp(p + "mlp.", source));
  if (kind == LayerKind::kLinearAttention) {
    GDN_ASSIGN_OR_RETURN(GatedDeltaNet mixer,
                         ReadGatedDeltaNet(config, dtype, p + "linear_attn.", source));
    return Layer{std::move(input_norm), std::move(mixer), std::move(post_norm), std::move(mlp)};
  }
  GDN_ASSIGN_OR_RETURN(GatedAttention mixer, ReadGatedAttention(config, p + "self_attn.", source));
  return Layer{std::move(input_norm), std::move(mixer), std::move(post_norm), std::move(mlp)};
}

}  // namespace

GatedDeltaNet::Dims GatedDeltaNetDims(const ModelConfig& config) {
  return {.num_key_heads = config.linear_num_key_heads,
          .num_value_heads = config.linear_num_value_heads,
          .key_dim = config.linear_key_head_dim,
          .value_dim = config.linear_value_head_dim,
          .conv_kernel = config.conv_kernel,
          .rms_norm_eps = config.rms_norm_eps,
          .output_gate = config.output_gate};
}

GatedAttention::Dims GatedAttentionDims(const ModelConfig& config) {
  return {.num_heads = config.num_heads,
          .num_kv_heads = config.num_kv_heads,
          .head_dim = config.head_dim,
          .rms_norm_eps = config.rms_norm_eps,
          .output_gate = config.attn_output_gate};
}

size_t WeightBytes(const ModelConfig& config, const SafetensorsCheckpoint& checkpoint,
                   const std::string& prefix) {
  size_t total = 0;
  for (const TensorSpec& spec : ListTensors(config, prefix)) {
    if (const SafetensorsInfo* info = checkpoint.Info(spec.name)) total += info->size_bytes;
  }
  return total;
}

Result<Weights> ReadWeights(const ModelConfig& config, const std::string& prefix,
                            WeightSource& source) {
  Weights out;
  GDN_ASSIGN_OR_RETURN(out.embedding, source.ReadLinear(prefix + "embed_tokens.weight"));
  out.dtype = out.embedding.dtype();
  if (!config.tie_word_embeddings) {
    GDN_ASSIGN_OR_RETURN(out.head, source.ReadLinear("lm_head.weight"));
  }
  GDN_ASSIGN_OR_RETURN(out.final_norm, source.ReadF32(prefix + "norm.weight"));
  for (size_t i = 0; i < config.layers.size(); ++i) {
    GDN_ASSIGN_OR_RETURN(Layer layer, ReadLayer(config, out.dtype, config.layers[i],
                                                StrCat(prefix, "layers.", i, "."), source));
    out.layers.push_back(std::move(layer));
  }
  return out;
}

}  // namespace gdn::qwen3_5
