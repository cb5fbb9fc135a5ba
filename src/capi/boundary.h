// SPDX-License-Identifier: Apache-2.0
// What every function of the C interface does at its boundary: no exception leaves, errors become a
// gdn_status and a text of the thread, structs of callers of any version are read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/status.h"
#include "base/str.h"
#include "gdn/gdn.h"

namespace gdn::capi {

gdn_status CodeOf(StatusCode code);

// Keeps the message for gdn_last_error() of this thread; allocates nothing.
gdn_status Fail(gdn_status code, std::string_view message) noexcept;

// Runs the body of a function, a callable that returns Status.
template <class Body>
gdn_status Guard(Body&& body) noexcept {
  try {
    const Status status = std::forward<Body>(body)();
    return status.ok() ? GDN_OK : Fail(CodeOf(status.code()), status.message());
  } catch (const std::bad_alloc&) {
    return Fail(GDN_OUT_OF_MEMORY, "out of memory");
  } catch (const std::length_error&) {
    return Fail(GDN_OUT_OF_MEMORY, "out of memory: a size is beyond what there can be");
  } catch (const std::exception& error) {
    return Fail(GDN_INTERNAL, error.what());
  } catch (...) {
    return Fail(GDN_INTERNAL, "an exception of unknown type");
  }
}

// Errors: kInvalidArgument, "gdn_next: stream is NULL".
inline Status NotNull(const char* function, const char* name, const void* pointer) {
  if (pointer != nullptr) return OkStatus();
  return InvalidArgument(StrCat(function, ": ", name, " is NULL"));
}

// The same, of the beginning of an array, which may be NULL where it is empty.
inline Status NotNull(const char* function, const char* name, const void* pointer, size_t size) {
  return size == 0 ? OkStatus() : NotNull(function, name, pointer);
}

inline Status InRange(const char* name, int64_t value, int64_t min, int64_t max) {
  if (value >= min && value <= max) return OkStatus();
  return InvalidArgument(StrCat(name, " is ", value, ", want ", min, " to ", max));
}

// A text of a caller that ends at a NUL byte or after bytes.
inline std::string_view TextOf(const char* text, size_t bytes) {
  return bytes == GDN_NUL_TERMINATED ? std::string_view(text) : std::string_view(text, bytes);
}

// A struct of the interface: its size in the first version, fields being added at its end alone.
template <class Struct>
struct FirstVersion;

// Errors: kInvalidArgument for a size that no version between the first and this one has.
template <class Struct>
Status CheckStructSize(const char* function, size_t struct_size) {
  constexpr size_t kFirst = FirstVersion<Struct>::kBytes;
  if (struct_size >= kFirst && struct_size <= sizeof(Struct)) return OkStatus();
  return InvalidArgument(StrCat(function, ": struct_size is ", struct_size, ", want ", kFirst,
                                " to ", sizeof(Struct), " in this library"));
}

// to begins with what from has; fields that from lacks stay as they are in to.
template <class Struct>
void ReadStruct(const Struct& from, Struct& to) {
  static_assert(std::is_trivially_copyable_v<Struct>);
  std::memcpy(&to, &from, std::min(from.struct_size, sizeof(Struct)));
}

// Writes the struct_size bytes that a caller's struct has.
template <class Struct>
void WriteStruct(Struct from, size_t struct_size, Struct* to) {
  static_assert(std::is_trivially_copyable_v<Struct>);
  from.struct_size = struct_size;
  std::memcpy(to, &from, struct_size);
}

}  // namespace gdn::capi
