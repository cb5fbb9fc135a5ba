// SPDX-License-Identifier: Apache-2.0
// gdn-soak: requests that join, leave and are cancelled at random, in too little memory, for a
// while. Each finished answer must be, bit for bit, that of the same request alone; afterwards no
// slot, block, snapshot or byte may be missing.
#include <CLI/CLI.hpp>
#include <bit>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/rng.h"
#include "base/str.h"
#include "base/system_info.h"
#include "engine/engine.h"

namespace gdn {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string model_dir;
  double seconds = 300;
  int num_threads = 1;
  int64_t requests = 64;  // in flight, running and waiting
  int64_t kinds = 96;     // different requests
  uint64_t seed = 1;
};

constexpr int64_t kTop = 4;
constexpr int64_t kContext = 768;

struct Kind {
  std::vector<int32_t> prompt;
  int64_t new_tokens = 0;
  SamplingParams sampling;
  int32_t priority = 0;
  std::vector<uint32_t> answer;  // tokens and the bits of their largest logits, when alone
};

void Append(const TokenEvent& event, std::vector<uint32_t>& out) {
  out.push_back(static_cast<uint32_t>(event.token));
  for (const TokenLogit& entry : event.top_logits) {
    out.push_back(std::bit_cast<uint32_t>(entry.logit));
  }
}

Request RequestOf(const Kind& kind) {
  return {.prompt = kind.prompt,
          .max_new_tokens = kind.new_tokens,
          .sampling = kind.sampling,
          .num_top_logits = kTop,
          .priority = kind.priority};
}

// Prompts of a few common beginnings, and lengths around the borders of chunks.
Kind RandomKind(Rng& rng, int64_t vocab) {
  const auto append = [&](uint64_t seed, size_t count, std::vector<int32_t>& out) {
    Rng tokens(seed);
    for (size_t i = 0; i < count; ++i) {
      out.push_back(static_cast<int32_t>(tokens.NextBelow(static_cast<uint64_t>(vocab))));
    }
  };
  Kind kind;
  append(rng.NextBelow(3), 64 * rng.NextBelow(6), kind.prompt);
  const size_t rest = rng.NextBelow(4) == 0 ? 1 + rng.NextBelow(3) : 1 + rng.NextBelow(200);
  append(100 + rng.NextBelow(1000), rest, kind.prompt);
  kind.new_tokens = static_cast<int64_t>(1 + rng.NextBelow(120));
  if (rng.NextBelow(2) == 0) {
    kind.sampling = {.temperature = 1.2F, .top_p = 0.95F, .seed = rng.NextBelow(1000)};
    if (rng.NextBelow(2) == 0) kind.sampling.frequency_penalty = 0.5F;
  }
  kind.priority = static_cast<int32_t>(rng.NextBelow(3));
  return kind;
}

Result<std::unique_ptr<Engine>> NewEngine(const Options& options, const EngineConfig& config,
                                          ThreadPool& pool) {
  GDN_ASSIGN_OR_RETURN(std::unique_ptr<Model> model,
                       LoadModel(options.model_dir, {}, pool, [](size_t, size_t) {}));
  return Engine::Create(std::move(model), config);
}

