// SPDX-License-Identifier: Apache-2.0
// The work of a step: what operators ask for is written down, and run by Finish. A step whose work
// equals an earlier one's, as steps of decoding do, is run as a graph.
#pragma once

#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "backend/backend.h"
#include "backend/gpu/runtime.h"
#include "tensor/dtype.h"

namespace gdn::gpu {

// Threads of a block, but where a kernel says otherwise.
inline constexpr uint32_t kBlockThreads = 256;

// Instances of kernels that have one for each dtype.
constexpr uint32_t DTypeInstance(DType dtype) {
  return dtype == DType::kF32 ? 0 : dtype == DType::kF16 ? 1 : 2;
}

class Stream {
 public:
  // The runtime outlives the stream.
  explicit Stream(Runtime& runtime) : runtime_(runtime) {}
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  const Caps& caps() const { return runtime_.caps(); }
  const DeviceWork& counts() const { return counts_; }

  // After all that came before. Nothing happens for an empty grid.
  template <class Params>
  void Launch(const Kernel& kernel, uint32_t instance, const Grid& grid, uint32_t threads,
              uint32_t shared_bytes, const Params& params) {
    static_assert(std::is_trivially_copyable_v<Params>);
    LaunchBytes(kernel, instance, grid, threads, shared_bytes, &params, sizeof params);
  }
  // The host's values for kernels of this step, as the device sees them; null for none, and where
  // there is no memory, which is then an error of Finish. What was given before in the step, such
  // as the sequences that every layer has, crosses once.
  const void* Upload(const void* data, size_t bytes);
  template <class T>
  const T* Upload(std::span<const T> values) {
    return static_cast<const T*>(Upload(values.data(), values.size_bytes()));
  }
  void Copy(void* to, const void* from, size_t bytes);
  // After OpenGemm alone.
  void Multiply(const Gemm& gemm);
  void FillZero(void* data, size_t bytes);

  // The vendor's matrix products. Errors: kUnsupported.
  Status OpenGemm();
  bool has_gemm() const { return has_gemm_; }

  // Runs it and waits. The first error is returned from then on.
  Status Finish();
  const Status& status() const { return status_; }
  void Fail(Status status);
  void CountRead(size_t bytes) { counts_.bytes_to_host += static_cast<int64_t>(bytes); }
  void CountWrite(size_t bytes) { counts_.bytes_to_device += static_cast<int64_t>(bytes); }
  int64_t num_graph_launches() const { return num_graph_launches_; }

 private:
  // What is uploaded, on both sides. Pages stay, so that a step like an earlier one has its
  // addresses.
  struct Page {
    std::byte* host = nullptr;
    std::byte* device = nullptr;
    size_t size = 0;
    size_t used = 0;
  };
  struct Uploaded {
    const void* from = nullptr;
    size_t bytes = 0;
    const std::byte* host = nullptr;  // the copy
    const void* device = nullptr;
  };
  // A step that was seen; its graph, once it was seen again.
  struct Step {
    std::vector<Work> work;
    std::unique_ptr<Graph> graph;
  };

  void LaunchBytes(const Kernel& kernel, uint32_t instance, const Grid& grid, uint32_t threads,
                   uint32_t shared_bytes, const void* params, size_t params_bytes);
  Status NewPage(size_t bytes);
  Status RunStep();
  Status RunAsGraph(Step& step);

  Runtime& runtime_;
  std::vector<Work> work_;
  std::vector<Page> pages_;
  size_t page_ = 0;                 // the one in use
  std::vector<Uploaded> uploaded_;  // in this step
  std::deque<Step> steps_;          // the latest first
  Status status_;
  DeviceWork counts_;
  int64_t num_graph_launches_ = 0;
  bool has_gemm_ = false;
};

}  // namespace gdn::gpu
