// SPDX-License-Identifier: Apache-2.0
#include "engine/memory_plan.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

#include "base/str.h"

namespace gdn {
namespace {

// Sizes of pools, and what they come to.
struct Shares {
  int64_t kv_tokens = 0;
  int64_t snapshots = 0;
};

EngineConfig With(EngineConfig config, const Shares& shares) {
  config.kv_tokens = shares.kv_tokens;
  config.num_snapshots = shares.snapshots;
  return config;
}

int64_t AutoSnapshots(const EngineConfig& wishes, int64_t kv_tokens) {
  return 2 * wishes.max_seqs + kv_tokens / wishes.snapshot_interval;
}

// What remains of the limit for snapshots and further contexts is shared: each gets half, and what
// the other leaves of its own.
Shares Share(const EngineConfig& wishes, const Shares& least, const Shares& wanted,
             const MemoryNeeds& needs, size_t rest_bytes) {
  const auto floor_blocks = BlocksFor(least.kv_tokens);
  const auto more_blocks = static_cast<size_t>(BlocksFor(wanted.kv_tokens) - floor_blocks);
  const auto more_snapshots = static_cast<size_t>(wanted.snapshots - least.snapshots);
  const size_t kv_bytes = more_blocks * needs.kv_block_bytes;
  const size_t snapshot_bytes =
      std::min(more_snapshots * needs.state_bytes,
               std::max(rest_bytes / 2, rest_bytes - std::min(rest_bytes, kv_bytes)));
  const auto count = [](size_t bytes, size_t each, size_t wanted_count) {
    return static_cast<int64_t>(each == 0 ? wanted_count : std::min(wanted_count, bytes / each));
  };
  Shares out = least;
  out.snapshots += count(snapshot_bytes, needs.state_bytes, more_snapshots);
  out.kv_tokens += kKvBlockSize * count(rest_bytes - std::min(rest_bytes, snapshot_bytes),
                                        needs.kv_block_bytes, more_blocks);
  if (wishes.num_snapshots == kAutoSnapshots) {
    out.snapshots = std::min(out.snapshots, AutoSnapshots(wishes, out.kv_tokens));
  }
  return out;
}

Status DoesNotFit(std::string_view name, const MemoryPlan& least, size_t limit_bytes) {
  const EngineConfig& config = least.config;
  const MemoryNeeds& needs = least.needs;
  const auto bytes = [](size_t each, int64_t count) {
    return HumanBytes(each * static_cast<size_t>(count));
  };
  // With the null row of each pool.
  return OutOfMemory(
      StrCat(name, " needs ", HumanBytes(least.total_bytes), " of memory (weights ",
             HumanBytes(needs.weight_bytes), ", scratch ", HumanBytes(needs.scratch_bytes), ", ",
             config.max_seqs, config.max_seqs == 1 ? " sequence and " : " sequences and ",
             config.num_snapshots, " snapshots ", bytes(needs.state_bytes, least.limits.num_slots),
             ", keys and values of ", config.kv_tokens, " tokens ",
             bytes(needs.kv_block_bytes, least.limits.num_blocks),
             config.swap_bytes == 0 ? "" : StrCat(", swap space ", HumanBytes(config.swap_bytes)),
             "), there are ", HumanBytes(limit_bytes)));
}

Result<MemoryPlan> PlanOf(const ModelConfig& model, const EngineConfig& config, NeedsOf needs) {
  MemoryPlan plan{.config = config};
  GDN_ASSIGN_OR_RETURN(plan.limits, Engine::Limits(model, config));
  GDN_ASSIGN_OR_RETURN(plan.needs, needs(plan.limits));
  plan.needs.scratch_bytes +=
      static_cast<size_t>(config.max_seqs) * Sampler::MaxBytes(model.vocab_size);
  plan.total_bytes = plan.needs.TotalBytes(plan.limits) + config.swap_bytes;
  return plan;
}

}  // namespace

Result<MemoryPlan> PlanMemory(std::string_view name, const ModelConfig& model,
                              const EngineConfig& wishes, size_t limit_bytes, NeedsOf needs) {
  const bool choose_snapshots = wishes.num_snapshots == kAutoSnapshots;
  const Shares given = {wishes.kv_tokens,
                        choose_snapshots ? kMinAutoSnapshots : wishes.num_snapshots};
  GDN_ASSIGN_OR_RETURN(const RunLimits limits, Engine::Limits(model, With(wishes, given)));
  const int64_t context_blocks = BlocksFor(limits.max_positions);
  const Shares wanted = {(limits.num_blocks - 1) * kKvBlockSize,
                         choose_snapshots
                             ? AutoSnapshots(wishes, (limits.num_blocks - 1) * kKvBlockSize)
                             : wishes.num_snapshots};
  const Shares least = {wishes.kv_tokens == 0 ? context_blocks * kKvBlockSize : wanted.kv_tokens,
                        given.snapshots};
  GDN_ASSIGN_OR_RETURN(const MemoryPlan smallest, PlanOf(model, With(wishes, least), needs));
  if (smallest.total_bytes > limit_bytes) return DoesNotFit(name, smallest, limit_bytes);
  const Shares shares =
      Share(wishes, least, wanted, smallest.needs, limit_bytes - smallest.total_bytes);
  return PlanOf(model, With(wishes, shares), needs);
}

Result<size_t> ParseMemoryLimit(std::string_view text, size_t available_bytes) {
  const auto wrong = [&](std::string_view want) {
    return InvalidArgument(StrCat("memory limit is ", Quoted(text), ", want ", want));
  };
  constexpr std::string_view kForms = "bytes (8GiB, 512MiB, 6GB, 1000000) or a share (80%, 0.8)";
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc() || !(number > 0)) return wrong(kForms);
  const std::string_view unit(stop, static_cast<size_t>(end - stop));
  const bool has_point = text.find('.') != std::string_view::npos;
  if (unit == "%" || (unit.empty() && has_point)) {
    const double share = unit.empty() ? number : number / 100;
    if (share > 1) return wrong("a share of at most 100% (80%, 0.8)");
    if (available_bytes == 0) return wrong("bytes: this system does not say what is available");
    return static_cast<size_t>(share * static_cast<double>(available_bytes));
  }
  constexpr std::array<std::pair<std::string_view, double>, 9> kUnits = {{{"", 1},
                                                                          {"KB", 1e3},
                                                                          {"MB", 1e6},
                                                                          {"GB", 1e9},
                                                                          {"TB", 1e12},
                                                                          {"KiB", 0x1p10},
                                                                          {"MiB", 0x1p20},
                                                                          {"GiB", 0x1p30},
                                                                          {"TiB", 0x1p40}}};
  const auto* const known = std::ranges::find(kUnits, unit, [](const auto& u) { return u.first; });
  if (known == kUnits.end()) return wrong(kForms);
  if (number * known->second >= 0x1p60) return wrong("less than 2^60 bytes");
  return static_cast<size_t>(number * known->second);
}

}  // namespace gdn
