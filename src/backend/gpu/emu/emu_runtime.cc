// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/emu/emu_runtime.h"

#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "base/str.h"
#include "base/system_info.h"

namespace gdn::gpu {
namespace {

constexpr size_t kAlignment = 256;
// Of a block, as on the smallest of the devices that the kernels are built for.
constexpr uint32_t kSharedBytes = 64 << 10;

struct EmuGraph final : public Graph {
  explicit EmuGraph(std::span<const Work> a_work) : work(a_work.begin(), a_work.end()) {}
  std::vector<Work> work;
};

float Load(const void* data, DType dtype, int64_t i) {
  return DispatchFloat(dtype,
                       [&]<class T>(T /*type*/) { return ToF32(static_cast<const T*>(data)[i]); });
}

// In place of a vendor's library, with its contract; not what any of them has for bits.
void Multiply(const Gemm& g) {
  for (int64_t m = 0; m < g.m; ++m) {
    for (int64_t n = 0; n < g.n; ++n) {
      float sum = 0;
      for (int64_t k = 0; k < g.k; ++k) {
        sum += Load(g.x, g.dtype, m * g.x_stride + k) * Load(g.weight, g.dtype, n * g.k + k);
      }
      DispatchFloat(g.out_dtype, [&]<class T>(T /*type*/) {
        static_cast<T*>(g.out)[m * g.out_stride + n] = FromF32<T>(sum);
      });
    }
  }
}

class EmuRuntime final : public Runtime {
 public:
  EmuRuntime(const emu::Options& options, int num_threads) : options_(options), pool_(num_threads) {
    caps_.name = StrCat("emulation of a GPU with warps of ", options.warp_size);
    caps_.arch = "emulation";
    caps_.driver = StrCat(num_threads, " threads of the host");
    caps_.memory_bytes = TotalMemoryBytes();
    caps_.warp_size = options.warp_size;
    caps_.max_shared_bytes = kSharedBytes;
    caps_.num_processors = static_cast<uint32_t>(num_threads);
    caps_.unified_memory = true;
  }

  DeviceType type() const override { return DeviceType::kEmu; }
  const Caps& caps() const override { return caps_; }

  // Blocks of their own, so that AddressSanitizer sees what kernels read beside them.
  Result<void*> Allocate(size_t bytes) override {
    void* data = nullptr;
    if (bytes <= caps_.memory_bytes) {
      data = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
    }
    if (data == nullptr) return OutOfMemory(StrCat("no ", HumanBytes(bytes), " left"));
    return data;
  }
  void Free(void* data) override { std::free(data); }
  Result<void*> AllocateHost(size_t bytes) override { return Allocate(bytes); }
  void FreeHost(void* data) override { Free(data); }
  Status OpenGemm() override { return OkStatus(); }

  Status CopyToDevice(void* to, const void* from, size_t bytes) override {
    std::memcpy(to, from, bytes);
    return OkStatus();
  }
  Status CopyToHost(void* to, const void* from, size_t bytes) override {
    std::memcpy(to, from, bytes);
    return OkStatus();
  }
  Status Run(std::span<const Work> work) override {
    for (const Work& item : work) GDN_RETURN_IF_ERROR(RunItem(item));
    return OkStatus();
  }
  Result<std::unique_ptr<Graph>> Capture(std::span<const Work> work) override {
    return std::unique_ptr<Graph>(new EmuGraph(work));
  }
  Status Launch(Graph& graph) override { return Run(static_cast<EmuGraph&>(graph).work); }
  Status Wait() override { return OkStatus(); }

 private:
  Status RunItem(const Work& item) {
    switch (item.kind) {
      case Work::Kind::kCopy:
        std::memcpy(item.to, item.from, item.bytes);
        return OkStatus();
      case Work::Kind::kFill:
        std::memset(item.to, 0, item.bytes);
        return OkStatus();
      case Work::Kind::kGemm:
        Multiply(item.gemm);
        return OkStatus();
      case Work::Kind::kLaunch:
        break;
    }
    const KernelEntry* entries = options_.warp_size == 32 ? item.kernel->emu32 : item.kernel->emu64;
    const KernelEntry& entry = entries[item.instance];
    GDN_CHECK(entry.run != nullptr && entry.params_bytes == item.params.size());
    return emu::Run({.name = item.kernel->name,
                     .run = entry.run,
                     .params = item.params.data(),
                     .grid = item.grid,
                     .threads = item.threads,
                     .shared_bytes = item.shared_bytes},
                    options_, pool_);
  }

  emu::Options options_;
  ThreadPool pool_;
  Caps caps_;
};

}  // namespace

std::unique_ptr<Runtime> NewEmuRuntime(const emu::Options& options, int num_threads) {
  return std::make_unique<EmuRuntime>(options, num_threads);
}

}  // namespace gdn::gpu
