// SPDX-License-Identifier: Apache-2.0
// What the server counts, under vLLM's names with the prefix "gdn:", as Prometheus reads it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "model/model.h"
#include "session/engine_loop.h"

namespace gdn {

// Safe from several threads.
class Metrics {
 public:
  explicit Metrics(const std::string& model_name);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // Of one completion, in seconds.
  void ObserveFirstToken(double since_submission);
  void ObserveNextToken(double since_last);
  void ObserveEnd(FinishReason finish, double since_submission);

  // The text of GET /metrics, with the engine and the process as they are now. limits: of the
  // engine; null while there is none.
  std::string Text(const EngineStats& stats, const RunLimits* limits, int64_t open_connections);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The share of the blocks for keys and values that running requests hold.
double CacheUsage(const EngineStats& stats, const RunLimits& limits);

}  // namespace gdn
