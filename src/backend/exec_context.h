// SPDX-License-Identifier: Apache-2.0
// What an operator runs with: a device, its thread pool, scratch memory, a kernel choice.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "base/check.h"
#include "base/thread_pool.h"
#include "tensor/device.h"

namespace gdn {

// Which kernel each op ran, for --verbose and --json. Filled on first use, then only compared.
class KernelLog {
 public:
  struct Entry {
    const char* op;      // "gated_delta_rule_chunk"
    const char* kernel;  // "gated_delta_rule_chunk_bf16__avx2"
  };
  static constexpr size_t kMaxEntries = 64;

  // Both strings must live as long as the process. Not thread safe: one log an engine.
  void Record(const char* op, const char* kernel) {
    for (size_t i = 0; i < count_; ++i) {
      if (entries_[i].op == op && entries_[i].kernel == kernel) return;
    }
    GDN_CHECK(count_ < kMaxEntries);
    entries_[count_++] = {op, kernel};
  }
  std::span<const Entry> entries() const { return {entries_.data(), count_}; }

 private:
  std::array<Entry, kMaxEntries> entries_;
  size_t count_ = 0;
};

// Memory that an op may use during one call, planned once from the configuration.
class Scratch {
 public:
  Scratch() = default;
  explicit Scratch(std::span<std::byte> memory) : memory_(memory) {}

  size_t size_bytes() const { return memory_.size(); }
  // The first bytes of it, aligned to 64. Calls inside one op share it: ask once, then divide.
  std::byte* Take(size_t bytes) const {
    GDN_CHECK(bytes <= memory_.size());
    return memory_.data();
  }

 private:
  std::span<std::byte> memory_;
};

class Backend;

struct ExecContext {
  Device device;
  Backend* backend = nullptr;  // of that device; the CPU's operators need none
  ThreadPool* pool = nullptr;
  Scratch scratch;
  KernelLog* kernel_log = nullptr;  // may be null
  // "" lets the table choose; "ref" or a prefix of a kernel id forces one, for tests.
  std::string_view impl;
};

}  // namespace gdn
