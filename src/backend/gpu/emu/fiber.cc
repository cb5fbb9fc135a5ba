// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/emu/fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#define GDN_FIBERS_UNDER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GDN_FIBERS_UNDER_ASAN 1
#endif
#endif
#ifdef GDN_FIBERS_UNDER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#ifndef __x86_64__
#include <ucontext.h>
#endif

#ifdef __x86_64__
// Pushes what the caller of a function keeps, leaves the stack pointer at *save, and goes on from
// load. A switch by ucontext is a call of the system each time.
extern "C" void gdn_switch_stacks(void** save, void* load);
asm(R"(
.pushsection .text
.globl gdn_switch_stacks
.hidden gdn_switch_stacks
.type gdn_switch_stacks,@function
gdn_switch_stacks:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size gdn_switch_stacks, .-gdn_switch_stacks
.popsection
)");
#endif

namespace gdn::gpu::emu {

struct Fiber::Context {
#ifdef __x86_64__
  void* stack_pointer = nullptr;
#else
  ucontext_t state{};
#endif
  // For AddressSanitizer, which wants to know every stack.
  const void* bottom = nullptr;
  size_t bytes = 0;
  void* fake_stack = nullptr;
};

namespace {

#ifdef GDN_FIBERS_UNDER_ASAN
// The fiber that was left last on this thread of the host, whose stack the sanitizer then names.
thread_local const void** left_bottom = nullptr;
thread_local size_t* left_bytes = nullptr;
#endif

}  // namespace

Fiber::Fiber() : context_(std::make_unique<Context>()) {}
Fiber::~Fiber() = default;

void Fiber::Prepare(std::byte* bottom, size_t bytes, void (*entry)()) {
  context_->bottom = bottom;
  context_->bytes = bytes;
#ifdef GDN_FIBERS_UNDER_ASAN
  // Frames of the fiber before, which never returned from them.
  __asan_unpoison_memory_region(bottom, bytes);
#endif
#ifdef __x86_64__
  auto* top = reinterpret_cast<void**>(bottom + bytes);
  // As after a call: the stack pointer is 8 off a multiple of 16 at the first instruction.
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(entry);
  top -= 6;
  std::memset(top, 0, 6 * sizeof(void*));
  context_->stack_pointer = top;
#else
  getcontext(&context_->state);
  context_->state.uc_stack.ss_sp = bottom;
  context_->state.uc_stack.ss_size = bytes;
  context_->state.uc_link = nullptr;
  makecontext(&context_->state, entry, 0);
#endif
}

void Fiber::SwitchTo(Fiber& to, [[maybe_unused]] bool dies) {
#ifdef GDN_FIBERS_UNDER_ASAN
  left_bottom = &context_->bottom;
  left_bytes = &context_->bytes;
  __sanitizer_start_switch_fiber(dies ? nullptr : &context_->fake_stack, to.context_->bottom,
                                 to.context_->bytes);
#endif
#ifdef __x86_64__
  gdn_switch_stacks(&context_->stack_pointer, to.context_->stack_pointer);
#else
  swapcontext(&context_->state, &to.context_->state);
#endif
#ifdef GDN_FIBERS_UNDER_ASAN
  __sanitizer_finish_switch_fiber(context_->fake_stack, left_bottom, left_bytes);
#endif
}

void Fiber::OnEntry() {
#ifdef GDN_FIBERS_UNDER_ASAN
  __sanitizer_finish_switch_fiber(nullptr, left_bottom, left_bytes);
#endif
}

FiberStacks::~FiberStacks() {
  if (memory_ != nullptr) munmap(memory_, count_ * kStride);
}

bool FiberStacks::Reserve(size_t count) {
  if (count <= count_) return true;
  if (memory_ != nullptr) munmap(memory_, count_ * kStride);
  memory_ = nullptr;
  count_ = 0;
  void* memory = mmap(nullptr, count * kStride, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  memory_ = static_cast<std::byte*>(memory);
  count_ = count;
  for (size_t i = 0; i < count; ++i) mprotect(memory_ + i * kStride, kGuardBytes, PROT_NONE);
  return true;
}

}  // namespace gdn::gpu::emu
