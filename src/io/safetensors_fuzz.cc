// SPDX-License-Identifier: Apache-2.0
// Any bytes as a safetensors file: an error, or entries that lie inside it.
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "io/safetensors_header.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto tensors = gdn::ParseSafetensorsHeader(bytes, "dir", "model.safetensors");
  if (!tensors.ok()) {
    GDN_CHECK(!tensors.status().message().empty());
    return 0;
  }
  for (const gdn::SafetensorsInfo& info : *tensors) {
    GDN_CHECK(info.begin_byte <= size && info.size_bytes <= size - info.begin_byte);
    const auto dtype = info.ReadableDType();
    if (!dtype) continue;
    uint64_t wanted_bytes = gdn::SizeOf(*dtype);
    for (const int64_t dim : info.shape) {
      GDN_CHECK(!__builtin_mul_overflow(wanted_bytes, static_cast<uint64_t>(dim), &wanted_bytes));
    }
    GDN_CHECK(wanted_bytes == info.size_bytes);
  }
  return 0;
}
