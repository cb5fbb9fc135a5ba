// SPDX-License-Identifier: Apache-2.0
#include "chat_template/operators.h"

#include <algorithm>
#include <cmath>

#include "base/str.h"
#include "chat_template/compare.h"
#include "chat_template/print.h"

namespace gdn::jinja {
namespace {

constexpr std::string_view kSymbols[] = {"+", "-", "*", "/", "//", "%", "**"};

Status WrongTypes(BinaryOp op, const Value& a, const Value& b) {
  return InvalidArgument(StrCat("cannot compute ", TypeName(a), " ",
                                kSymbols[static_cast<size_t>(op)], " ", TypeName(b)));
}

Status TooLarge() { return InvalidArgument("an integer needs more than 128 bits"); }
Status DivisionByZero() { return InvalidArgument("a division by zero"); }

Int FloorDivide(Int a, Int b) {
  const Int quotient = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

Result<Value> IntPower(Int base, Int exponent) {
  if (exponent < 0) {
    if (base == 0) return DivisionByZero();
    return Value(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  Int result = 1;
  while (exponent > 0) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) return TooLarge();
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) return TooLarge();
  }
  return Value(result);
}

Result<Value> IntBinary(BinaryOp op, Int a, Int b) {
  constexpr Int kLowest = static_cast<Int>(1) << 127;
  Int result = 0;
  switch (op) {
    case BinaryOp::kAdd:
      if (__builtin_add_overflow(a, b, &result)) return TooLarge();
      return Value(result);
    case BinaryOp::kSubtract:
      if (__builtin_sub_overflow(a, b, &result)) return TooLarge();
      return Value(result);
    case BinaryOp::kMultiply:
      if (__builtin_mul_overflow(a, b, &result)) return TooLarge();
      return Value(result);
    case BinaryOp::kPower:
      return IntPower(a, b);
    default:
      break;
  }
  if (b == 0) return DivisionByZero();
  if (op == BinaryOp::kDivide) return Value(static_cast<double>(a) / static_cast<double>(b));
  if (a == kLowest && b == -1) return TooLarge();
  const Int quotient = FloorDivide(a, b);
  return Value(op == BinaryOp::kFloorDivide ? quotient : a - quotient * b);
}

// The sign of the divisor, as in Python.
double FloatModulo(double a, double b) {
  const double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

double FloatFloorDivide(double a, double b) {
  const double quotient = (a - FloatModulo(a, b)) / b;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double floor = std::floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

Result<Value> FloatBinary(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::kAdd:
      return Value(a + b);
    case BinaryOp::kSubtract:
      return Value(a - b);
    case BinaryOp::kMultiply:
      return Value(a * b);
    case BinaryOp::kPower: {
      if (a == 0 && b < 0) return DivisionByZero();
      if (a < 0 && std::floor(b) != b) return InvalidArgument("a power is a complex number");
      const double power = std::pow(a, b);
      if (std::isinf(power) && std::isfinite(a) && std::isfinite(b)) {
        return InvalidArgument("a power is too large for a float");
      }
      return Value(power);
    }
    default:
      break;
  }
  if (b == 0) return DivisionByZero();
  if (op == BinaryOp::kDivide) return Value(a / b);
  return Value(op == BinaryOp::kFloorDivide ? FloatFloorDivide(a, b) : FloatModulo(a, b));
}

Result<Value> AddTexts(const Value& a, const Value& b, Budget& budget) {
  const bool is_markup = a.string().is_markup || b.string().is_markup;
  const auto piece = [&](const Value& value) {
    return is_markup && !value.string().is_markup ? EscapeHtml(value.text()) : value.text();
  };
  GDN_RETURN_IF_ERROR(budget.Allocate(a.text().size() + b.text().size()));
  if (!is_markup) return MakeString(a.text() + b.text(), budget);
  return MakeString(piece(a) + piece(b), budget, /*is_markup=*/true);
}

Result<Value> AddSequences(const Value& a, const Value& b, Budget& budget) {
  std::vector<Value> items = (*a.sequence())->items;
  const std::vector<Value>& more = (*b.sequence())->items;
  GDN_RETURN_IF_ERROR(budget.Spend(items.size() + more.size()));
  items.insert(items.end(), more.begin(), more.end());
  return a.Is(Value::Kind::kList) ? MakeList(std::move(items), budget)
                                  : MakeTuple(std::move(items), budget);
}

// value * times of a text, list or tuple.
Result<Value> Repeat(const Value& value, Int times, Budget& budget) {
  const auto count = static_cast<uint64_t>(std::clamp<Int>(times, 0, Int{kMaxAllocatedBytes} + 1));
  if (value.is_string()) {
    GDN_RETURN_IF_ERROR(budget.Allocate(value.text().size() * count));
    std::string text;
    if (!value.text().empty()) {
      for (uint64_t i = 0; i < count; ++i) text += value.text();
    }
    return MakeString(std::move(text), budget, value.string().is_markup);
  }
  const std::vector<Value>& items = (*value.sequence())->items;
  GDN_RETURN_IF_ERROR(budget.Spend(items.size() * count));
  std::vector<Value> out;
  if (!items.empty()) {
    for (uint64_t i = 0; i < count; ++i) out.insert(out.end(), items.begin(), items.end());
  }
  return value.Is(Value::Kind::kList) ? MakeList(std::move(out), budget)
                                      : MakeTuple(std::move(out), budget);
}

}  // namespace

Status CheckDefined(const Value& value) {
  const auto* undefined = value.Get<Undefined>();
  if (undefined == nullptr) return OkStatus();
  return InvalidArgument(undefined->why == nullptr ? "a value is undefined" : *undefined->why);
}

Result<Value> Binary(BinaryOp op, const Value& a, const Value& b, Budget& budget) {
  GDN_RETURN_IF_ERROR(CheckDefined(a));
  if (op == BinaryOp::kModulo && a.is_string()) return FormatPercent(a, b, budget);
  GDN_RETURN_IF_ERROR(CheckDefined(b));
  Int x = 0;
  Int y = 0;
  const bool a_is_int = AsInt(a, x);
  const bool b_is_int = AsInt(b, y);
  if (a_is_int && b_is_int) return IntBinary(op, x, y);
  double u = 0;
  double v = 0;
  if (AsDouble(a, u) && AsDouble(b, v)) return FloatBinary(op, u, v);
  const auto repeats = [](const Value& value) {
    return value.is_string() || value.sequence() != nullptr;
  };
  if (op == BinaryOp::kAdd && a.is_string() && b.is_string()) return AddTexts(a, b, budget);
  if (op == BinaryOp::kAdd && a.kind() == b.kind() && a.sequence() != nullptr) {
    return AddSequences(a, b, budget);
  }
  if (op == BinaryOp::kMultiply && repeats(a) && b_is_int) return Repeat(a, y, budget);
  if (op == BinaryOp::kMultiply && a_is_int && repeats(b)) return Repeat(b, x, budget);
  return WrongTypes(op, a, b);
}

Result<Value> Plus(const Value& value) {
  GDN_RETURN_IF_ERROR(CheckDefined(value));
  Int number = 0;
  if (AsInt(value, number)) return Value(number);
  if (value.Is(Value::Kind::kFloat)) return value;
  return InvalidArgument(StrCat("'+' needs a number, not a ", TypeName(value)));
}

Result<Value> Negate(const Value& value) {
  GDN_RETURN_IF_ERROR(CheckDefined(value));
  Int number = 0;
  if (AsInt(value, number)) return IntBinary(BinaryOp::kSubtract, 0, number);
  if (const auto* d = value.Get<double>()) return Value(-*d);
  return InvalidArgument(StrCat("'-' needs a number, not a ", TypeName(value)));
}

Result<bool> Compare(CompareOp op, const Value& a, const Value& b, Budget& budget) {
  switch (op) {
    case CompareOp::kEqual:
      return Equals(a, b, budget);
    case CompareOp::kNotEqual: {
      GDN_ASSIGN_OR_RETURN(const bool equal, Equals(a, b, budget));
      return !equal;
    }
    case CompareOp::kIn:
      return Contains(b, a, budget);
    case CompareOp::kNotIn: {
      GDN_ASSIGN_OR_RETURN(const bool found, Contains(b, a, budget));
      return !found;
    }
    default:
      break;
  }
  GDN_RETURN_IF_ERROR(CheckDefined(a));
  GDN_RETURN_IF_ERROR(CheckDefined(b));
  const bool swap = op == CompareOp::kGreater || op == CompareOp::kGreaterEqual;
  GDN_ASSIGN_OR_RETURN(const bool less, swap ? Less(b, a, budget) : Less(a, b, budget));
  if (less || op == CompareOp::kLess || op == CompareOp::kGreater) return less;
  return Equals(a, b, budget);
}

}  // namespace gdn::jinja
