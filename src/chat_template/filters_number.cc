// SPDX-License-Identifier: Apache-2.0
// Filters about numbers.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/str.h"
#include "chat_template/convert.h"
#include "chat_template/filters.h"
#include "chat_template/operators.h"

namespace gdn::jinja {
namespace {

Result<Value> Abs(Runtime&, const Value& self, const BoundArguments&) {
  GDN_RETURN_IF_ERROR(CheckDefined(self));
  Int number = 0;
  if (AsInt(self, number)) return number < 0 ? Negate(self) : Value(number);
  if (const auto* d = self.Get<double>()) return Value(std::fabs(*d));
  return InvalidArgument(StrCat("needs a number, not a ", TypeName(self)));
}

// int(x) of a float that has one.
std::optional<Int> Truncated(double value) {
  if (!(std::fabs(value) < 0x1p126)) return std::nullopt;
  return static_cast<Int>(value);
}

Result<Value> ToInt(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_RETURN_IF_ERROR(CheckDefined(self));
  const Value fallback = arguments[0] == nullptr ? Value(0) : *arguments[0];
  GDN_ASSIGN_OR_RETURN(const int64_t base, IntArgument(arguments[1], "base", 10));
  Int number = 0;
  if (AsInt(self, number)) return Value(number);
  std::optional<Int> found;
  if (const auto* d = self.Get<double>()) {
    found = Truncated(*d);
  } else if (self.is_string()) {
    GDN_RETURN_IF_ERROR(runtime.budget.Scan(self.text().size()));
    found = ParseInt(self.text(), base < 0 || base > 36 ? 1 : static_cast<int>(base));
    if (!found) {
      const std::optional<double> real = ParseFloat(self.text());
      if (real) found = Truncated(*real);
    }
  }
  return found ? Value(*found) : fallback;
}

Result<Value> ToFloat(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_RETURN_IF_ERROR(CheckDefined(self));
  double number = 0;
  if (AsDouble(self, number)) return Value(number);
  if (self.is_string()) {
    GDN_RETURN_IF_ERROR(runtime.budget.Scan(self.text().size()));
    if (const auto found = ParseFloat(self.text())) return Value(*found);
  }
  return arguments[0] == nullptr ? Value(0.0) : *arguments[0];
}

// To the nearest decimal, a tie to the even one: the digits that printf writes.
double RoundDecimal(double value, int64_t precision) {
  if (!std::isfinite(value) || precision > 340) return value;
  if (precision < 0) {
    const double scale = std::pow(10.0, static_cast<double>(-precision));
    if (!std::isfinite(scale)) return std::copysign(0.0, value);
    return std::nearbyint(value / scale) * scale;
  }
  char buffer[700];
  std::snprintf(buffer, sizeof(buffer), "%.*f", static_cast<int>(precision), value);
  return std::strtod(buffer, nullptr);
}

Result<Value> RoundInt(Int value, int64_t precision, Budget& budget) {
  if (precision >= 0) return Value(value);
  if (precision < -38) return Value(0);
  GDN_ASSIGN_OR_RETURN(const Value power,
                       Binary(BinaryOp::kPower, Value(10), Value(-precision), budget));
  const Int scale = *power.Get<Int>();
  const Int quotient = value / scale;
  const Int rest = value % scale;
  const Int twice = (rest < 0 ? -rest : rest) * 2;
  const bool away = twice > scale || (twice == scale && quotient % 2 != 0);
  return Value((quotient + (away ? (value < 0 ? -1 : 1) : 0)) * scale);
}

Result<Value> Round(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_RETURN_IF_ERROR(CheckDefined(self));
  GDN_ASSIGN_OR_RETURN(const int64_t precision, IntArgument(arguments[0], "precision", 0));
  GDN_ASSIGN_OR_RETURN(const std::string_view method,
                       TextArgument(arguments[1], "method", "common"));
  if (method != "common" && method != "ceil" && method != "floor") {
    return InvalidArgument("method must be common, ceil or floor");
  }
  if (precision < -400 || precision > 400) return InvalidArgument("precision is out of range");
  Int number = 0;
  if (method == "common" && AsInt(self, number)) return RoundInt(number, precision, runtime.budget);
  double value = 0;
  if (!AsDouble(self, value)) {
    return InvalidArgument(StrCat("needs a number, not a ", TypeName(self)));
  }
  if (method == "common") return Value(RoundDecimal(value, precision));
  const double scale = std::pow(10.0, static_cast<double>(precision));
  const double scaled = value * scale;
  return Value((method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / scale);
}

Result<Value> Sum(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_ASSIGN_OR_RETURN(const SequencePtr items, ItemsOf(self, runtime.budget));
  Value total = arguments[1] == nullptr ? Value(0) : *arguments[1];
  if (total.is_string()) return InvalidArgument("cannot sum texts, must use join");
  for (const Value& item : items->items) {
    GDN_RETURN_IF_ERROR(runtime.budget.Spend(1));
    GDN_ASSIGN_OR_RETURN(const Value value, AttributeOf(item, arguments[0], runtime));
    GDN_ASSIGN_OR_RETURN(total, Binary(BinaryOp::kAdd, total, value, runtime.budget));
  }
  return total;
}

constexpr Builtin kFilters[] = {
    {"abs", Abs},
    {"int", ToInt, {"default", "base"}},
    {"float", ToFloat, {"default"}},
    {"round", Round, {"precision", "method"}},
    {"sum", Sum, {"attribute", "start"}},
};

}  // namespace

std::span<const Builtin> NumberFilters() { return kFilters; }

}  // namespace gdn::jinja
