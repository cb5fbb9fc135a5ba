// SPDX-License-Identifier: Apache-2.0
// A device of a vendor, or the emulation, behind one interface: memory, copies, launches, graphs.
// One thread drives it. All work goes to one queue, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/gpu/gemm.h"
#include "backend/gpu/kernel.h"
#include "base/status.h"
#include "tensor/device.h"

namespace gdn::gpu {

// One item of work of a step.
struct Work {
  enum class Kind : uint8_t { kLaunch, kCopy, kFill, kGemm };
  Kind kind = Kind::kLaunch;
  // kLaunch
  const Kernel* kernel = nullptr;
  uint32_t instance = 0;
  Grid grid;
  uint32_t threads = 0;
  uint32_t shared_bytes = 0;
  std::vector<std::byte> params;
  // kCopy, within the device, and kFill, with zeros
  void* to = nullptr;
  const void* from = nullptr;
  size_t bytes = 0;
  Gemm gemm;  // kGemm

  bool operator==(const Work& other) const;
};

// A step that the device can run again without being told its work anew.
class Graph {
 public:
  virtual ~Graph() = default;
};

struct Caps {
  std::string name;         // "NVIDIA H200"
  std::string arch;         // "sm_90", "gfx90a", "emulation"
  std::string driver;       // "CUDA 13.0"
  size_t memory_bytes = 0;  // there is
  uint32_t warp_size = 0;
  uint32_t max_shared_bytes = 0;  // that a block may have
  uint32_t num_processors = 0;    // multiprocessors, compute units
  bool unified_memory = false;
};

class Runtime {
 public:
  virtual ~Runtime() = default;

  virtual DeviceType type() const = 0;
  virtual const Caps& caps() const = 0;

  // Aligned to 256 bytes, not filled. Errors: kOutOfMemory.
  virtual Result<void*> Allocate(size_t bytes) = 0;
  virtual void Free(void* data) = 0;
  // Memory of the host that copies are fast from. Errors: kOutOfMemory.
  virtual Result<void*> AllocateHost(size_t bytes) = 0;
  virtual void FreeHost(void* data) = 0;

  // Loads the vendor's library of matrix products, before the first kGemm. Errors: kUnsupported.
  virtual Status OpenGemm() = 0;

  // In order with all other work. The host's bytes must stay as they are until Wait.
  virtual Status CopyToDevice(void* to, const void* from, size_t bytes) = 0;
  virtual Status CopyToHost(void* to, const void* from, size_t bytes) = 0;
  virtual Status Run(std::span<const Work> work) = 0;
  // Null where the runtime has no graphs.
  virtual Result<std::unique_ptr<Graph>> Capture(std::span<const Work> work) = 0;
  virtual Status Launch(Graph& graph) = 0;
  // Until all of it is done. Errors: what went wrong in it.
  virtual Status Wait() = 0;
};

}  // namespace gdn::gpu
