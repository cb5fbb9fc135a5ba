// SPDX-License-Identifier: Apache-2.0
#include "chat_template/print.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/str.h"
#include "chat_template/dict.h"
#include "chat_template/objects.h"
#include "chat_template/text.h"

namespace gdn::jinja {
namespace {

Status Append(std::string_view piece, Budget& budget, std::string& out) {
  GDN_RETURN_IF_ERROR(budget.Allocate(piece.size()));
  out.append(piece);
  return OkStatus();
}

void AppendEscaped(char32_t c, char quote, std::string& out) {
  if (c == static_cast<unsigned char>(quote) || c == '\\') {
    out.append({'\\', static_cast<char>(c)});
  } else if (c == '\n') {
    out.append("\\n");
  } else if (c == '\r') {
    out.append("\\r");
  } else if (c == '\t') {
    out.append("\\t");
  } else if (IsPrintable(c)) {
    AppendUtf8(c, out);
  } else {
    std::array<char, 16> buffer{};
    const char* const format = c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x";
    std::snprintf(buffer.data(), buffer.size(), format, static_cast<unsigned>(c));
    out.append(buffer.data());
  }
}

Status AppendStringRepr(const std::string& text, Budget& budget, std::string& out) {
  // An escape takes at most ten bytes for one of the text.
  GDN_RETURN_IF_ERROR(budget.Allocate(text.size() + 2));
  GDN_RETURN_IF_ERROR(budget.Scan(text.size() * 8));
  const bool single = text.find('\'') != std::string::npos;
  const bool use_double = single && text.find('"') == std::string::npos;
  const char quote = use_double ? '"' : '\'';
  out.push_back(quote);
  for (size_t i = 0; i < text.size();) AppendEscaped(NextCodePoint(text, i), quote, out);
  out.push_back(quote);
  return OkStatus();
}

Status AppendItems(const std::vector<Value>& items, Budget& budget, std::string& out) {
  bool first = true;
  for (const Value& item : items) {
    GDN_RETURN_IF_ERROR(budget.Spend(1));
    if (!first) GDN_RETURN_IF_ERROR(Append(", ", budget, out));
    first = false;
    GDN_RETURN_IF_ERROR(AppendRepr(item, budget, out));
  }
  return OkStatus();
}

Status AppendDict(const DictObject& dict, Budget& budget, std::string& out) {
  out.push_back('{');
  bool first = true;
  for (const auto& [key, value] : dict.entries()) {
    GDN_RETURN_IF_ERROR(budget.Spend(1));
    if (!first) GDN_RETURN_IF_ERROR(Append(", ", budget, out));
    first = false;
    GDN_RETURN_IF_ERROR(AppendRepr(key, budget, out));
    GDN_RETURN_IF_ERROR(Append(": ", budget, out));
    GDN_RETURN_IF_ERROR(AppendRepr(value, budget, out));
  }
  return Append("}", budget, out);
}

Status AppendSequence(const Value& value, Budget& budget, std::string& out) {
  const bool is_list = value.Is(Value::Kind::kList);
  const std::vector<Value>& items = (*value.sequence())->items;
  out.push_back(is_list ? '[' : '(');
  GDN_RETURN_IF_ERROR(AppendItems(items, budget, out));
  if (!is_list && items.size() == 1) out.push_back(',');
  return Append(is_list ? "]" : ")", budget, out);
}

Status AppendView(const ViewObject& view, Budget& budget, std::string& out) {
  GDN_RETURN_IF_ERROR(Append(StrCat(view.type_name, "(["), budget, out));
  GDN_RETURN_IF_ERROR(AppendItems(view.items->items, budget, out));
  return Append("])", budget, out);
}

std::string RangeText(const RangeObject& range) {
  std::string out = StrCat("range(", range.start, ", ", range.stop);
  if (range.step != 1) out += StrCat(", ", range.step);
  return out + ")";
}

}  // namespace

std::string IntText(Int value) {
  std::string digits;
  const bool negative = value < 0;
  auto rest =
      negative ? -static_cast<unsigned __int128>(value) : static_cast<unsigned __int128>(value);
  do {
    digits.push_back(static_cast<char>('0' + static_cast<int>(rest % 10)));
    rest /= 10;
  } while (rest != 0);
  if (negative) digits.push_back('-');
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::string FloatRepr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 40> buffer{};
  char* const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                  std::chars_format::scientific)
                        .ptr;
  const std::string_view shortest(buffer.data(), static_cast<size_t>(end - buffer.data()));
  const size_t e = shortest.find('e');
  int exponent = 0;
  const size_t digits_at = e + (shortest[e + 1] == '+' ? 2 : 1);
  std::from_chars(shortest.data() + digits_at, shortest.data() + shortest.size(), exponent);
  const std::string sign = shortest[0] == '-' ? "-" : "";
  std::string digits;
  for (const char c : shortest.substr(0, e)) {
    if (c >= '0' && c <= '9') digits.push_back(c);
  }
  // Python writes an exponent below 1e-4 and from 1e16 on.
  if (exponent < -4 || exponent >= 16) {
    std::string out = sign + digits.substr(0, 1);
    if (digits.size() > 1) out += "." + digits.substr(1);
    const int magnitude = std::abs(exponent);
    return StrCat(out, "e", exponent < 0 ? "-" : "+", magnitude < 10 ? "0" : "", magnitude);
  }
  if (exponent < 0)
    return sign + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  const size_t whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= whole) return sign + digits + std::string(whole - digits.size(), '0') + ".0";
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

