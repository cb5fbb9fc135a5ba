// SPDX-License-Identifier: Apache-2.0
// What a step of a model needs of the machine, whatever its kernels do.
#pragma once

#include <cstdint>

#include "model/config.h"
#include "model/model.h"

namespace gdn {

struct StepShape {
  int64_t position = 0;  // of the first token in its sequence
  int64_t tokens = 1;
  bool chunk = false;      // the rule takes the chunk form
  int64_t sequences = 1;   // alike, side by side in the step
  int64_t logit_rows = 1;  // of each
};

struct StepCost {
  double flops = 0;
  double bytes = 0;
  StepCost& operator+=(const StepCost& other);
};

// flops: 2 x the linear layers' weights a token, 2 x the head's a row of logits, the rule
// (GdnChunkFlops or GdnRecurrentFlops), attention over the keys up to each token. Convolutions,
// norms and activations, a hundredth of it, are not counted.
// bytes: every weight of the layers once, the head's where there is a row of logits, the states
// read and written, the keys and values up to the last token read once.
StepCost CostOf(const ModelConfig& config, DType dtype, const StepShape& step);

}  // namespace gdn
