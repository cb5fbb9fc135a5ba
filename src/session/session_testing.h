// SPDX-License-Identifier: Apache-2.0
// A session over models/tiny, and answers read to their ends, for tests.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "session/session.h"

namespace gdn {

inline const std::string kTinyDir = std::string(GDN_SOURCE_DIR) + "/models/tiny";

inline std::unique_ptr<Session> LoadTiny(int64_t max_seqs, int64_t num_snapshots = 0,
                                         const std::string& dir = kTinyDir) {
  SessionOptions options{.model_dir = dir, .num_threads = 2};
  options.engine = {.context_tokens = 512, .max_seqs = max_seqs, .num_snapshots = num_snapshots};
  Result<std::unique_ptr<Session>> session = Session::Load(options, [](size_t, size_t) {});
  GDN_CHECK(session.ok());
  return std::move(session).value();
}

inline std::vector<Completion> ReadAll(Stream& stream) {
  Result<std::vector<Completion>> completions = Collect(
      stream, [](const Chunk&) {}, [] { return true; });
  GDN_CHECK(completions.ok());
  return std::move(completions).value();
}

}  // namespace gdn
