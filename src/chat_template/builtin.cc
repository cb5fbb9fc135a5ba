// SPDX-License-Identifier: Apache-2.0
#include "chat_template/builtin.h"

#include <limits>

#include "base/str.h"

namespace gdn::jinja {
namespace {

size_t ParameterCount(const Builtin& builtin) {
  size_t count = 0;
  while (count < kMaxParameters && !builtin.parameters.at(count).empty()) ++count;
  return count;
}

Status Bind(const Builtin& builtin, BoundArguments& bound) {
  const size_t count = ParameterCount(builtin);
  const Arguments& all = bound.all;
  if (all.positional.size() > count) {
    return InvalidArgument(
        StrCat("has ", all.positional.size(), " arguments, must have at most ", count));
  }
  for (size_t i = 0; i < all.positional.size(); ++i) bound.values.at(i) = &all.positional[i];
  for (const auto& [name, value] : all.named) {
    size_t i = 0;
    while (i < count && builtin.parameters.at(i) != name) ++i;
    if (i == count) return InvalidArgument(StrCat("has no parameter ", Quoted(name)));
    if (bound.values.at(i) != nullptr) {
      return InvalidArgument(StrCat("gets two values for ", Quoted(name)));
    }
    bound.values.at(i) = &value;
  }
  for (size_t i = 0; i < builtin.required; ++i) {
    if (bound.values.at(i) == nullptr) {
      return InvalidArgument(StrCat("needs the argument ", builtin.parameters.at(i)));
    }
  }
  return OkStatus();
}

Status Named(const Builtin& builtin, const Status& status) {
  // The template speaks here, not we.
  if (builtin.name == "raise_exception") return status;
  return {status.code(), StrCat(builtin.name, ": ", status.message())};
}

}  // namespace

Result<Value> CallBuiltin(const Builtin& builtin, Runtime& runtime, const Value& self,
                          const Arguments& arguments) {
  BoundArguments bound{arguments};
  if (!builtin.variadic) {
    if (const Status status = Bind(builtin, bound); !status.ok()) return Named(builtin, status);
  }
  Result<Value> result = builtin.call(runtime, self, bound);
  if (!result.ok()) return Named(builtin, result.status());
  return result;
}

Result<int64_t> IntArgument(const Value* value, std::string_view name, int64_t fallback) {
  if (value == nullptr) return fallback;
  Int number = 0;
  if (!AsInt(*value, number)) {
    return InvalidArgument(StrCat(name, " is a ", TypeName(*value), ", must be an int"));
  }
  if (number > std::numeric_limits<int64_t>::max() ||
      number < std::numeric_limits<int64_t>::min()) {
    return InvalidArgument(StrCat(name, " must be an int of 64 bits"));
  }
  return static_cast<int64_t>(number);
}

Result<bool> BoolArgument(const Value* value, bool fallback) {
  return value == nullptr ? fallback : Truth(*value);
}

Result<std::string_view> TextArgument(const Value* value, std::string_view name,
                                      std::string_view fallback) {
  if (value == nullptr) return fallback;
  if (!value->is_string()) {
    return InvalidArgument(StrCat(name, " is a ", TypeName(*value), ", must be a str"));
  }
  return std::string_view(value->text());
}

}  // namespace gdn::jinja
