// SPDX-License-Identifier: Apache-2.0
#include "model/qwen3_5/tensor_table.h"

#include <array>

#include "base/str.h"

namespace gdn::qwen3_5 {
namespace {

constexpr const char* kEmbeddingName = "embed_tokens.weight";

void AppendLinearAttention(const ModelConfig& c, const std::string& p,
                           std::vector<TensorSpec>& out) {
  const std::string attn = p + "linear_attn.";
  const int64_t value_size = c.linear_value_size();
  const int64_t value_heads = c.linear_num_value_heads;
  out.push_back(
      {attn + "in_proj_qkv.weight", {c.conv_channels(), c.hidden_size}, TensorRole::kLinear});
  out.push_back({attn + "in_proj_z.weight", {value_size, c.hidden_size}, TensorRole::kLinear});
  out.push_back({attn + "in_proj_b.weight", {value_heads, c.hidden_size}, TensorRole::kLinear});
  out.push_back({attn + "in_proj_a.weight", {value_heads, c.hidden_size}, TensorRole::kLinear});
  out.push_back({attn + "conv1d.weight", {c.conv_channels(), 1, c.conv_kernel}, TensorRole::kConv});
  out.push_back({attn + "A_log", {value_heads}, TensorRole::kALog});
  out.push_back({attn + "dt_bias", {value_heads}, TensorRole::kDtBias});
  out.push_back({attn + "norm.weight", {c.linear_value_head_dim}, TensorRole::kGatedNorm});
  out.push_back({attn + "out_proj.weight", {c.hidden_size, value_size}, TensorRole::kLinear});
}

void AppendFullAttention(const ModelConfig& c, const std::string& p, std::vector<TensorSpec>& out) {
  const std::string attn = p + "self_attn.";
  out.push_back({attn + "q_proj.weight", {c.q_proj_size(), c.hidden_size}, TensorRole::kLinear});
  out.push_back({attn + "k_proj.weight", {c.kv_size(), c.hidden_size}, TensorRole::kLinear});
  out.push_back({attn + "v_proj.weight", {c.kv_size(), c.hidden_size}, TensorRole::kLinear});
  out.push_back({attn + "q_norm.weight", {c.head_dim}, TensorRole::kGemmaNorm});
  out.push_back({attn + "k_norm.weight", {c.head_dim}, TensorRole::kGemmaNorm});
  out.push_back({attn + "o_proj.weight", {c.hidden_size, c.q_size()}, TensorRole::kLinear});
}

bool HasModelDType(TensorRole role) {
  return role == TensorRole::kEmbedding || role == TensorRole::kHead || role == TensorRole::kLinear;
}

Status CheckTensor(const TensorSpec& spec, DType model_dtype,
                   const SafetensorsCheckpoint& checkpoint) {
  const SafetensorsInfo* info = checkpoint.Info(spec.name);
  if (info == nullptr) {
    return NotFound(StrCat(checkpoint.dir(), ": has no tensor ", Quoted(spec.name), ", must be ",
                           spec.shape.ToString()));
  }
  const auto bad = [&](const std::string& must) {
    return InvalidArgument(StrCat(checkpoint.dir(), "/", info->file, ": tensor ", Quoted(spec.name),
                                  " is ", info->Describe(), ", must be ", must));
  };
  bool same_shape = static_cast<int>(info->shape.size()) == spec.shape.rank();
  for (int axis = 0; same_shape && axis < spec.shape.rank(); ++axis) {
    same_shape = info->shape[static_cast<size_t>(axis)] == spec.shape[axis];
  }
  if (!same_shape) return bad(spec.shape.ToString());
  GDN_ASSIGN_OR_RETURN(const ConstTensor tensor, checkpoint.Find(spec.name));
  if (HasModelDType(spec.role) && tensor.dtype != model_dtype) {
    return bad(StrCat(Name(model_dtype), " as ", kEmbeddingName, " is"));
  }
  return OkStatus();
}

}  // namespace

std::vector<TensorSpec> ListTensors(const ModelConfig& config, const std::string& prefix) {
  const ModelConfig& c = config;
  std::vector<TensorSpec> out;
  const Shape vocabulary = {c.vocab_size, c.hidden_size};
  out.push_back({prefix + kEmbeddingName, vocabulary, TensorRole::kEmbedding});
  for (size_t i = 0; i < c.layers.size(); ++i) {
    const std::string p = StrCat(prefix, "layers.", i, ".");
    out.push_back({p + "input_layernorm.weight", {c.hidden_size}, TensorRole::kGemmaNorm});
    if (c.layers[i] == LayerKind::kLinearAttention) {
      AppendLinearAttention(c, p, out);
    } else {
      AppendFullAttention(c, p, out);
    }
    out.push_back({p + "post_attention_layernorm.weight", {c.hidden_size}, TensorRole::kGemmaNorm});
    const Shape in_to_mid = {c.intermediate_size, c.hidden_size};
    out.push_back({p + "mlp.gate_proj.weight", in_to_mid, TensorRole::kLinear});
    out.push_back({p + "mlp.up_proj.weight", in_to_mid, TensorRole::kLinear});
    out.push_back(
        {p + "mlp.down_proj.weight", {c.hidden_size, c.intermediate_size}, TensorRole::kLinear});
  }
  out.push_back({prefix + "norm.weight", {c.hidden_size}, TensorRole::kGemmaNorm});
  if (!c.tie_word_embeddings) out.push_back({"lm_head.weight", vocabulary, TensorRole::kHead});
  return out;
}

Result<std::string> FindPrefix(const SafetensorsCheckpoint& checkpoint) {
  constexpr std::array<const char*, 2> kPrefixes = {"model.language_model.", "model."};
  for (const char* prefix : kPrefixes) {
    if (checkpoint.Contains(StrCat(prefix, kEmbeddingName))) return std::string(prefix);
  }
  return NotFound(StrCat(checkpoint.dir(), ": has no tensor ", kPrefixes[0], kEmbeddingName, " or ",
                         kPrefixes[1], kEmbeddingName));
}

Status CheckTensors(const ModelConfig& config, const SafetensorsCheckpoint& checkpoint) {
  GDN_ASSIGN_OR_RETURN(const std::string prefix, FindPrefix(checkpoint));
  GDN_ASSIGN_OR_RETURN(const ConstTensor embedding, checkpoint.Find(prefix + kEmbeddingName));
  for (const TensorSpec& spec : ListTensors(config, prefix)) {
    GDN_RETURN_IF_ERROR(CheckTensor(spec, embedding.dtype, checkpoint));
  }
  return OkStatus();
}

}  // namespace gdn::qwen3_5
