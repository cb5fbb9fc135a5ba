// SPDX-License-Identifier: Apache-2.0
// Python's operators on values. Errors: types that the operator does not take, division by zero,
// an integer beyond 128 bits, a limit.
#pragma once

#include "base/status.h"
#include "chat_template/ast.h"
#include "chat_template/budget.h"
#include "chat_template/value.h"

namespace gdn::jinja {

Result<Value> Binary(BinaryOp op, const Value& a, const Value& b, Budget& budget);

// + and -.
Result<Value> Negate(const Value& value);
Result<Value> Plus(const Value& value);

Result<bool> Compare(CompareOp op, const Value& a, const Value& b, Budget& budget);

// object[start:stop:step]; none stands for a part that is not there.
Result<Value> Slice(const Value& object, const Value& start, const Value& stop, const Value& step,
                    Budget& budget);

// "printf" % values and the filter format.
Result<Value> FormatPercent(const Value& format, const Value& arguments, Budget& budget);

// The error of a use of an undefined value; OK for every other.
Status CheckDefined(const Value& value);

}  // namespace gdn::jinja
