// SPDX-License-Identifier: Apache-2.0
// What a layer runs with.
#pragma once

#include "backend/exec_context.h"
#include "model/arena.h"
#include "model/step_plan.h"

namespace gdn {

struct LayerContext {
  const ExecContext& exec;
  const StepPlan& plan;
  Arena& arena;  // the layer takes its activations here and gives them back
};

}  // namespace gdn
