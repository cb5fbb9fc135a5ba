// SPDX-License-Identifier: Apache-2.0
#include "capi/boundary.h"

#include <array>

namespace gdn::capi {
namespace {

// Longer texts are cut. A plain array: there is nothing to allocate, and nothing to destroy when a
// thread ends after the library has been unloaded.
constexpr size_t kMaxErrorBytes = 2048;
thread_local std::array<char, kMaxErrorBytes> last_error = {};

bool IsInsideCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

}  // namespace

gdn_status CodeOf(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return GDN_OK;
    case StatusCode::kInvalidArgument:
      return GDN_INVALID_ARGUMENT;
    case StatusCode::kNotFound:
      return GDN_NOT_FOUND;
    case StatusCode::kOutOfMemory:
      return GDN_OUT_OF_MEMORY;
    case StatusCode::kUnsupported:
      return GDN_UNSUPPORTED;
    case StatusCode::kCancelled:
      return GDN_CANCELLED;
    case StatusCode::kUnavailable:
    case StatusCode::kInternal:
      break;
  }
  return GDN_INTERNAL;
}

gdn_status Fail(gdn_status code, std::string_view message) noexcept {
  size_t size = std::min(message.size(), kMaxErrorBytes - 1);
  if (size < message.size()) {
    while (size > 0 && IsInsideCharacter(message[size])) --size;
  }
  // Messages quote files and callers: a line is a line whatever they hold.
  std::transform(message.begin(), message.begin() + static_cast<std::ptrdiff_t>(size),
                 last_error.begin(), [](char c) {
                   const auto byte = static_cast<unsigned char>(c);
                   return byte < 0x20 || byte == 0x7F ? ' ' : c;
                 });
  last_error.at(size) = '\0';
  return code;
}

}  // namespace gdn::capi

const char* gdn_last_error() { return gdn::capi::last_error.data(); }
