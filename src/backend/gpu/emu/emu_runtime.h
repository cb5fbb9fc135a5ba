// SPDX-License-Identifier: Apache-2.0
// The emulation (emulator.h) as a device: its memory is the host's.
#pragma once

#include <memory>

#include "backend/gpu/emu/emulator.h"
#include "backend/gpu/runtime.h"

namespace gdn::gpu {

std::unique_ptr<Runtime> NewEmuRuntime(const emu::Options& options, int num_threads);

}  // namespace gdn::gpu
