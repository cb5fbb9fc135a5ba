// SPDX-License-Identifier: Apache-2.0
// The runtime of a vendor's devices, once for CUDA and HIP: Api (cuda/cuda_api.h, hip/hip_api.h)
// names the vendor's types and calls. Included by the one source of each vendor.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/gpu/vendor.h"
#include "base/check.h"
#include "base/str.h"

namespace gdn::gpu {

// What a block gets without being asked for as dynamic shared memory, by every vendor.
inline constexpr uint32_t kSharedBytesUnasked = 48 << 10;

// "CUDA: an illegal memory access was encountered (error 700)"
template <class Api>
std::string Words(typename Api::Error error) {
  return StrCat(Api::kName, ": ", Api::ErrorString(error), " (error ", static_cast<int>(error),
                ")");
}

template <class Api>
Result<std::vector<Caps>> ListVendorDevices() {
  int count = 0;
  if (const auto error = Api::GetDeviceCount(&count); error != Api::kSuccess) {
    (void)Api::GetLastError();
    return Unsupported(StrCat(Api::WhyNoDevices(), Words<Api>(error)));
  }
  if (count == 0) return Unsupported(StrCat(Api::kName, ": the driver names no device"));
  std::vector<Caps> out(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    if (const auto error = Api::GetCaps(i, out[static_cast<size_t>(i)]); error != Api::kSuccess) {
      (void)Api::GetLastError();
      return Unsupported(StrCat(Words<Api>(error), ", from device ", i));
    }
  }
  return out;
}

template <class Api>
class VendorGraph final : public Graph {
 public:
  explicit VendorGraph(typename Api::GraphExec exec) : exec_(exec) {}
  ~VendorGraph() override { (void)Api::GraphExecDestroy(exec_); }
  VendorGraph(const VendorGraph&) = delete;
  VendorGraph& operator=(const VendorGraph&) = delete;

  typename Api::GraphExec exec() const { return exec_; }

 private:
  typename Api::GraphExec exec_;
};

template <class Api>
class VendorRuntime final : public Runtime {
 public:
  VendorRuntime(int index, Caps caps, bool host_can_see_memory)
      : index_(index), caps_(std::move(caps)), host_can_see_memory_(host_can_see_memory) {}
  ~VendorRuntime() override {
    if (stream_ != nullptr && Api::SetDevice(index_) == Api::kSuccess) {
      (void)Api::StreamDestroy(stream_);
    }
  }
  VendorRuntime(const VendorRuntime&) = delete;
  VendorRuntime& operator=(const VendorRuntime&) = delete;

  Status Init() {
    GDN_RETURN_IF_ERROR(Ready());
    return Check(Api::StreamCreate(&stream_), "making a queue");
  }

  DeviceType type() const override { return Api::kType; }
  const Caps& caps() const override { return caps_; }

  Result<void*> Allocate(size_t bytes) override {
    GDN_RETURN_IF_ERROR(Ready());
    void* data = nullptr;
    GDN_RETURN_IF_ERROR(
        Check(host_can_see_memory_ ? Api::MallocManaged(&data, bytes) : Api::Malloc(&data, bytes),
              "allocating"));
    return data;
  }
  void Free(void* data) override {
    if (Api::SetDevice(index_) == Api::kSuccess) (void)Api::Free(data);
  }
  Result<void*> AllocateHost(size_t bytes) override {
    GDN_RETURN_IF_ERROR(Ready());
    void* data = nullptr;
    GDN_RETURN_IF_ERROR(Check(Api::MallocHost(&data, bytes), "allocating the host's memory"));
    return data;
  }
  void FreeHost(void* data) override {
    if (Api::SetDevice(index_) == Api::kSuccess) (void)Api::FreeHost(data);
  }

  Status OpenGemm() override {
    GDN_RETURN_IF_ERROR(Ready());
    return gemm_.Open();
  }

  Status CopyToDevice(void* to, const void* from, size_t bytes) override {
    GDN_RETURN_IF_ERROR(Ready());
    return Check(Api::MemcpyAsync(to, from, bytes, Api::kHostToDevice, stream_),
                 "copying to the device");
  }
  Status CopyToHost(void* to, const void* from, size_t bytes) override {
    GDN_RETURN_IF_ERROR(Ready());
    return Check(Api::MemcpyAsync(to, from, bytes, Api::kDeviceToHost, stream_),
                 "copying to the host");
  }
  Status Run(std::span<const Work> work) override {
    GDN_RETURN_IF_ERROR(Ready());
    for (const Work& item : work) GDN_RETURN_IF_ERROR(RunItem(item));
    return OkStatus();
  }

