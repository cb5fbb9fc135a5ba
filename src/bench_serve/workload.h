// SPDX-License-Identifier: Apache-2.0
// The requests of a measurement: random ones of given lengths, or those of a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace gdn {

struct CountRange {
  int64_t low = 1;
  int64_t high = 1;
};

// "128" or "64:256". Errors: kInvalidArgument, naming the option.
Result<CountRange> ParseCountRange(const char* option, const std::string& text);

struct WorkloadOptions {
  bool is_chat = false;
  int64_t num_requests = 64;
  int64_t num_warmups = 1;
  CountRange prompt_tokens{128, 128};
  CountRange output_tokens{128, 128};
  int64_t vocab = 1000;  // random ids are below it
  uint64_t seed = 0;
  double temperature = 0;
  std::string prompts_file;  // "": random
};

// Bodies of requests, warm-ups first, all with "stream": true. The lengths and prompts of request i
// depend on the seed and on i alone. Random prompts of a completion are ids; those of a chat are as
// many random words. A line of the file is {"prompt": TEXT or IDS} or {"messages": [..]}, and may
// have "max_tokens"; where there are more requests than lines they begin again.
// Errors: kNotFound, kInvalidArgument, naming the file and the line.
Result<std::vector<std::string>> MakeWorkload(const WorkloadOptions& options,
                                              const std::string& model);

}  // namespace gdn
