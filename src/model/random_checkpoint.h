// SPDX-License-Identifier: Apache-2.0
// Checkpoints of random weights with a real shape: for tests, and for measuring speed where no
// trained weights are at hand. The same bytes on every machine.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/status.h"
#include "tensor/dtype.h"

namespace gdn {

struct RandomCheckpointOptions {
  std::string config_json;                  // the text of a config.json
  std::string config_name = "config.json";  // for messages
  std::string out_dir;                      // made where absent, with its parents
  DType dtype = DType::kBf16;               // kF32, kF16 or kBf16
  uint64_t seed = 1;
  int num_shards = 1;         // more than one: shards and an index, fewer where tensors are few
  bool a_log_f32 = false;     // A_log and the gated norm in F32, as published checkpoints have them
  std::string tokenizer_dir;  // "" or where to copy the tokenizer's and generation's files from
  std::function<void(uint64_t done_bytes, uint64_t total_bytes)> progress;  // may be empty
};

// Writes config.json (with its dtype set) and every tensor of tensor_table.h. A tensor's values
// depend on the seed, its name and its shape alone. Distributions: linears N(0, 1 / columns),
// Gemma norms N(0, 0.2^2), gated norms N(1, 0.2^2), convolutions N(0, 0.5^2), dt_bias N(-1, 1),
// A_log N(0.5, 0.8^2), untied embeddings N(0, 1). Rows of a head, and of tied embeddings, have
// N(0, 1 / columns) times 1 / sqrt(u), u uniform in [0.02, 1): the tail keeps the two best logits
// apart, so that greedy decoding does not hang on one rounding.
// Errors: kInvalidArgument, kUnsupported for the config; kInvalidArgument where out_dir holds
// weights in the other layout (one file against shards), which would hide or mix with these.
Status WriteRandomCheckpoint(const RandomCheckpointOptions& options);

}  // namespace gdn
