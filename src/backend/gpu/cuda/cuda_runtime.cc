// SPDX-License-Identifier: Apache-2.0
// The build says which architectures it has kernels for: GDN_CUDA_ARCHS, numbers as in sm_<number>,
// the last of them also as PTX, which later devices compile.
#include <array>
#include <charconv>
#include <string_view>

#include "backend/gpu/cuda/cuda_api.h"
#include "backend/gpu/vendor_runtime-inl.h"

namespace gdn::gpu::cuda {
namespace {

constexpr auto kBuilt = std::to_array<int>({GDN_CUDA_ARCHS});
// bf16 products and asynchronous copies: what the kernels are written for.
constexpr int kOldest = 80;

// A device runs what is compiled for its major version and no later a minor one.
bool IsBuiltFor(int arch) {
  for (const int built : kBuilt) {
    if (built / 10 == arch / 10 && built <= arch) return true;
  }
  return kBuilt.back() <= arch;
}

}  // namespace

Result<std::vector<Caps>> ListDevices() { return ListVendorDevices<CudaApi>(); }

std::string WhyNot(const Caps& caps) {
  constexpr std::string_view kPrefix = "sm_";
  int arch = 0;
  std::from_chars(caps.arch.data() + kPrefix.size(), caps.arch.data() + caps.arch.size(), arch);
  if (arch < kOldest) return StrCat("it is ", caps.arch, ", the kernels need sm_", kOldest);
  if (IsBuiltFor(arch)) return "";
  std::string built;
  for (const int number : kBuilt)
    StrAppend(built, StrCat(built.empty() ? "" : ", ", "sm_", number));
  return StrCat("it is ", caps.arch, ", this build has kernels for ", built,
                ": add its number to GDN_CUDA_ARCHS");
}

Result<std::unique_ptr<Runtime>> Open(int index, bool host_can_see_memory) {
  return OpenVendorDevice<CudaApi>(index, host_can_see_memory, WhyNot);
}

}  // namespace gdn::gpu::cuda
