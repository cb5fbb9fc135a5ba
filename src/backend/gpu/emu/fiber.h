// SPDX-License-Identifier: Apache-2.0
// Threads of a block as fibers: stacks of their own, switched by hand, with a page below each that
// nothing may touch.
#pragma once

#include <cstddef>
#include <memory>

namespace gdn::gpu::emu {

// A point of execution that waits to go on.
class Fiber {
 public:
  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Begins entry() on the stack [bottom, bottom + bytes) at the next SwitchTo; it must not return.
  void Prepare(std::byte* bottom, size_t bytes, void (*entry)());
  // Goes on there, and returns here when something switches back. dies: this one never goes on.
  void SwitchTo(Fiber& to, bool dies = false);

  // What a fiber that has just begun calls first.
  static void OnEntry();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

// Stacks of that many fibers.
class FiberStacks {
 public:
  FiberStacks() = default;
  ~FiberStacks();
  FiberStacks(const FiberStacks&) = delete;
  FiberStacks& operator=(const FiberStacks&) = delete;

  // False where the system gives no memory.
  bool Reserve(size_t count);
  std::byte* Bottom(size_t i) const { return memory_ + i * kStride + kGuardBytes; }

  static constexpr size_t kGuardBytes = 4096;
  static constexpr size_t kStackBytes = size_t{128} << 10;

 private:
  static constexpr size_t kStride = kGuardBytes + kStackBytes;
  std::byte* memory_ = nullptr;
  size_t count_ = 0;
};

}  // namespace gdn::gpu::emu