std::string EscapeHtml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case '"':
        out += "&#34;";
        break;
      default:
        out.push_back(c);
    }
  }
  return out;
}

Status AppendRepr(const Value& value, Budget& budget, std::string& out) {
  switch (value.kind()) {
    case Value::Kind::kUndefined:
      return Append("Undefined", budget, out);
    case Value::Kind::kString: {
      if (!value.string().is_markup) return AppendStringRepr(value.text(), budget, out);
      GDN_RETURN_IF_ERROR(Append("Markup(", budget, out));
      GDN_RETURN_IF_ERROR(AppendStringRepr(value.text(), budget, out));
      return Append(")", budget, out);
    }
    default:
      return AppendStr(value, budget, out);
  }
}

Status AppendStr(const Value& value, Budget& budget, std::string& out) {
  switch (value.kind()) {
    case Value::Kind::kUndefined:
      return OkStatus();
    case Value::Kind::kNone:
      return Append("None", budget, out);
    case Value::Kind::kBool:
      return Append(*value.Get<bool>() ? "True" : "False", budget, out);
    case Value::Kind::kInt:
      return Append(IntText(*value.Get<Int>()), budget, out);
    case Value::Kind::kFloat:
      return Append(FloatRepr(*value.Get<double>()), budget, out);
    case Value::Kind::kString:
      return Append(value.text(), budget, out);
    case Value::Kind::kList:
    case Value::Kind::kTuple:
      return AppendSequence(value, budget, out);
    case Value::Kind::kDict:
      return AppendDict(*value.dict(), budget, out);
    case Value::Kind::kView:
      return AppendView(**value.Get<std::shared_ptr<const ViewObject>>(), budget, out);
    case Value::Kind::kRange:
      return Append(RangeText(**value.Get<std::shared_ptr<const RangeObject>>()), budget, out);
    case Value::Kind::kLoop: {
      const auto& loop = *value.Get<std::shared_ptr<LoopObject>>();
      return Append(StrCat("<LoopContext ", loop->index + 1, "/", loop->items->items.size(), ">"),
                    budget, out);
    }
    default:
      return InvalidArgument(
          StrCat("cannot print a ", TypeName(value), ", must be a text, a number or a list"));
  }
}

Result<std::string> Str(const Value& value, Budget& budget) {
  std::string out;
  GDN_RETURN_IF_ERROR(AppendStr(value, budget, out));
  return out;
}

}  // namespace gdn::jinja
