// SPDX-License-Identifier: Apache-2.0
// How the next token is chosen: options of the commands that generate.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "engine/sampler.h"

namespace CLI {
class App;
}

namespace gdn {

// logit_bias: words for ParseLogitBias.
void AddSamplingOptions(CLI::App& command, SamplingParams& sampling,
                        std::vector<std::string>& logit_bias);

// Of words ID=BIAS. Errors: kInvalidArgument.
Result<std::vector<TokenBias>> ParseLogitBias(const std::vector<std::string>& words);

}  // namespace gdn
