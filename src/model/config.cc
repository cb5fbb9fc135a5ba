// SPDX-License-Identifier: Apache-2.0
#include "model/config.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/str.h"
#include "io/json_file.h"
#include "io/read_file.h"
#include "model/config_json.h"

namespace gdn {
namespace {

constexpr const char* kCausal = "Qwen3_5ForCausalLM";
constexpr const char* kWrapper = "Qwen3_5ForConditionalGeneration";
constexpr size_t kMaxConfigBytes = size_t{4} << 20;

Status NotRun(const JsonReader& in, const std::string& what) {
  return Unsupported(StrCat(in.where(), what));
}

void ReadArchitecture(JsonReader& top, ModelConfig& config) {
  const std::vector<std::string> names = top.Words("architectures");
  const std::string type = top.Word("model_type", "");
  // Text-only saves of some tools leave the list out.
  if (names.empty() && type == "qwen3_5_text") {
    config.architecture = kCausal;
  } else if (names.empty() && type == "qwen3_5") {
    config.architecture = kWrapper;
  } else if (names.empty()) {
    top.Fail("architectures", StrCat("a list with ", kCausal, " or ", kWrapper));
  } else {
    config.architecture = names.front();
  }
  if (config.architecture != kCausal && config.architecture != kWrapper) {
    top.Fail(NotRun(
        top, StrCat("architectures names ", Quoted(config.architecture),
                    ", which is not supported; supported are ", kCausal, " and ", kWrapper)));
  }
}

// Features that would change the mathematics: silence about one of them would be a wrong model.
void RejectUnsupported(JsonReader& in) {
  for (const char* key : {"attention_bias", "qkv_bias", "layer_scale"}) {
    if (in.Bool(key, false)) in.Fail(NotRun(in, StrCat(key, " is true, supported is false")));
  }
  const std::string act = in.Word("hidden_act", "silu");
  if (act != "silu" && act != "swish") {
    in.Fail(NotRun(in, StrCat("hidden_act is ", Quoted(act), ", supported are silu and swish")));
  }
  if (in.Int("num_experts", 0, 0, 65536) != 0) {
    in.Fail(NotRun(in, "num_experts is not 0, supported are dense models"));
  }
}

void RejectQuantized(JsonReader& in) {
  for (const char* key : {"quantization_config", "quantization"}) {
    if (in.Has(key)) {
      in.Fail(NotRun(in, StrCat(key, " is present, supported are weights in F32, F16 or BF16")));
    }
  }
}

void ReadSizes(JsonReader& in, ModelConfig& config) {
  config.vocab_size = in.Int("vocab_size", 248320, 1, 1 << 24);
  config.hidden_size = in.Int("hidden_size", 4096, 1, 65536);
  config.intermediate_size = in.Int("intermediate_size", 12288, 1, 1 << 20);
  config.num_layers = in.Int("num_hidden_layers", 32, 1, 1024);
  config.max_positions = in.Int("max_position_embeddings", 32768, 1, 1 << 24);
  config.num_heads = in.Int("num_attention_heads", 16, 1, 1024);
  config.num_kv_heads = in.Int("num_key_value_heads", 4, 1, 1024);
  config.head_dim = in.Int("head_dim", 256, 1, 512);
  config.conv_kernel = in.Int("linear_conv_kernel_dim", 4, 2, 4);
  config.linear_num_key_heads = in.Int("linear_num_key_heads", 16, 1, 1024);
  config.linear_num_value_heads = in.Int("linear_num_value_heads", 32, 1, 1024);
  config.linear_key_head_dim = in.Int("linear_key_head_dim", 128, 1, 256);
  config.linear_value_head_dim = in.Int("linear_value_head_dim", 128, 1, 256);
  config.num_mtp_layers = in.Int("mtp_num_hidden_layers", 0, 0, 1024);
  // A smaller one would be zero in f32, and a row of zeros would divide by it.
  config.rms_norm_eps = static_cast<float>(in.Number("rms_norm_eps", 1e-6, 1e-30, 0.5));
  config.attn_output_gate = in.Bool("attn_output_gate", true);
  const auto check_multiple = [&](const char* key, int64_t count, const char* of, int64_t unit) {
    if (count % unit == 0) return;
    in.Fail(InvalidArgument(
        StrCat(in.where(), key, " is ", count, ", must be a multiple of ", of, ", ", unit)));
  };
  check_multiple("num_attention_heads", config.num_heads, "num_key_value_heads",
                 config.num_kv_heads);
  check_multiple("linear_num_value_heads", config.linear_num_value_heads, "linear_num_key_heads",
                 config.linear_num_key_heads);
}

void ReadOutputGate(JsonReader& in, ModelConfig& config) {
  const std::string gate = in.Word("output_gate_type", "silu");
  if (gate == "sigmoid") {
    config.output_gate = GateActivation::kSigmoid;
  } else if (gate != "silu" && gate != "swish") {
    in.Fail(NotRun(in, StrCat("output_gate_type is ", Quoted(gate),
                              ", supported are silu, swish and sigmoid")));
  }
}

// rope_parameters holds everything in newer files; older ones have rope_theta and
// partial_rotary_factor beside the sizes, and the type in rope_scaling.
void ReadRope(JsonReader& in, ModelConfig& config) {
  JsonReader rope = in.Object("rope_parameters");
  JsonReader scaling = in.Object("rope_scaling");
  for (JsonReader* object : {&rope, &scaling}) {
    for (const char* key : {"rope_type", "type"}) {
      const std::string type = object->Word(key, "default");
      // "mrope" with equal positions, which is all that text has, is the default type.
      if (type != "default" && type != "mrope") {
        object->Fail(NotRun(*object, StrCat(key, " is ", Quoted(type), ", supported is default")));
      }
    }
  }
  JsonReader& theta = rope.Has("rope_theta") ? rope : in;
  config.rope_theta = theta.Number("rope_theta", 10000, 1, 1e15);
  JsonReader& partial = rope.Has("partial_rotary_factor") ? rope : in;
  const double factor = partial.Number("partial_rotary_factor", 0.25, 0, 1);
  config.rotary_dim = static_cast<int64_t>(static_cast<double>(config.head_dim) * factor);
  if (config.rotary_dim < 2 || config.rotary_dim % 2 != 0) {
    partial.Fail("partial_rotary_factor",
                 StrCat("such that it makes an even number of head_dim, ", config.head_dim,
                        "; it makes ", config.rotary_dim));
  }
  in.Fail(rope.status());
  in.Fail(scaling.status());
}

void ReadLayers(JsonReader& in, ModelConfig& config) {
  const std::vector<std::string> kinds = in.Words("layer_types");
  const int64_t interval = in.Int("full_attention_interval", 4, 1, 1 << 20);
  if (!kinds.empty() && static_cast<int64_t>(kinds.size()) != config.num_layers) {
    in.Fail("layer_types",
            StrCat("one kind for each of the ", config.num_layers, " layers of num_hidden_layers"));
    return;
  }
  for (int64_t i = 0; i < config.num_layers; ++i) {
    bool full = (i + 1) % interval == 0;
    if (!kinds.empty()) {
      const std::string& kind = kinds[static_cast<size_t>(i)];
      full = kind == "full_attention";
      if (!full && kind != "linear_attention") {
        in.Fail(NotRun(in, StrCat("layer_types of layer ", i, " is ", Quoted(kind),
                                  ", supported are linear_attention and full_attention")));
      }
    }
    config.layers.push_back(full ? LayerKind::kFullAttention : LayerKind::kLinearAttention);
  }
}

Result<nlohmann::json> ParseObject(std::string_view json, const std::string& file_name) {
  JsonLimits limits;
  limits.max_bytes = kMaxConfigBytes;
  GDN_ASSIGN_OR_RETURN(nlohmann::json root, ParseJson(json, file_name, limits));
  if (!root.is_object()) {
    return InvalidArgument(
        StrCat(file_name, ": is JSON ", root.type_name(), ", must be an object"));
  }
  return root;
}

Status AddGenerationIds(const std::string& path, ModelConfig& config) {
  GDN_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxConfigBytes));
  GDN_ASSIGN_OR_RETURN(const nlohmann::json root, ParseObject(text, path));
  JsonReader in(root, path + ": ");
  std::vector<int32_t> ids = in.TokenIds("eos_token_id", config.vocab_size);
  for (const int32_t id : config.eos_token_ids) {
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
  config.eos_token_ids = std::move(ids);
  return in.status();
}

}  // namespace

