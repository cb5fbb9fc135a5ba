// SPDX-License-Identifier: Apache-2.0
#include "server/generation_request.h"

#include <charconv>
#include <limits>
#include <utility>

#include "base/str.h"
#include "server/field_reader.h"
#include "server/request_body.h"
#include "server/unsupported_fields.h"
#include "session/stop_matcher.h"

namespace gdn {
namespace {

using Json = nlohmann::ordered_json;

// What is longer is as good as no limit.
constexpr int64_t kMaxTokens = std::numeric_limits<int32_t>::max();
// Each is added for each token, by the thread that serves everybody.
constexpr size_t kMaxBiases = 4096;

void ReadLogitBias(FieldReader& fields, std::vector<TokenBias>& out) {
  const Json* biases = fields.Find("logit_bias");
  if (biases == nullptr) return;
  if (!biases->is_object()) return fields.Wrong("logit_bias", *biases, "an object {id: bias}");
  if (biases->size() > kMaxBiases) {
    return fields.Fail("logit_bias", StrCat("logit_bias has ", biases->size(),
                                            " tokens, want at most ", kMaxBiases));
  }
  for (const auto& [key, value] : biases->items()) {
    int32_t token = -1;
    const char* end = key.data() + key.size();
    const auto [stop, error] = std::from_chars(key.data(), end, token);
    const bool is_id = error == std::errc() && stop == end && token >= 0;
    if (!is_id || key != std::to_string(token)) {  // "05" would be another 5
      return fields.Fail("logit_bias",
                         StrCat("logit_bias names ", Quoted(key), ", want ids of tokens"));
    }
    if (!value.is_number()) return fields.Wrong("logit_bias", value, "numbers for its biases");
    out.push_back({.token = token, .bias = static_cast<float>(value.get<double>())});
  }
}

void ReadSampling(FieldReader& fields, GenerationRequest& out) {
  SamplingParams& sampling = out.params.sampling;
  fields.Number("temperature", sampling.temperature);
  fields.Number("top_p", sampling.top_p);
  fields.Number("min_p", sampling.min_p);
  int64_t top_k = sampling.top_k;
  fields.Integer("top_k", -1, kMaxTokens, top_k);
  sampling.top_k = static_cast<int32_t>(top_k == -1 ? 0 : top_k);  // both are off
  fields.Number("repetition_penalty", sampling.repetition_penalty);
  fields.Number("frequency_penalty", sampling.frequency_penalty);
  fields.Number("presence_penalty", sampling.presence_penalty);
  ReadLogitBias(fields, sampling.logit_bias);
  std::optional<int64_t> seed;
  fields.Integer("seed", std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(),
                 seed);
  if (seed.has_value()) out.seed = static_cast<uint64_t>(*seed);
  if (!fields.ok()) return;
  if (const Status status = ValidateSamplingParams(sampling); !status.ok()) {
    constexpr std::string_view kOf = "sampling: ";  // whom the engine means
    std::string_view message = status.message();
    if (message.starts_with(kOf)) message.remove_prefix(kOf.size());
    const std::string name(message.substr(0, message.find(' ')));
    fields.Fail(name.c_str(), std::string(message));
  }
}

void ReadStream(FieldReader& fields, GenerationRequest& out) {
  fields.Boolean("stream", out.stream);
  Json* options = fields.Find("stream_options");
  if (options == nullptr) return;
  if (!options->is_object()) return fields.Wrong("stream_options", *options, "an object");
  if (!out.stream) {
    return fields.Fail("stream_options", "stream_options is of a stream: it wants stream true");
  }
  FieldReader members(*options, "stream_options.");
  members.Boolean("include_usage", out.include_usage);
  bool is_continuous = false;
  members.Boolean("continuous_usage_stats", is_continuous);
  if (is_continuous) {
    members.Fail("continuous_usage_stats",
                 "stream_options.continuous_usage_stats is true, which this server does not "
                 "support: leave it out");
  }
  if (!members.ok()) fields.Fail("stream_options", members.error()->message);
}

void ReadStopTokens(FieldReader& fields, std::vector<int32_t>& out) {
  const Json* ids = fields.Find("stop_token_ids");
  if (ids == nullptr) return;
  if (!ids->is_array()) return fields.Wrong("stop_token_ids", *ids, "a list of ids");
  ReadTokens(fields, "stop_token_ids", *ids, out);
}

// What both kinds of requests have.
void ReadCommon(FieldReader& fields, const RequestRules& rules, GenerationRequest& out) {
  out.params.sampling = rules.sampling.Params();
  RefuseUnsupported(fields);
  fields.String("model", out.model);
  ReadStream(fields, out);
  ReadSampling(fields, out);
  fields.Integer("n", 1, rules.max_completions, out.params.num_completions);
  fields.Strings("stop", out.params.stop);
  ReadStopTokens(fields, out.params.stop_token_ids);
  fields.Integer("max_tokens", 1, kMaxTokens, out.max_tokens);
  fields.Integer("min_tokens", 0, kMaxTokens, out.params.min_new_tokens);
  bool ignores_eos = false;
  fields.Boolean("ignore_eos", ignores_eos);
  out.params.stop_at_eos = !ignores_eos;
  if (!fields.ok()) return;
  if (const Status status = ValidateStopStrings(out.params.stop); !status.ok()) {
    fields.Fail("stop", status.message());
  }
}

void CheckTokens(FieldReader& fields, const GenerationRequest& request) {
  if (request.max_tokens.has_value() && request.params.min_new_tokens > *request.max_tokens) {
    fields.Fail("min_tokens", StrCat("min_tokens is ", request.params.min_new_tokens,
                                     ", want at most max_tokens, ", *request.max_tokens));
  }
}

void ReadChatLogProbs(FieldReader& fields, GenerationParams& out) {
  fields.Boolean("logprobs", out.log_probs);
  fields.Integer("top_logprobs", 0, kMaxAlternatives, out.num_top_logits);
  if (out.num_top_logits > 0 && !out.log_probs) {
    fields.Fail("top_logprobs", "top_logprobs is of log probabilities: it wants logprobs true");
  }
}

}  // namespace

std::optional<ApiError> ParseChatCompletion(std::string_view body, const RequestRules& rules,
                                            GenerationRequest& out) {
  Json tree;
  if (auto error = ParseBody(body, rules, tree)) return error;
  FieldReader fields(tree);
  out.is_chat = true;
  ReadCommon(fields, rules, out);
  fields.Integer("max_completion_tokens", 1, kMaxTokens, out.max_tokens);
  CheckTokens(fields, out);
  ReadChatLogProbs(fields, out.params);
  fields.Boolean("parallel_tool_calls", out.parallel_tool_calls);
  ReadConversation(fields, out.chat);
  return fields.error();
}

std::optional<ApiError> ParseCompletion(std::string_view body, const RequestRules& rules,
                                        GenerationRequest& out) {
  Json tree;
  if (auto error = ParseBody(body, rules, tree)) return error;
  FieldReader fields(tree);
  ReadCommon(fields, rules, out);
  CheckTokens(fields, out);
  fields.Boolean("add_special_tokens", out.add_special_tokens);
  std::optional<int64_t> log_probs;
  // true and false are what chat completions take.
  fields.Integer("logprobs", 0, kMaxAlternatives, log_probs);
  out.params.log_probs = log_probs.has_value();
  out.params.num_top_logits = log_probs.value_or(0);
  ReadPrompts(fields, out.prompts);
  const auto prompts = static_cast<int64_t>(out.prompts.size());
  if (fields.ok() && prompts > rules.max_completions / out.params.num_completions) {
    fields.Fail("prompt", StrCat("prompt has ", prompts, " texts for ", out.params.num_completions,
                                 " completions each, want at most ", rules.max_completions,
                                 " completions in one request"));
  }
  return fields.error();
}

std::optional<ApiError> ParseTokenize(std::string_view body, const RequestRules& rules,
                                      TokenizeRequest& out) {
  Json tree;
  if (auto error = ParseBody(body, rules, tree)) return error;
  FieldReader fields(tree);
  GenerationRequest& input = out.input;
  fields.String("model", input.model);
  fields.Boolean("add_special_tokens", input.add_special_tokens);
  fields.Boolean("return_token_strs", out.return_token_strings);
  input.is_chat = tree.contains("messages");
  if (input.is_chat) {
    if (fields.Find("prompt") != nullptr) {
      fields.Fail("prompt", "prompt stands beside messages, want one of them");
    }
    ReadConversation(fields, input.chat);
    return fields.error();
  }
  std::string text;
  if (fields.Find("prompt") == nullptr) fields.Fail("prompt", "prompt and messages are missing");
  fields.String("prompt", text);
  input.prompts.emplace_back(std::move(text));
  return fields.error();
}

std::optional<ApiError> ParseDetokenize(std::string_view body, const RequestRules& rules,
                                        DetokenizeRequest& out) {
  Json tree;
  if (auto error = ParseBody(body, rules, tree)) return error;
  FieldReader fields(tree);
  fields.String("model", out.model);
  const Json* tokens = fields.Find("tokens");
  if (tokens == nullptr) {
    fields.Fail("tokens", "tokens is missing, want a list of ids");
  } else if (!tokens->is_array()) {
    fields.Wrong("tokens", *tokens, "a list of ids");
  } else {
    ReadTokens(fields, "tokens", *tokens, out.tokens);
  }
  return fields.error();
}

}  // namespace gdn
