// SPDX-License-Identifier: Apache-2.0
// A golden case run and judged: one row an output.
#pragma once

#include <string>
#include <vector>

#include "parity/distance.h"
#include "parity/gates.h"
#include "parity/runner.h"

namespace gdn {

struct ParityRow {
  std::string name;
  Distance distance;
  Gate gate;
  bool pass = false;
};

struct ParityReport {
  std::string name;  // of the case
  std::string op;
  std::string device;
  std::string kernels;  // that ran, by id, ", " between them; or the name of the numerics
  std::vector<ParityRow> rows;

  // There are rows, and every one passes.
  bool Passes() const;
};

// Runs the case and compares every output that its manifest names, and what the op makes on the way
// where the case has a tensor of that name. A case that is gated by its stages must have them all.
// Errors: those of GoldenCase::Read and RunGolden; kInvalidArgument for an output that the op does
// not make, or makes in another shape.
Result<ParityReport> RunParity(Workbench& bench, const std::string& folder,
                               const Numerics& numerics);

// The rows of outputs of the golden's op. stages: whether those of a prefill must be among them.
Result<std::vector<ParityRow>> Judge(const GoldenCase& golden, const Outputs& outputs, bool stages);

}  // namespace gdn
