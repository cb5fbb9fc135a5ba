// SPDX-License-Identifier: Apache-2.0
// Runs kernels of src/ops/*/*_gpu.cu on the host: the threads of a block are fibers of one thread
// of the host, and blocks are spread over those of a pool. Every barrier, shuffle and access to
// shared memory is checked; a launch that breaks a rule ends with an error that says what, where
// and who.
#pragma once

#include <cstdint>

#include "backend/gpu/kernel.h"
#include "base/status.h"
#include "base/thread_pool.h"

namespace gdn::gpu::emu {

// Where in a source something is called: the default of a parameter that wants to know. (Not every
// compiler of ours has std::source_location.)
struct Where {
  const char* file = "";
  int line = 0;

  static constexpr Where Here(const char* a_file = __builtin_FILE(),
                              int a_line = __builtin_LINE()) {
    return {a_file, a_line};
  }
};

struct Options {
  // The order in which the threads of a block run up to their next barrier.
  enum class Order : uint8_t { kForward, kReversed, kShuffled };

  uint32_t warp_size = 32;
  Order order = Order::kForward;
  uint32_t seed = 1;  // of kShuffled
  // Accesses to shared memory that no barrier orders are errors. Three times as slow.
  bool check_races = false;
};

struct Launch {
  const char* name = "";
  void (*run)(const void* params) = nullptr;  // a thread's part
  const void* params = nullptr;
  Grid grid;
  uint32_t threads = 0;
  uint32_t shared_bytes = 0;
};

// Errors: kInternal, naming the kernel, the block, the thread and the rule that was broken.
Status Run(const Launch& launch, const Options& options, ThreadPool& pool);

// ---- For kernels, on the fiber of a thread. ----

uint32_t ThreadIndex();
Grid BlockIndex();
Grid GridSize();
uint32_t BlockThreads();

// Waits for all threads of the block, or of the warp.
void Barrier(Where where);
void WarpBarrier(Where where);

// The bytes that this thread gives, and those of all threads of its warp: each's until the
// next exchange but one. At most kExchangeBytes.
inline constexpr uint32_t kExchangeBytes = 64;
class Exchange {
 public:
  // With together: once all have given theirs, one of them makes of the slots of all lanes, each
  // kExchangeBytes, what Of then returns.
  Exchange(const void* data, uint32_t bytes, Where where,
           void (*together)(std::byte* slots) = nullptr);
  // Of lane, which must be one of the warp that takes part.
  const void* Of(uint32_t lane) const;

 private:
  uint32_t half_;
  Where where_;
};

// The next bytes of the block's shared memory, aligned to 16, as an offset in it.
uint32_t TakeShared(uint32_t bytes, uint32_t& taken, Where where);
std::byte* SharedBase();
// Says that the thread reads or writes them.
void OnShared(uint32_t offset, uint32_t bytes, bool writes, Where where);
// Ends the launch with an error.
[[noreturn]] void Fail(const char* what, int64_t value, int64_t bound, Where where);

}  // namespace gdn::gpu::emu
