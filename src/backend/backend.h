// SPDX-License-Identifier: Apache-2.0
// A device that is ready for work: its memory, what crosses between it and the host, and the order
// of its work. Operators are not methods of it: they look into the backend of their device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "tensor/device.h"
#include "tensor/storage.h"

namespace gdn {

// What a device other than the CPU has been given to do so far.
struct DeviceWork {
  int64_t dispatches = 0;
  int64_t submits = 0;
  int64_t bytes_to_device = 0;  // what Write and the operands of steps brought there
  int64_t bytes_to_host = 0;

  DeviceWork operator-(const DeviceWork& before) const {
    return {dispatches - before.dispatches, submits - before.submits,
            bytes_to_device - before.bytes_to_device, bytes_to_host - before.bytes_to_host};
  }
};

// One thread drives it. Work is done in the order in which it was given; on devices other than the
// CPU later than that, at the latest in Finish. What went wrong there is what Finish, Read and
// Write then return, once and for all: the results since are worth nothing.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual Device device() const = 0;
  // Zero-filled blocks on the device.
  virtual MemorySource& memory() = 0;
  // Between the host and a block. The host's bytes may change once they return.
  virtual Status Write(void* to_device, const void* from_host, size_t bytes) = 0;
  virtual Status Read(void* to_host, const void* from_device, size_t bytes) = 0;
  // Within the device; the ranges do not overlap.
  virtual void Copy(void* to, const void* from, size_t bytes) = 0;
  virtual Status Finish() = 0;
  virtual DeviceWork work() const { return {}; }
  // Linear layers are the vendor library's (BackendOptions), which reads row-major weights alone.
  virtual bool has_vendor_gemm() const { return false; }
};

struct BackendOptions {
  // The host can read and write the blocks themselves, between Finish and the next work. Slower for
  // a device with memory of its own.
  bool host_can_see_memory = false;
  // Where a device may keep what it has compiled, a folder; "": nowhere.
  std::string cache_folder;
  // Linear layers by the vendor's library, whose bits depend on how many rows a step has.
  bool vendor_gemm = false;
};

// Errors: kUnsupported where there is no such device or it lacks a feature, naming it.
Result<std::unique_ptr<Backend>> OpenBackend(const Device& device,
                                             const BackendOptions& options = {});

// Where the system's conventions put what can be made again; "" where it names no such folder.
std::string UserCacheFolder();

}  // namespace gdn
