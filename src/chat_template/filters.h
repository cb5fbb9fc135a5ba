// SPDX-License-Identifier: Apache-2.0
// The tables of the filters, one a source.
#pragma once

#include <span>

#include "chat_template/builtin.h"

namespace gdn::jinja {

std::span<const Builtin> TextFilters();
std::span<const Builtin> NumberFilters();
std::span<const Builtin> SequenceFilters();
std::span<const Builtin> OrderFilters();
std::span<const Builtin> SelectionFilters();

// The element of a filter's attribute argument; the item itself where it is null or none.
Result<Value> AttributeOf(const Value& item, const Value* attribute, Runtime& runtime);

// A text in lower case, for comparisons that ignore case; other values as they are.
Result<Value> IgnoreCase(const Value& value, Budget& budget);

}  // namespace gdn::jinja
