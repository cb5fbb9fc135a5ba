// SPDX-License-Identifier: Apache-2.0
#include "cli/run_output.h"

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

nlohmann::ordered_json ToJson(const Session& session, const Completion& c, const char* device) {
  // The first generated token comes out of the prompt's own steps.
  const size_t gen_tokens = c.tokens.empty() ? 0 : c.tokens.size() - 1;
  nlohmann::ordered_json out = {{"prompt_tokens", c.prompt_tokens},
                                {"tokens", c.tokens},
                                {"text", c.text},
                                {"finish_reason", Name(c.finish)},
                                {"timings",
                                 {{"load_ms", session.load_ms()},
                                  {"prompt_ms", c.prompt_ms},
                                  {"prompt_tps", PerSecond(c.prompt_tokens.size(), c.prompt_ms)},
                                  {"gen_ms", c.gen_ms},
                                  {"gen_tps", PerSecond(gen_tokens, c.gen_ms)},
                                  {"peak_bytes", PeakMemoryBytes()}}},
                                {"device", device},
                                {"kernels", KernelsByOp(session.engine().model().kernels())}};
  if (!c.top_logits.empty()) out["top_logits"] = TopLogitsJson(c);
  if (!c.log_probs.empty()) out["log_probs"] = c.log_probs;
  return out;
}

void PrintRow(const char* name, size_t tokens, double milliseconds) {
  std::fprintf(stderr, "%-12s %8zu %10.3f %12.2f %10.3f\n", name, tokens, milliseconds / 1000,
               PerSecond(tokens, milliseconds),
               tokens == 0 ? 0 : milliseconds / static_cast<double>(tokens));
}

}  // namespace

void PrintJson(const Session& session, const Completion& c, const char* device) {
  std::printf("%s\n", ToJson(session, c, device).dump().c_str());
}

void PrintTable(const Session& session, const Completion& c) {
  std::fprintf(stderr, "\n%-12s %8s %10s %12s %10s\n", "", "tokens", "seconds", "tokens/s",
               "ms/token");
  PrintRow("prompt", c.prompt_tokens.size(), c.prompt_ms);
  PrintRow("generation", c.tokens.empty() ? 0 : c.tokens.size() - 1, c.gen_ms);
  std::fprintf(stderr, "load %.0f ms, peak memory %s\n", session.load_ms(),
               HumanBytes(PeakMemoryBytes()).c_str());
}

void PrintKernels(const Session& session) {
  for (const auto& [op, kernel] : KernelsByOp(session.engine().model().kernels())) {
    std::fprintf(stderr, "%-26s %s\n", op.c_str(), kernel.c_str());
  }
}

}  // namespace gdn
