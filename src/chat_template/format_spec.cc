// SPDX-License-Identifier: Apache-2.0
#include "chat_template/format_spec.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/str.h"
#include "chat_template/print.h"
#include "chat_template/text.h"

namespace gdn::jinja {
namespace {

bool IsOneOf(char c, std::string_view wanted) {
  return c != '\0' && wanted.find(c) != std::string_view::npos;
}

Status WrongFormat(char type, std::string_view what) {
  return InvalidArgument(
      StrCat("the format '", std::string(1, type == 0 ? '?' : type), "' does not fit a ", what));
}

// sign and digits with what the width asks for around or between them.
Result<std::string> Pad(std::string_view sign, std::string_view digits, const FormatSpec& spec,
                        char default_align, Budget& budget) {
  const char align = spec.align == 0 ? default_align : spec.align;
  const auto size = static_cast<int64_t>(sign.size() + CountCodePoints(digits));
  const int64_t missing = std::max<int64_t>(spec.width - size, 0);
  GDN_RETURN_IF_ERROR(budget.Allocate(digits.size() + static_cast<uint64_t>(missing) * 4));
  const int64_t before = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
  std::string fill;
  for (int64_t i = 0; i < before; ++i) fill += spec.fill;
  std::string out = align == '=' ? StrCat(sign, fill, digits) : StrCat(fill, sign, digits);
  for (int64_t i = before; i < missing; ++i) out += spec.fill;
  return out;
}

std::string Grouped(std::string_view digits, char separator, size_t group) {
  if (separator == 0) return std::string(digits);
  const size_t whole = std::min(digits.find_first_not_of("0123456789abcdefABCDEF"), digits.size());
  std::string out;
  for (size_t i = 0; i < whole; ++i) {
    if (i > 0 && (whole - i) % group == 0) out.push_back(separator);
    out.push_back(digits[i]);
  }
  return out.append(digits.substr(whole));
}

std::string Digits(unsigned __int128 value, unsigned base, bool upper) {
  std::string out;
  do {
    const auto digit = static_cast<unsigned>(value % base);
    out.push_back(static_cast<char>(digit < 10 ? '0' + digit : (upper ? 'A' : 'a') + digit - 10));
    value /= base;
  } while (value != 0);
  std::reverse(out.begin(), out.end());
  return out;
}

std::string SignOf(bool negative, const FormatSpec& spec) {
  if (negative) return "-";
  return spec.sign == '-' ? "" : std::string(1, spec.sign);
}

std::string Printf(char type, int precision, bool alternate, double value) {
  const std::string format = StrCat(alternate ? "%#." : "%.", "*", type);
  const int size = std::snprintf(nullptr, 0, format.c_str(), precision, value);
  std::string out(static_cast<size_t>(size) + 1, '\0');
  std::snprintf(out.data(), out.size(), format.c_str(), precision, value);
  out.pop_back();
  return out;
}

}  // namespace

Result<int64_t> ReadWidth(std::string_view text, size_t& i) {
  int64_t value = 0;
  for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
    value = value * 10 + (text[i] - '0');
    if (value > kMaxWidth) {
      return InvalidArgument(StrCat("a width or precision must be at most ", kMaxWidth));
    }
  }
  return value;
}

Result<FormatSpec> ParseFormatSpec(std::string_view text) {
  FormatSpec spec;
  size_t i = 0;
  const auto peek = [&] { return i < text.size() ? text[i] : '\0'; };
  if (!text.empty()) {
    size_t next = 0;
    NextCodePoint(text, next);
    if (next < text.size() && IsOneOf(text[next], "<>=^")) {
      spec.fill = text.substr(0, next);
      spec.align = text[next];
      i = next + 1;
    } else if (IsOneOf(text[0], "<>=^")) {
      spec.align = text[i++];
    }
  }
  if (IsOneOf(peek(), "+- ")) spec.sign = text[i++];
  if (peek() == '#') {
    spec.alternate = true;
    ++i;
  }
  if (peek() == '0') {
    if (spec.align == 0) {
      spec.align = '=';
      spec.fill = "0";
    }
    ++i;
  }
  GDN_ASSIGN_OR_RETURN(spec.width, ReadWidth(text, i));
  if (IsOneOf(peek(), ",_")) spec.grouping = text[i++];
  if (peek() == '.') {
    const size_t begin = ++i;
    GDN_ASSIGN_OR_RETURN(spec.precision, ReadWidth(text, i));
    if (i == begin) return InvalidArgument("a format has no digits behind '.'");
  }
  if (i < text.size()) spec.type = text[i++];
  if (i < text.size()) return InvalidArgument(StrCat("cannot read the format ", Quoted(text, 40)));
  return spec;
}