// The answers of requests that are alone, in an engine without a cache.
Result<std::vector<Kind>> MakeKinds(const Options& options, ThreadPool& pool, Rng& rng) {
  GDN_ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                       NewEngine(options, {.context_tokens = kContext}, pool));
  std::vector<Kind> kinds;
  for (int64_t i = 0; i < options.kinds; ++i) {
    Kind kind = RandomKind(rng, engine->model().config().vocab_size);
    GDN_RETURN_IF_ERROR(engine->Submit(RequestOf(kind)).status());
    while (engine->HasWork()) {
      GDN_RETURN_IF_ERROR(
          engine->Step([&](const TokenEvent& event) { Append(event, kind.answer); }));
    }
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

class Soak {
 public:
  Soak(const Options& options, std::vector<Kind> kinds, Engine& engine, Rng& rng)
      : options_(options), kinds_(std::move(kinds)), engine_(engine), rng_(rng) {}

  Status Run() {
    const auto end = Clock::now() + std::chrono::duration<double>(options_.seconds);
    while (Clock::now() < end) {
      while (static_cast<int64_t>(in_flight_.size()) < options_.requests &&
             rng_.NextBelow(3) != 0) {
        const size_t kind = rng_.NextBelow(kinds_.size());
        GDN_ASSIGN_OR_RETURN(const RequestId id, engine_.Submit(RequestOf(kinds_[kind])));
        in_flight_[id].kind = kind;
      }
      if (rng_.NextBelow(12) == 0) CancelOne();
      GDN_RETURN_IF_ERROR(Step());
    }
    while (engine_.HasWork()) GDN_RETURN_IF_ERROR(Step());
    return OkStatus();
  }

  // Prints what happened; false where anything was wrong.
  bool Report() {
    std::printf(
        "finished %lld, cancelled %lld, from the prefix cache %lld, preemptions %lld, "
        "of them copied %lld\n",
        finished_, cancelled_, cached_, static_cast<long long>(engine_.num_preemptions()),
        static_cast<long long>(engine_.num_swaps()));
    engine_.ClearPrefixCache();
    const RunLimits& limits = engine_.limits();
    bool good = wrong_ == 0 && finished_ > 0 && in_flight_.empty();
    const auto expect = [&](const char* what, int64_t got, int64_t want) {
      if (got == want) return;
      std::printf("%s: %lld, want %lld\n", what, static_cast<long long>(got),
                  static_cast<long long>(want));
      good = false;
    };
    expect("answers that differ from those of requests alone", wrong_, 0);
    expect("free slots", engine_.num_free_slots(), limits.max_seqs);
    expect("free blocks", engine_.num_free_blocks(), limits.num_blocks - 1);
    expect("nodes of the prefix cache", engine_.prefix_cache().num_nodes(), 0);
    expect("snapshots in use", engine_.prefix_cache().num_used_snapshots(), 0);
    expect("bytes of preempted requests", static_cast<int64_t>(engine_.swapped_bytes()), 0);
    std::printf("%s\n", good ? "passed" : "FAILED");
    return good;
  }

 private:
  struct Flight {
    size_t kind = 0;
    std::vector<uint32_t> answer;
  };

  void CancelOne() {
    if (in_flight_.empty()) return;
    auto it = in_flight_.begin();
    std::advance(it, static_cast<std::ptrdiff_t>(rng_.NextBelow(in_flight_.size())));
    engine_.Cancel(it->first);
  }

  Status Step() {
    return engine_.Step([&](const TokenEvent& event) {
      const auto it = in_flight_.find(event.request);
      if (event.token >= 0) Append(event, it->second.answer);
      if (event.finish == FinishReason::kNone) return;
      if (event.finish == FinishReason::kCancelled) {
        ++cancelled_;
      } else {
        ++finished_;
        cached_ += event.num_cached_tokens > 0 ? 1 : 0;
        wrong_ += it->second.answer == kinds_[it->second.kind].answer ? 0 : 1;
      }
      in_flight_.erase(it);
    });
  }

  const Options& options_;
  std::vector<Kind> kinds_;
  Engine& engine_;
  Rng& rng_;
  std::map<RequestId, Flight> in_flight_;
  long long finished_ = 0, cancelled_ = 0, cached_ = 0, wrong_ = 0;
};

Result<bool> RunSoak(const Options& options) {
  ThreadPool pool(options.num_threads);
  Rng rng(options.seed);
  GDN_ASSIGN_OR_RETURN(std::vector<Kind> kinds, MakeKinds(options, pool, rng));
  // A third of the memory that so many running requests may want.
  const EngineConfig config = {.context_tokens = kContext,
                               .max_seqs = 12,
                               .prefill_tokens = 256,
                               .num_snapshots = 8,
                               .kv_tokens = 12 * kContext / 4,
                               .swap_bytes = 4'000'000};
  GDN_ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine, NewEngine(options, config, pool));
  Soak soak(options, std::move(kinds), *engine, rng);
  GDN_RETURN_IF_ERROR(soak.Run());
  return soak.Report();
}

int Main(int argc, char** argv) {
  CLI::App app("Runs random requests through the engine and compares each with itself alone.");
  Options options;
  options.num_threads = NumCores();
  app.add_option("-m,--model", options.model_dir, "Checkpoint folder")->required();
  app.add_option("--seconds", options.seconds, "How long requests are sent")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--requests", options.requests, "Requests at once, running and waiting")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  app.add_option("--kinds", options.kinds, "Different requests")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  app.add_option("-t,--threads", options.num_threads, "Threads (default: all cores)")
      ->check(CLI::Range(1, 1024));
  app.add_option("--seed", options.seed, "Of everything random")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const Result<bool> good = RunSoak(options);
  if (!good.ok()) {
    Log(LogLevel::kError, good.status().message());
    return 2;
  }
  return *good ? 0 : 1;
}

}  // namespace
}  // namespace gdn

int main(int argc, char** argv) { return gdn::Main(argc, argv); }
