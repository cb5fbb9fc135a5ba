// SPDX-License-Identifier: Apache-2.0
// value.name and value[index]. What is missing is an undefined value, as in the reference; a member
// of an undefined value is an error.
#pragma once

#include <string_view>

#include "base/status.h"
#include "chat_template/builtin.h"
#include "chat_template/value.h"

namespace gdn::jinja {

// A method comes before an entry of a mapping that has its name.
Result<Value> GetAttribute(const Value& object, std::string_view name, Runtime& runtime);

// An entry comes before a method.
Result<Value> GetItem(const Value& object, const Value& index, Runtime& runtime);

// "a.b.0", as the filters take it: members one after the other, where digits are an index.
Result<Value> GetPath(const Value& object, const Value& path, Runtime& runtime);

// The methods of a type; null where it has none of that name.
const Builtin* FindTextMethod(std::string_view name);
const Builtin* FindDictMethod(std::string_view name);
const Builtin* FindListMethod(std::string_view name);

// Python's names of methods that are not here, so that their use is an error and not undefined.
bool IsMissingTextMethod(std::string_view name);

}  // namespace gdn::jinja
