// SPDX-License-Identifier: Apache-2.0
// What a checkpoint recommends where a request does not say how to sample.
#pragma once

#include <string>

#include "base/status.h"
#include "engine/sampler.h"

namespace gdn {

struct SamplingDefaults {
  float temperature = 0.8F;
  int32_t top_k = 40;
  float top_p = 0.95F;
  float min_p = 0;
  float repetition_penalty = 1;

  SamplingParams Params() const;
};

// temperature, top_k, top_p, min_p and repetition_penalty of dir/generation_config.json; what it
// lacks, and all where there is no such file, as above. Errors: kInvalidArgument, naming the field.
Result<SamplingDefaults> LoadSamplingDefaults(const std::string& dir);

}  // namespace gdn
