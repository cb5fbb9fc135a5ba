// SPDX-License-Identifier: Apache-2.0
#include "server/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <mutex>

#include "server/process_info.h"

namespace gdn {
namespace {

using prometheus::Counter;
using prometheus::Gauge;
using prometheus::Histogram;
using Buckets = Histogram::BucketBoundaries;

// Seconds: from a token of a small model to a long answer of a large one.
const Buckets kTokenBuckets = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075,
                               0.1,   0.15,   0.25,  0.5,  1,     2.5};
const Buckets kFirstTokenBuckets = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
                                    1,     2.5,  5,     10,   30,  60};
const Buckets kRequestBuckets = {0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 120, 300, 600};

const char* ReasonOf(FinishReason finish) {
  if (finish == FinishReason::kStop || finish == FinishReason::kLength) return Name(finish);
  return finish == FinishReason::kError ? "error" : "abort";
}

// A counter follows a total that only grows.
void Advance(Counter& counter, int64_t total) {
  counter.Increment(std::max(static_cast<double>(total) - counter.Value(), 0.0));
}

}  // namespace

struct Metrics::Impl {
  explicit Impl(const std::string& model_name) : labels{{"model_name", model_name}} {}

  Gauge& AddGauge(const char* name, const char* help) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add(labels);
  }
  // Under the names that every program has.
  Gauge& AddProcessGauge(const char* name, const char* help) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add({});
  }
  Counter& AddCounter(const char* name, const char* help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry).Add(labels);
  }
  Histogram& AddHistogram(const char* name, const char* help, const Buckets& buckets) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry).Add(labels,
                                                                                     buckets);
  }
  Counter& AddEnd(FinishReason finish) {
    prometheus::Labels with_reason = labels;
    with_reason["finished_reason"] = ReasonOf(finish);
    return ends.Add(with_reason);
  }

  prometheus::Labels labels;
  prometheus::Registry registry;
  std::mutex scrape_mutex;

  Gauge& running = AddGauge("gdn:num_requests_running", "Completions that the engine runs");
  Gauge& waiting = AddGauge("gdn:num_requests_waiting", "Completions that wait for the engine");
  Gauge& cache_usage = AddGauge("gdn:kv_cache_usage_perc",
                                "Share of the KV cache that running completions hold, 0 to 1");
  Gauge& free_slots = AddGauge("gdn:free_slots", "State slots that no completion holds");
  Gauge& free_blocks = AddGauge("gdn:free_blocks", "KV blocks that no completion holds");
  Gauge& snapshots = AddGauge("gdn:prefix_snapshots", "States kept of earlier prompts");
  Gauge& swapped = AddGauge("gdn:swapped_bytes", "Bytes of preempted completions");
  Gauge& connections = AddGauge("gdn:open_connections", "Connections of clients");
  Counter& cache_queries =
      AddCounter("gdn:prefix_cache_queries_total", "Prompt tokens looked up in the prefix cache");
  Counter& cache_hits =
      AddCounter("gdn:prefix_cache_hits_total", "Prompt tokens found in the prefix cache");
  Counter& prompt_tokens =
      AddCounter("gdn:prompt_tokens_total", "Prompt tokens of completions that have begun");
  Counter& new_tokens = AddCounter("gdn:generation_tokens_total", "Tokens generated");
  Counter& preemptions =
      AddCounter("gdn:num_preemptions_total", "Times that a completion gave up its memory");
  Histogram& first_token = AddHistogram("gdn:time_to_first_token_seconds",
                                        "From submission to the first token", kFirstTokenBuckets);
  Histogram& next_token =
      AddHistogram("gdn:inter_token_latency_seconds", "Between two tokens", kTokenBuckets);
  Histogram& request_time = AddHistogram("gdn:e2e_request_latency_seconds",
                                         "From submission to the end", kRequestBuckets);
  prometheus::Family<Counter>& ends = prometheus::BuildCounter()
                                          .Name("gdn:request_success_total")
                                          .Help("Completions that have ended, by reason")
                                          .Register(registry);
  Counter& stop = AddEnd(FinishReason::kStop);
  Counter& length = AddEnd(FinishReason::kLength);
  Counter& abort = AddEnd(FinishReason::kCancelled);
  Counter& error = AddEnd(FinishReason::kError);
  Gauge& open_fds = AddProcessGauge("process_open_fds", "Open file descriptors");
  Gauge& resident = AddProcessGauge("process_resident_memory_bytes", "Resident memory in bytes");
};

Metrics::Metrics(const std::string& model_name) : impl_(std::make_unique<Impl>(model_name)) {}

Metrics::~Metrics() = default;

void Metrics::ObserveFirstToken(double since_submission) {
  impl_->first_token.Observe(since_submission);
}

void Metrics::ObserveNextToken(double since_last) { impl_->next_token.Observe(since_last); }

void Metrics::ObserveEnd(FinishReason finish, double since_submission) {
  switch (finish) {
    case FinishReason::kStop:
      impl_->stop.Increment();
      break;
    case FinishReason::kLength:
      impl_->length.Increment();
      break;
    case FinishReason::kError:
      impl_->error.Increment();
      break;
    default:
      impl_->abort.Increment();
  }
  impl_->request_time.Observe(since_submission);
}

double CacheUsage(const EngineStats& stats, const RunLimits& limits) {
  const int64_t capacity = limits.num_blocks - 1;  // row 0 is never given out
  if (capacity <= 0) return 0;
  return 1 - static_cast<double>(stats.num_free_blocks) / static_cast<double>(capacity);
}

std::string Metrics::Text(const EngineStats& stats, const RunLimits* limits,
                          int64_t open_connections) {
  const std::lock_guard lock(impl_->scrape_mutex);
  impl_->running.Set(static_cast<double>(stats.num_running));
  impl_->waiting.Set(static_cast<double>(stats.num_waiting));
  impl_->cache_usage.Set(limits == nullptr ? 0 : CacheUsage(stats, *limits));
  impl_->free_slots.Set(static_cast<double>(stats.num_free_slots));
  impl_->free_blocks.Set(static_cast<double>(stats.num_free_blocks));
  impl_->snapshots.Set(static_cast<double>(stats.num_snapshots));
  impl_->swapped.Set(static_cast<double>(stats.swapped_bytes));
  impl_->connections.Set(static_cast<double>(open_connections));
  Advance(impl_->cache_queries, stats.num_prompt_tokens);
  Advance(impl_->cache_hits, stats.num_cached_tokens);
  Advance(impl_->prompt_tokens, stats.num_prompt_tokens);
  Advance(impl_->new_tokens, stats.num_new_tokens);
  Advance(impl_->preemptions, stats.num_preemptions);
  impl_->open_fds.Set(static_cast<double>(OpenFileDescriptors()));
  impl_->resident.Set(static_cast<double>(ResidentMemoryBytes()));
  return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}

}  // namespace gdn