int64_t ModelConfig::CountLayers(LayerKind kind) const {
  return std::count(layers.begin(), layers.end(), kind);
}

Result<ModelConfig> ParseModelConfig(std::string_view json, const std::string& file_name) {
  GDN_ASSIGN_OR_RETURN(const nlohmann::json root, ParseObject(json, file_name));
  ModelConfig config;
  JsonReader top(root, file_name + ": ");
  ReadArchitecture(top, config);
  RejectQuantized(top);
  const bool nested = top.Has("text_config");
  JsonReader text = nested ? top.Object("text_config") : top;
  GDN_RETURN_IF_ERROR(top.status());

  RejectQuantized(text);
  RejectUnsupported(text);
  ReadSizes(text, config);
  ReadOutputGate(text, config);
  ReadRope(text, config);
  ReadLayers(text, config);
  // A wrapper may state these for the text model, beside it; the text model's own word counts.
  JsonReader& tie = text.Has("tie_word_embeddings") ? text : top;
  config.tie_word_embeddings = tie.Bool("tie_word_embeddings", false);
  JsonReader& eos = text.Has("eos_token_id") ? text : top;
  config.eos_token_ids = eos.TokenIds("eos_token_id", config.vocab_size);
  JsonReader& bos = text.Has("bos_token_id") ? text : top;
  const std::vector<int32_t> bos_ids = bos.TokenIds("bos_token_id", config.vocab_size);
  if (!bos_ids.empty()) config.bos_token_id = bos_ids.front();
  GDN_RETURN_IF_ERROR(text.status());
  GDN_RETURN_IF_ERROR(top.status());
  return config;
}

Result<ModelConfig> LoadModelConfig(const std::string& dir) {
  if (dir.empty()) return InvalidArgument("the checkpoint folder has no name");
  const std::string path = dir + "/config.json";
  GDN_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxConfigBytes));
  GDN_ASSIGN_OR_RETURN(ModelConfig config, ParseModelConfig(text, path));
  const std::string generation_path = dir + "/generation_config.json";
  std::error_code ignored;
  if (std::filesystem::exists(generation_path, ignored)) {
    GDN_RETURN_IF_ERROR(AddGenerationIds(generation_path, config));
  }
  return config;
}

}  // namespace gdn
