// SPDX-License-Identifier: Apache-2.0
// Sends the requests of a workload to a server, so many at once or as they arrive.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "bench_serve/answer.h"
#include "bench_serve/http_loop.h"

namespace gdn {

struct LoadOptions {
  HttpUrl url;
  std::string api_key;
  bool is_chat = false;
  std::chrono::seconds timeout{600};
  int64_t concurrency = 16;  // 0: the requests arrive at request_rate, however many run
  double request_rate = 0;   // a second; a Poisson process of seed
  uint64_t seed = 0;
};

struct BenchProgress {
  int64_t done = 0;
  int64_t total = 0;
  int64_t running = 0;
  int64_t failed = 0;
};

struct LoadHooks {
  std::function<void(const BenchProgress&)> on_progress;  // ten times a second
  std::function<bool()> stop;                             // asked as often; true ends the run
};

struct LoadResult {
  std::vector<Answer> answers;  // in the order of the requests
  double seconds = 0;           // from the first request to the end of the last answer
  int64_t most_running = 0;
};

// The id of the first model of /v1/models. Errors: kUnavailable, kInvalidArgument.
Result<std::string> FirstModel(const LoadOptions& options);

// An answer that fails is a result too. Errors: kUnavailable where the host is unknown; kCancelled
// by hooks.stop.
Result<LoadResult> RunLoad(const LoadOptions& options, const std::vector<std::string>& bodies,
                           const LoadHooks& hooks);

}  // namespace gdn
