// SPDX-License-Identifier: Apache-2.0
#include "cli/run_output.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/str.h"
#include "base/system_info.h"

namespace gdn {
namespace {

double PerSecond(size_t count, double milliseconds) {
  return milliseconds > 0 ? static_cast<double>(count) * 1000 / milliseconds : 0;
}

// One id an op: forms of one op have entries of their own.
std::map<std::string, std::string> KernelsByOp(const KernelLog& log) {
  std::map<std::string, std::string> out;
  for (const KernelLog::Entry& entry : log.entries()) {
    std::string& kernels = out[entry.op];
    kernels += (kernels.empty() ? "" : ",") + std::string(entry.kernel);
  }
  return out;
}

// [[[id, logit], ...], ...]; a logit that is no number is null.
nlohmann::ordered_json TopLogitsJson(const Completion& c) {
  auto rows = nlohmann::ordered_json::array();
  for (const std::vector<TokenLogit>& top : c.top_logits) {
    auto row = nlohmann::ordered_json::array();
    for (const TokenLogit& entry : top) row.push_back({entry.token, entry.logit});
    rows.push_back(std::move(row));
  }
  return rows;
}

nlohmann::ordered_json CompletionJson(const Completion& c) {
  nlohmann::ordered_json out = {{"tokens", c.tokens}, {"text", c.text}};
  if (!c.reasoning.empty()) out["reasoning"] = c.reasoning;
  out["finish_reason"] = Name(c.finish);
  if (!c.top_logits.empty()) out["top_logits"] = TopLogitsJson(c);
  if (!c.log_probs.empty()) out["log_probs"] = c.log_probs;
  return out;
}

// Of completions that run at once: their tokens until the last of them had ended.
struct Times {
  size_t num_new_tokens = 0;  // without each first one, which comes out of the prompt's own steps
  double prompt_ms = 0;
  double gen_ms = 0;
};

Times TimesOf(const std::vector<Completion>& completions) {
  Times out;
  double end_ms = 0;
  for (const Completion& c : completions) {
    if (c.tokens.empty()) continue;
    out.num_new_tokens += c.tokens.size() - 1;
    out.prompt_ms = out.prompt_ms == 0 ? c.prompt_ms : std::min(out.prompt_ms, c.prompt_ms);
    end_ms = std::max(end_ms, c.prompt_ms + c.gen_ms);
  }
  out.gen_ms = out.num_new_tokens > 0 ? end_ms - out.prompt_ms : 0;
  return out;
}

nlohmann::ordered_json ToJson(const Session& session, const std::vector<int32_t>& prompt_tokens,
                              const std::vector<Completion>& completions, const char* device) {
  nlohmann::ordered_json out = {{"prompt_tokens", prompt_tokens}};
  if (completions.size() == 1) {
    out.update(CompletionJson(completions.front()));
  } else {
    out["completions"] = nlohmann::ordered_json::array();
    for (const Completion& c : completions) out["completions"].push_back(CompletionJson(c));
  }
  const Times times = TimesOf(completions);
  out["cached_tokens"] = completions.front().num_cached_tokens;
  out["timings"] = {{"load_ms", session.load_ms()},
                    {"prompt_ms", times.prompt_ms},
                    {"prompt_tps", PerSecond(prompt_tokens.size(), times.prompt_ms)},
                    {"gen_ms", times.gen_ms},
                    {"gen_tps", PerSecond(times.num_new_tokens, times.gen_ms)},
                    {"peak_bytes", PeakMemoryBytes()}};
  out["device"] = device;
  out["kernels"] = KernelsByOp(session.model().kernels());
  return out;
}

void PrintRow(const char* name, size_t tokens, double milliseconds) {
  std::fprintf(stderr, "%-12s %8zu %10.3f %12.2f %10.3f\n", name, tokens, milliseconds / 1000,
               PerSecond(tokens, milliseconds),
               tokens == 0 ? 0 : milliseconds / static_cast<double>(tokens));
}

}  // namespace

void PrintJson(const Session& session, const std::vector<int32_t>& prompt_tokens,
               const std::vector<Completion>& completions, const char* device) {
  std::printf("%s\n", ToJson(session, prompt_tokens, completions, device).dump().c_str());
  std::fflush(stdout);
}

void PrintTexts(const std::vector<Completion>& completions) {
  if (completions.size() == 1) std::printf("\n");
  for (size_t i = 0; i < completions.size() && completions.size() > 1; ++i) {
    std::printf("[%zu]\n%s\n", i + 1, completions[i].text.c_str());
  }
  std::fflush(stdout);
}

void PrintTable(const Session& session, size_t num_prompt_tokens,
                const std::vector<Completion>& completions) {
  const Times times = TimesOf(completions);
  std::fprintf(stderr, "\n%-12s %8s %10s %12s %10s\n", "", "tokens", "seconds", "tokens/s",
               "ms/token");
  PrintRow("prompt", num_prompt_tokens, times.prompt_ms);
  PrintRow("generation", times.num_new_tokens, times.gen_ms);
  std::fprintf(stderr, "load %.0f ms, peak memory %s\n", session.load_ms(),
               HumanBytes(PeakMemoryBytes()).c_str());
}

void PrintKernels(const Session& session) {
  for (const auto& [op, kernel] : KernelsByOp(session.model().kernels())) {
    std::fprintf(stderr, "%-26s %s\n", op.c_str(), kernel.c_str());
  }
}

}  // namespace gdn
