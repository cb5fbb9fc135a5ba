// SPDX-License-Identifier: Apache-2.0
// The header of one safetensors file: 8 bytes of length, little endian, then that much JSON.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "io/safetensors.h"

namespace gdn {

// Every tensor of the file, sorted by name, checked as SafetensorsCheckpoint says. begin_byte
// counts from the start of the file. file_name goes into the entries and, after its folder, into
// messages. Errors: kInvalidArgument, naming the file and the tensor.
Result<std::vector<SafetensorsInfo>> ParseSafetensorsHeader(std::span<const std::byte> file,
                                                            const std::string& dir,
                                                            const std::string& file_name);

}  // namespace gdn
