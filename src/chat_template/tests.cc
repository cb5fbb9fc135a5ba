// SPDX-License-Identifier: Apache-2.0
// What stands behind `is`.
#include "base/str.h"
#include "chat_template/builtin.h"
#include "chat_template/compare.h"
#include "chat_template/operators.h"
#include "chat_template/print.h"
#include "chat_template/text.h"

namespace gdn::jinja {
namespace {

using Kind = Value::Kind;

template <Kind... kinds>
Result<Value> IsKind(Runtime&, const Value& self, const BoundArguments&) {
  return Value((self.Is(kinds) || ...));
}

template <Kind... kinds>
Result<Value> IsNotKind(Runtime&, const Value& self, const BoundArguments&) {
  return Value(!(self.Is(kinds) || ...));
}

template <bool wanted>
Result<Value> IsBool(Runtime&, const Value& self, const BoundArguments&) {
  const auto* value = self.Get<bool>();
  return Value(value != nullptr && *value == wanted);
}

template <CompareOp op>
Result<Value> Is(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_ASSIGN_OR_RETURN(const bool result, Compare(op, self, *arguments[0], runtime.budget));
  return Value(result);
}

Result<Value> IsSameAs(Runtime&, const Value& self, const BoundArguments& arguments) {
  return Value(SameObject(self, *arguments[0]));
}

Result<Value> DivisibleBy(Runtime& runtime, const Value& self, const Value& divisor) {
  if (self.is_string()) return InvalidArgument("needs a number, not a str");
  GDN_ASSIGN_OR_RETURN(const Value rest, Binary(BinaryOp::kModulo, self, divisor, runtime.budget));
  return rest;
}

template <bool odd>
Result<Value> IsParity(Runtime& runtime, const Value& self, const BoundArguments&) {
  GDN_ASSIGN_OR_RETURN(const Value rest, DivisibleBy(runtime, self, Value(2)));
  GDN_ASSIGN_OR_RETURN(const bool equal, Equals(rest, Value(odd ? 1 : 0), runtime.budget));
  return Value(equal);
}

Result<Value> IsDivisibleBy(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_ASSIGN_OR_RETURN(const Value rest, DivisibleBy(runtime, self, *arguments[0]));
  GDN_ASSIGN_OR_RETURN(const bool equal, Equals(rest, Value(0), runtime.budget));
  return Value(equal);
}

template <bool (*function)(std::string_view)>
Result<Value> IsText(Runtime& runtime, const Value& self, const BoundArguments&) {
  GDN_ASSIGN_OR_RETURN(const std::string text, Str(self, runtime.budget));
  GDN_RETURN_IF_ERROR(runtime.budget.Spend(1 + text.size() / 8));
  return Value(function(text));
}

Result<Value> IsEscaped(Runtime&, const Value& self, const BoundArguments&) {
  return Value(self.is_string() && self.string().is_markup);
}

Result<Value> IsFilter(Runtime&, const Value& self, const BoundArguments&) {
  return Value(self.is_string() && FindFilter(self.text()) != nullptr);
}

Result<Value> IsTest(Runtime&, const Value& self, const BoundArguments&) {
  return Value(self.is_string() && FindTest(self.text()) != nullptr);
}

constexpr Builtin kTests[] = {
    {"defined", IsNotKind<Kind::kUndefined>},
    {"undefined", IsKind<Kind::kUndefined>},
    {"none", IsKind<Kind::kNone>},
    {"boolean", IsKind<Kind::kBool>},
    {"true", IsBool<true>},
    {"false", IsBool<false>},
    {"integer", IsKind<Kind::kInt>},
    {"float", IsKind<Kind::kFloat>},
    {"number", IsKind<Kind::kBool, Kind::kInt, Kind::kFloat>},
    {"string", IsKind<Kind::kString>},
    {"mapping", IsKind<Kind::kDict>},
    {"sequence",
     IsKind<Kind::kUndefined, Kind::kString, Kind::kList, Kind::kTuple, Kind::kDict, Kind::kRange>},
    {"iterable", IsKind<Kind::kUndefined, Kind::kString, Kind::kList, Kind::kTuple, Kind::kDict,
                        Kind::kView, Kind::kIterator, Kind::kRange, Kind::kLoop>},
    // An undefined value has a __call__ that raises.
    {"callable", IsKind<Kind::kCallable, Kind::kUndefined, Kind::kLoop>},
    {"sameas", IsSameAs, {"other"}, 1},
    {"escaped", IsEscaped},
    {"in", Is<CompareOp::kIn>, {"seq"}, 1},
    {"==", Is<CompareOp::kEqual>, {"other"}, 1},
    {"eq", Is<CompareOp::kEqual>, {"other"}, 1},
    {"equalto", Is<CompareOp::kEqual>, {"other"}, 1},
    {"!=", Is<CompareOp::kNotEqual>, {"other"}, 1},
    {"ne", Is<CompareOp::kNotEqual>, {"other"}, 1},
    {">", Is<CompareOp::kGreater>, {"other"}, 1},
    {"gt", Is<CompareOp::kGreater>, {"other"}, 1},
    {"greaterthan", Is<CompareOp::kGreater>, {"other"}, 1},
    {">=", Is<CompareOp::kGreaterEqual>, {"other"}, 1},
    {"ge", Is<CompareOp::kGreaterEqual>, {"other"}, 1},
    {"<", Is<CompareOp::kLess>, {"other"}, 1},
    {"lt", Is<CompareOp::kLess>, {"other"}, 1},
    {"lessthan", Is<CompareOp::kLess>, {"other"}, 1},
    {"<=", Is<CompareOp::kLessEqual>, {"other"}, 1},
    {"le", Is<CompareOp::kLessEqual>, {"other"}, 1},
    {"odd", IsParity<true>},
    {"even", IsParity<false>},
    {"divisibleby", IsDivisibleBy, {"num"}, 1},
    {"lower", IsText<IsLowerText>},
    {"upper", IsText<IsUpperText>},
    {"filter", IsFilter},
    {"test", IsTest},
};

}  // namespace

const Builtin* FindTest(std::string_view name) {
  for (const Builtin& test : kTests) {
    if (test.name == name) return &test;
  }
  return nullptr;
}

}  // namespace gdn::jinja
