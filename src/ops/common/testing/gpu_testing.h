// SPDX-License-Identifier: Apache-2.0
// The emulation of a GPU, for tests. GDN_TEST_EMU, which CTest sets (cmake/gdn_targets.cmake), says
// of which kind: the size of a warp and the order of threads, as "32", "64 reversed", "32
// shuffled". Races are looked for always.
#pragma once

#include <cstdlib>
#include <memory>
#include <string_view>

#include "backend/gpu/emu/emu_runtime.h"
#include "backend/gpu/gpu_backend.h"
#include "ops/common/testing/device_testing.h"

namespace gdn {

inline gpu::emu::Options TestEmulation() {
  using Order = gpu::emu::Options::Order;
  const char* wanted = std::getenv("GDN_TEST_EMU");
  const std::string_view text = wanted == nullptr ? "32" : wanted;
  return {.warp_size = text.starts_with("64") ? 64U : 32U,
          .order = text.ends_with("reversed")   ? Order::kReversed
                   : text.ends_with("shuffled") ? Order::kShuffled
                                                : Order::kForward,
          .check_races = !text.ends_with("quick")};
}

inline bool TestDevice::HasReferenceBits() { return true; }

inline Backend& TestDevice::Get() {
  static gpu::GpuBackend backend(gpu::NewEmuRuntime(TestEmulation(), 2),
                                 static_cast<int>(TestEmulation().warp_size));
  return backend;
}

}  // namespace gdn
