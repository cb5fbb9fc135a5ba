// SPDX-License-Identifier: Apache-2.0
// How the next token is chosen: options of the commands that generate.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "engine/sampler.h"
#include "session/sampling_defaults.h"

namespace CLI {
class App;
}

namespace gdn {

// logit_bias: words for ParseLogitBias.
void AddSamplingOptions(CLI::App& command, SamplingParams& sampling,
                        std::vector<std::string>& logit_bias);

// Options that were not given become what the checkpoint recommends.
void TakeDefaults(const CLI::App& command, const SamplingDefaults& defaults,
                  SamplingParams& sampling);

// Of words ID=BIAS. Errors: kInvalidArgument.
Result<std::vector<TokenBias>> ParseLogitBias(const std::vector<std::string>& words);

}  // namespace gdn
