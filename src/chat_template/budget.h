// SPDX-License-Identifier: Apache-2.0
// What one render has used so far of the limits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "chat_template/limits.h"

namespace gdn::jinja {

class Budget {
 public:
  // Errors: kInvalidArgument, naming the limit.
  Status Spend(uint64_t steps) {
    if (steps <= steps_left_) {
      steps_left_ -= steps;
      return OkStatus();
    }
    steps_left_ = 0;
    return StepsExceeded();
  }

  // For bytes that are about to be made.
  Status Allocate(uint64_t bytes) {
    if (bytes <= bytes_left_) {
      bytes_left_ -= bytes;
      return OkStatus();
    }
    bytes_left_ = 0;
    return BytesExceeded();
  }

  // For text that is read from end to end.
  Status Scan(size_t bytes) { return Spend(1 + bytes / 64); }

 private:
  static Status StepsExceeded();
  static Status BytesExceeded();

  uint64_t steps_left_ = kMaxSteps;
  uint64_t bytes_left_ = kMaxAllocatedBytes;
};

}  // namespace gdn::jinja
