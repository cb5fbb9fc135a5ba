// SPDX-License-Identifier: Apache-2.0
// The build says which architectures it has kernels for: GDN_ROCM_ARCHS, quoted names.
#include <algorithm>
#include <array>
#include <string_view>

#include "backend/gpu/hip/hip_api.h"
#include "backend/gpu/vendor_runtime-inl.h"

namespace gdn::gpu::rocm {
namespace {

constexpr auto kBuilt = std::to_array<std::string_view>({GDN_ROCM_ARCHS});

}  // namespace

Result<std::vector<Caps>> ListDevices() { return ListVendorDevices<HipApi>(); }

std::string WhyNot(const Caps& caps) {
  if (std::ranges::find(kBuilt, caps.arch) != kBuilt.end()) return "";
  std::string built;
  for (const std::string_view arch : kBuilt) {
    StrAppend(built, StrCat(built.empty() ? "" : ", ", arch));
  }
  return StrCat("it is ", caps.arch, ", this build has kernels for ", built,
                ": add it to GDN_ROCM_ARCHS");
}

Result<std::unique_ptr<Runtime>> Open(int index, bool host_can_see_memory) {
  return OpenVendorDevice<HipApi>(index, host_can_see_memory, WhyNot);
}

}  // namespace gdn::gpu::rocm
