// SPDX-License-Identifier: Apache-2.0
// Filters, tests, methods and global functions: one kind of thing, found by name in a table.
#pragma once

#include <array>
#include <ctime>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "chat_template/budget.h"
#include "chat_template/objects.h"
#include "chat_template/value.h"

namespace gdn::jinja {

// The state of one render that builtins see.
struct Runtime {
  Budget budget;
  std::deque<NamespaceObject> namespaces;
  std::tm now{};  // for strftime_now
  int now_microseconds = 0;
};

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

inline constexpr size_t kMaxParameters = 5;

// The arguments of a call, by position in Builtin::parameters; null where one was not given.
struct BoundArguments {
  const Arguments& all;
  std::array<const Value*, kMaxParameters> values{};

  const Value* operator[](size_t i) const { return values.at(i); }
};

using BuiltinFunction = Result<Value> (*)(Runtime& runtime, const Value& self,
                                          const BoundArguments& arguments);

struct Builtin {
  std::string_view name;
  BuiltinFunction call;
  std::array<std::string_view, kMaxParameters> parameters{};
  size_t required = 0;
  bool variadic = false;  // takes any arguments, and looks at `all`
};

// Null where there is none of that name.
const Builtin* FindFilter(std::string_view name);
const Builtin* FindTest(std::string_view name);
const Builtin* FindFunction(std::string_view name);

// Binds the arguments and calls. self is what is filtered or tested, or the object of a method.
// Errors start with the name.
Result<Value> CallBuiltin(const Builtin& builtin, Runtime& runtime, const Value& self,
                          const Arguments& arguments);

// Arguments of a type. Errors name the parameter. fallback is for one that was not given.
Result<int64_t> IntArgument(const Value* value, std::string_view name, int64_t fallback);
Result<bool> BoolArgument(const Value* value, bool fallback);
// The text of a string; valid as long as the argument.
Result<std::string_view> TextArgument(const Value* value, std::string_view name,
                                      std::string_view fallback);

}  // namespace gdn::jinja
