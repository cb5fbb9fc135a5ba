// SPDX-License-Identifier: Apache-2.0
// Any bytes as a config.json: an error, or a config whose tensors have sizes that can be counted.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "model/config.h"
#include "model/qwen3_5/tensor_table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = gdn::ParseModelConfig(text, "config.json");
  if (!config.ok()) {
    GDN_CHECK(!config.status().message().empty());
    return 0;
  }
  GDN_CHECK(config->layers.size() == static_cast<size_t>(config->num_layers));
  GDN_CHECK(config->rms_norm_eps > 0);
  int64_t total = 0;
  for (const auto& spec : gdn::qwen3_5::ListTensors(*config, "model.")) {
    int64_t count = 4;
    for (int axis = 0; axis < spec.shape.rank(); ++axis) {
      GDN_CHECK(spec.shape[axis] > 0);
      GDN_CHECK(!__builtin_mul_overflow(count, spec.shape[axis], &count));
    }
    GDN_CHECK(!__builtin_add_overflow(total, count, &total));
  }
  return 0;
}
