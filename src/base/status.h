// SPDX-License-Identifier: Apache-2.0
// Errors as values. No exception crosses a module; a Status carries one line for the user.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace gdn {

enum class StatusCode {
  kOk,
  kInvalidArgument,  // the caller or a file said something that cannot be
  kNotFound,         // a file, tensor or token that is not there
  kOutOfMemory,
  kUnsupported,  // well-formed, but not something this build can do
  kCancelled,
  kUnavailable,  // a device failed at its work
  kInternal,
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  // One line that names the thing, what it is and what it must be.
  const std::string& message() const { return message_; }

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

inline Status OkStatus() { return {}; }
inline Status InvalidArgument(std::string message) {
  return {StatusCode::kInvalidArgument, std::move(message)};
}
inline Status NotFound(std::string message) { return {StatusCode::kNotFound, std::move(message)}; }
inline Status OutOfMemory(std::string message) {
  return {StatusCode::kOutOfMemory, std::move(message)};
}
inline Status Unsupported(std::string message) {
  return {StatusCode::kUnsupported, std::move(message)};
}
inline Status Cancelled(std::string message) {
  return {StatusCode::kCancelled, std::move(message)};
}
inline Status Unavailable(std::string message) {
  return {StatusCode::kUnavailable, std::move(message)};
}
inline Status Internal(std::string message) { return {StatusCode::kInternal, std::move(message)}; }

// A value or the reason why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  // Implicit both, so that `return value;` and `return InvalidArgument(...);` read as they do.
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(T value) : state_(std::in_place_index<1>, std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(Status status) : state_(std::in_place_index<0>, std::move(status)) {
    GDN_CHECK(!std::get<0>(state_).ok());
  }

  bool ok() const { return state_.index() == 1; }
  Status status() const { return ok() ? OkStatus() : std::get<0>(state_); }

  T& value() & {
    GDN_CHECK(ok());
    return std::get<1>(state_);
  }
  const T& value() const& {
    GDN_CHECK(ok());
    return std::get<1>(state_);
  }
  T&& value() && {
    GDN_CHECK(ok());
    return std::get<1>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<Status, T> state_;
};

}  // namespace gdn

// A declaration takes no parentheses: NOLINTBEGIN(bugprone-macro-parentheses)
#define GDN_CONCAT_INNER(a, b) a##b
#define GDN_CONCAT(a, b) GDN_CONCAT_INNER(a, b)

#define GDN_RETURN_IF_ERROR(expr)                                               \
  do {                                                                          \
    if (::gdn::Status gdn_status = (expr); !gdn_status.ok()) return gdn_status; \
  } while (false)

#define GDN_ASSIGN_OR_RETURN(lhs, expr) \
  GDN_ASSIGN_OR_RETURN_INNER(GDN_CONCAT(gdn_result_, __LINE__), lhs, expr)
#define GDN_ASSIGN_OR_RETURN_INNER(result, lhs, expr) \
  auto result = (expr);                               \
  if (!result.ok()) return result.status();           \
  lhs = std::move(result).value()
// NOLINTEND(bugprone-macro-parentheses)