Result<std::string> FormatText(std::string_view text, const FormatSpec& spec, Budget& budget) {
  if (!(spec.type == 0 || spec.type == 's') || spec.sign != '-' || spec.grouping != 0 ||
      spec.align == '=' || spec.alternate) {
    return WrongFormat(spec.type, "str");
  }
  if (spec.precision >= 0) {
    text = text.substr(0, ByteOffset(text, static_cast<size_t>(spec.precision)));
  }
  return Pad("", text, spec, '<', budget);
}

Result<std::string> FormatInt(Int value, const FormatSpec& spec, Budget& budget) {
  if (IsOneOf(spec.type, "eEfFgG%")) {
    return FormatFloat(static_cast<double>(value), spec, budget);
  }
  const bool negative = value < 0;
  const auto magnitude =
      negative ? -static_cast<unsigned __int128>(value) : static_cast<unsigned __int128>(value);
  std::string sign = SignOf(negative, spec);
  if (spec.precision >= 0) return InvalidArgument("a format of an int has a precision");
  switch (spec.type) {
    case 0:
    case 'd':
      return Pad(sign, Grouped(Digits(magnitude, 10, false), spec.grouping, 3), spec, '>', budget);
    case 'b':
    case 'o':
    case 'x':
    case 'X': {
      if (spec.grouping == ',') return WrongFormat(spec.type, "grouping with ','");
      const unsigned base = spec.type == 'b' ? 2 : spec.type == 'o' ? 8 : 16;
      if (spec.alternate) sign += StrCat("0", spec.type);
      return Pad(sign, Grouped(Digits(magnitude, base, spec.type == 'X'), spec.grouping, 4), spec,
                 '>', budget);
    }
    case 'c': {
      if (negative || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) {
        return InvalidArgument("an int is no character");
      }
      std::string text;
      AppendUtf8(static_cast<char32_t>(value), text);
      return Pad("", text, spec, '<', budget);
    }
    default:
      return WrongFormat(spec.type, "int");
  }
}

Result<std::string> FormatFloat(double value, const FormatSpec& spec, Budget& budget) {
  const bool negative = std::signbit(value) && !std::isnan(value);
  const double magnitude = std::fabs(value);
  const std::string sign = SignOf(negative, spec);
  if (spec.type != 0 && !IsOneOf(spec.type, "eEfFgG%")) return WrongFormat(spec.type, "float");
  GDN_RETURN_IF_ERROR(
      budget.Allocate(400 + static_cast<uint64_t>(std::max<int64_t>(spec.precision, 0))));
  std::string digits;
  if (!std::isfinite(magnitude)) {
    digits = std::isnan(magnitude) ? "nan" : "inf";
    if (IsOneOf(spec.type, "EFG")) digits = ToUpper(digits);
    if (spec.type == '%') digits += "%";
  } else if (spec.type == 0) {
    if (spec.precision >= 0) {
      return Status(StatusCode::kUnsupported, "a precision without a type is not supported");
    }
    digits = FloatRepr(magnitude);
  } else {
    const int precision = spec.precision < 0 ? 6 : static_cast<int>(spec.precision);
    const bool percent = spec.type == '%';
    digits = Printf(percent ? 'f' : spec.type, precision, spec.alternate,
                    percent ? magnitude * 100 : magnitude);
    if (percent) digits += "%";
  }
  return Pad(sign, Grouped(digits, spec.grouping, 3), spec, '>', budget);
}

Result<std::string> FormatValue(const Value& value, std::string_view spec, Budget& budget) {
  if (spec.empty()) return Str(value, budget);
  GDN_ASSIGN_OR_RETURN(const FormatSpec parsed, ParseFormatSpec(spec));
  if (value.is_string()) return FormatText(value.text(), parsed, budget);
  Int number = 0;
  if (AsInt(value, number)) return FormatInt(number, parsed, budget);
  if (const auto* d = value.Get<double>()) return FormatFloat(*d, parsed, budget);
  return WrongFormat(parsed.type, TypeName(value));
}

}  // namespace gdn::jinja
