// SPDX-License-Identifier: Apache-2.0
#include "bench_serve/workload.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/rng.h"
#include "base/str.h"
#include "io/json_file.h"

namespace gdn {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMaxTokens = int64_t{1} << 22;
constexpr std::array kWords = {"the", "a",   "of",  "to",   "in",   "and",  "is",    "was",
                               "for", "on",  "it",  "with", "as",   "at",   "by",    "from",
                               "sea", "sun", "day", "tree", "bird", "rain", "stone", "river"};

int64_t PickCount(const CountRange& range, Rng& rng) {
  const auto width = static_cast<uint64_t>(range.high - range.low + 1);
  return range.low + static_cast<int64_t>(rng.NextBelow(width));
}

Json RandomIds(int64_t count, int64_t vocab, Rng& rng) {
  Json ids = Json::array();
  for (int64_t i = 0; i < count; ++i) ids.push_back(rng.NextBelow(static_cast<uint64_t>(vocab)));
  return ids;
}

std::string RandomWords(int64_t count, Rng& rng) {
  std::string text;
  for (int64_t i = 0; i < count; ++i) {
    text += i == 0 ? "" : " ";
    text += kWords[rng.NextBelow(kWords.size())];
  }
  return text;
}

Json UserMessage(const std::string& text) { return {{{"role", "user"}, {"content", text}}}; }

Json CommonFields(const WorkloadOptions& options, const std::string& model) {
  return {{"model", model},
          {"stream", true},
          {"stream_options", {{"include_usage", true}}},
          {"temperature", options.temperature}};
}

std::string RandomRequest(const WorkloadOptions& options, const std::string& model,
                          uint64_t index) {
  Rng seeds(options.seed);
  seeds.Skip(index);
  Rng rng(seeds.NextU64());
  Json body = CommonFields(options, model);
  const int64_t prompt_tokens = PickCount(options.prompt_tokens, rng);
  body["max_tokens"] = PickCount(options.output_tokens, rng);
  body["ignore_eos"] = true;
  if (options.is_chat) {
    body["messages"] = UserMessage(RandomWords(prompt_tokens, rng));
  } else {
    body["prompt"] = RandomIds(prompt_tokens, options.vocab, rng);
  }
  return body.dump();
}

Result<Json> RequestOfLine(const std::string& line, const std::string& name,
                           const WorkloadOptions& options, const std::string& model) {
  GDN_ASSIGN_OR_RETURN(const Json given, ParseJson(line, name));
  if (!given.is_object() || given.contains("prompt") == given.contains("messages")) {
    return InvalidArgument(StrCat(name, ": want an object with prompt or messages"));
  }
  Json body = CommonFields(options, model);
  body["max_tokens"] = options.output_tokens.high;
  for (const auto& [key, value] : given.items()) body[key] = value;
  if (options.is_chat && body.contains("prompt")) {
    if (!body["prompt"].is_string()) {
      return InvalidArgument(StrCat(name, ": prompt is no text, want text for a chat"));
    }
    body["messages"] = UserMessage(body["prompt"].get<std::string>());
    body.erase("prompt");
  }
  if (!options.is_chat && body.contains("messages")) {
    return InvalidArgument(StrCat(name, ": messages are of a chat: they want --endpoint chat"));
  }
  return body;
}

Result<std::vector<std::string>> ReadRequests(const WorkloadOptions& options,
                                              const std::string& model) {
  std::ifstream file(options.prompts_file);
  if (!file) {
    return NotFound(StrCat(options.prompts_file, ": cannot be read: ", std::strerror(errno)));
  }
  std::vector<std::string> bodies;
  std::string line;
  for (int64_t number = 1; std::getline(file, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string name = StrCat(options.prompts_file, ":", number);
    GDN_ASSIGN_OR_RETURN(const Json body, RequestOfLine(line, name, options, model));
    bodies.push_back(body.dump());
  }
  if (bodies.empty()) {
    return InvalidArgument(StrCat(options.prompts_file, ": has no line, want one a prompt"));
  }
  return bodies;
}

}  // namespace

Result<CountRange> ParseCountRange(const char* option, const std::string& text) {
  const char* const end = text.data() + text.size();
  const auto number = [end](const char* from, int64_t& out) {
    const auto [stop, error] = std::from_chars(from, end, out);
    return error == std::errc() && out >= 1 && out <= kMaxTokens ? stop : nullptr;
  };
  CountRange range;
  const char* stop = number(text.data(), range.low);
  range.high = range.low;
  if (stop != nullptr && stop != end && *stop == ':') stop = number(stop + 1, range.high);
  if (stop != end || range.low > range.high) {
    return InvalidArgument(
        StrCat(option, " is ", Quoted(text), ", want N or LOW:HIGH, from 1 to ", kMaxTokens));
  }
  return range;
}

Result<std::vector<std::string>> MakeWorkload(const WorkloadOptions& options,
                                              const std::string& model) {
  const auto count = static_cast<size_t>(options.num_warmups + options.num_requests);
  std::vector<std::string> given;
  if (!options.prompts_file.empty()) {
    GDN_ASSIGN_OR_RETURN(given, ReadRequests(options, model));
  }
  std::vector<std::string> bodies;
  bodies.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    bodies.push_back(given.empty() ? RandomRequest(options, model, i) : given[i % given.size()]);
  }
  return bodies;
}

}  // namespace gdn
