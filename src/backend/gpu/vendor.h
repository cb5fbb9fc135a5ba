// SPDX-License-Identifier: Apache-2.0
// What cuda/ and hip/ give: the devices of a vendor's driver.
#pragma once

#include <memory>
#include <vector>

#include "backend/gpu/runtime.h"

namespace gdn::gpu {

namespace cuda {
// In the order of their indices. Errors: kUnsupported, in the driver's words, where there is no
// driver or no device.
Result<std::vector<Caps>> ListDevices();
// What a device lacks; "" where it can be used.
std::string WhyNot(const Caps& caps);
// host_can_see_memory: the host reads and writes what Allocate gives, between Wait and the next
// work.
Result<std::unique_ptr<Runtime>> Open(int index, bool host_can_see_memory);
}  // namespace cuda

namespace rocm {
Result<std::vector<Caps>> ListDevices();
std::string WhyNot(const Caps& caps);
Result<std::unique_ptr<Runtime>> Open(int index, bool host_can_see_memory);
}  // namespace rocm

}  // namespace gdn::gpu
