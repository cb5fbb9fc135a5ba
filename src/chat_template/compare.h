// SPDX-License-Identifier: Apache-2.0
// Python's comparisons. Shared values can be far larger than what they take in memory, so each
// visited element is counted.
#pragma once

#include "base/status.h"
#include "chat_template/budget.h"
#include "chat_template/value.h"

namespace gdn::jinja {

// ==. Errors: the budget alone.
Result<bool> Equals(const Value& a, const Value& b, Budget& budget);

// <. Errors: types that have no order.
Result<bool> Less(const Value& a, const Value& b, Budget& budget);

// `item in container`. An iterator is read up to the item. Errors: nothing can be in such a type.
Result<bool> Contains(const Value& container, const Value& item, Budget& budget);

// `is`: the same object. Equal small values are taken for the same object, as they are in CPython.
bool SameObject(const Value& a, const Value& b);

}  // namespace gdn::jinja