  Result<std::unique_ptr<Graph>> Capture(std::span<const Work> work) override {
    GDN_RETURN_IF_ERROR(Ready());
    GDN_RETURN_IF_ERROR(Check(Api::StreamBeginCapture(stream_), "starting a graph"));
    Status status = Run(work);
    typename Api::GraphTemplate graph = nullptr;
    // Ends it in any case: the queue takes no other work before.
    const auto ended = Api::StreamEndCapture(stream_, &graph);
    if (status.ok()) status = Check(ended, "ending a graph");
    typename Api::GraphExec exec = nullptr;
    if (status.ok()) status = Check(Api::GraphInstantiate(&exec, graph), "making a graph");
    if (graph != nullptr) (void)Api::GraphDestroy(graph);
    if (!status.ok()) return status;
    return std::unique_ptr<Graph>(new VendorGraph<Api>(exec));
  }
  Status Launch(Graph& graph) override {
    GDN_RETURN_IF_ERROR(Ready());
    return Check(Api::GraphLaunch(static_cast<VendorGraph<Api>&>(graph).exec(), stream_),
                 "starting a graph's work");
  }
  Status Wait() override {
    // After an error, too: what was begun before it may still use the memory that it was given.
    const Status ready = Ready();
    const auto waited = Api::StreamSynchronize(stream_);
    return ready.ok() ? Check(waited, "running the work") : ready;
  }

 private:
  // The device is chosen for each thread of the host, and the thread that drives this may be
  // another than the one that opened it.
  Status Ready() {
    if (!lost_.ok()) return lost_;
    return Check(Api::SetDevice(index_), "choosing the device");
  }

  // A want of memory passes. After any other error the results are worth nothing, and the vendor's
  // calls return it again or worse.
  Status Check(typename Api::Error error, const char* doing) {
    if (error == Api::kSuccess) return OkStatus();
    (void)Api::GetLastError();
    std::string message = StrCat(caps_.name, ", ", doing, ": ", Words<Api>(error));
    if (error == Api::kOutOfMemory) return OutOfMemory(std::move(message));
    lost_ = Unavailable(std::move(message));
    return lost_;
  }

  Status RunItem(const Work& item) {
    switch (item.kind) {
      case Work::Kind::kCopy:
        return Check(
            Api::MemcpyAsync(item.to, item.from, item.bytes, Api::kDeviceToDevice, stream_),
            "copying");
      case Work::Kind::kFill:
        return Check(Api::MemsetAsync(item.to, 0, item.bytes, stream_), "filling with zeros");
      case Work::Kind::kGemm:
        return gemm_.Run(item.gemm, stream_);
      case Work::Kind::kLaunch:
        break;
    }
    const KernelEntry* entries = Api::EntriesOf(*item.kernel);
    GDN_CHECK(entries != nullptr);
    const KernelEntry& entry = entries[item.instance];
    GDN_CHECK(entry.function != nullptr && entry.params_bytes == item.params.size());
    if (item.shared_bytes > kSharedBytesUnasked && !raised_.contains(entry.function)) {
      GDN_RETURN_IF_ERROR(
          Check(Api::RaiseSharedBytes(entry.function, static_cast<int>(caps_.max_shared_bytes)),
                item.kernel->name));
      raised_.insert(entry.function);
    }
    void* params[] = {const_cast<std::byte*>(item.params.data())};
    return Check(Api::LaunchKernel(entry.function, item.grid, item.threads, params,
                                   item.shared_bytes, stream_),
                 item.kernel->name);
  }

  int index_;
  Caps caps_;
  bool host_can_see_memory_;
  typename Api::Stream stream_ = nullptr;
  typename Api::GemmLibrary gemm_;
  std::set<const void*> raised_;  // kernels that may have all shared memory there is
  Status lost_;
};

template <class Api>
Result<std::unique_ptr<Runtime>> OpenVendorDevice(int index, bool host_can_see_memory,
                                                  std::string (*why_not)(const Caps&)) {
  GDN_ASSIGN_OR_RETURN(std::vector<Caps> devices, ListVendorDevices<Api>());
  if (index < 0 || static_cast<size_t>(index) >= devices.size()) {
    return Unsupported(
        StrCat(Api::kName, ": there is no device ", index, ", the driver names ", devices.size()));
  }
  Caps& caps = devices[static_cast<size_t>(index)];
  if (const std::string reason = why_not(caps); !reason.empty()) {
    return Unsupported(StrCat(caps.name, " cannot be used: ", reason));
  }
  auto runtime = std::make_unique<VendorRuntime<Api>>(index, std::move(caps), host_can_see_memory);
  GDN_RETURN_IF_ERROR(runtime->Init());
  return std::unique_ptr<Runtime>(std::move(runtime));
}

}  // namespace gdn::gpu
