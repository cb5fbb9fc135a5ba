// SPDX-License-Identifier: Apache-2.0
#include "chat_template/convert.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/str.h"
#include "chat_template/dict.h"
#include "chat_template/objects.h"
#include "chat_template/operators.h"
#include "chat_template/text.h"

namespace gdn::jinja {
namespace {

Result<SequencePtr> CharactersOf(const Value& value, Budget& budget) {
  const std::string& text = value.text();
  GDN_RETURN_IF_ERROR(budget.Spend(text.size()));
  std::vector<Value> items;
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    NextCodePoint(text, i);
    GDN_ASSIGN_OR_RETURN(Value character, MakeString(text.substr(begin, i - begin), budget));
    items.push_back(std::move(character));
  }
  return MakeSequence(std::move(items), budget);
}

Result<SequencePtr> KeysOf(const DictObject& dict, Budget& budget) {
  GDN_RETURN_IF_ERROR(budget.Spend(dict.size()));
  std::vector<Value> items;
  for (const auto& entry : dict.entries()) items.push_back(entry.first);
  return MakeSequence(std::move(items), budget);
}

Result<SequencePtr> NumbersOf(const RangeObject& range, Budget& budget) {
  GDN_RETURN_IF_ERROR(budget.Spend(static_cast<uint64_t>(range.size)));
  std::vector<Value> items;
  for (int64_t i = 0; i < range.size; ++i) items.emplace_back(range.At(i));
  return MakeSequence(std::move(items), budget);
}

// The rest of an iterator, which is empty from now on.
Result<SequencePtr> RestOf(IteratorObject& iterator, Budget& budget) {
  const std::vector<Value>& items = iterator.items->items;
  const size_t next = std::exchange(iterator.next, items.size());
  if (next == 0) return iterator.items;
  return MakeSequence({items.begin() + static_cast<int64_t>(next), items.end()}, budget);
}

std::string WithoutUnderscores(std::string_view text, bool& well_formed) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out.push_back(text[i]);
      continue;
    }
    const auto is_alnum = [&](size_t at) {
      return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
    };
    if (i == 0 || !is_alnum(i - 1) || !is_alnum(i + 1)) well_formed = false;
  }
  return out;
}

}  // namespace

Result<SequencePtr> ItemsOf(const Value& value, Budget& budget) {
  switch (value.kind()) {
    case Value::Kind::kUndefined:
      return MakeSequence({}, budget);
    case Value::Kind::kString:
      return CharactersOf(value, budget);
    case Value::Kind::kList:
    case Value::Kind::kTuple:
      return *value.sequence();
    case Value::Kind::kDict:
      return KeysOf(*value.dict(), budget);
    case Value::Kind::kView:
      return (*value.Get<std::shared_ptr<const ViewObject>>())->items;
    case Value::Kind::kIterator:
      return RestOf(**value.Get<std::shared_ptr<IteratorObject>>(), budget);
    case Value::Kind::kRange:
      return NumbersOf(**value.Get<std::shared_ptr<const RangeObject>>(), budget);
    default:
      return InvalidArgument(
          StrCat("cannot go through a ", TypeName(value), ", must be a list, mapping or text"));
  }
}

Result<int64_t> LengthOf(const Value& value, Budget& budget) {
  switch (value.kind()) {
    case Value::Kind::kUndefined:
      return 0;
    case Value::Kind::kString: {
      const StringObject& string = value.string();
      if (string.is_ascii) return static_cast<int64_t>(string.text.size());
      GDN_RETURN_IF_ERROR(budget.Scan(string.text.size()));
      return static_cast<int64_t>(CountCodePoints(string.text));
    }
    case Value::Kind::kList:
    case Value::Kind::kTuple:
      return static_cast<int64_t>((*value.sequence())->items.size());
    case Value::Kind::kDict:
      return static_cast<int64_t>(value.dict()->size());
    case Value::Kind::kView:
      return static_cast<int64_t>(
          (*value.Get<std::shared_ptr<const ViewObject>>())->items->items.size());
    case Value::Kind::kRange:
      return (*value.Get<std::shared_ptr<const RangeObject>>())->size;
    case Value::Kind::kLoop:
      return static_cast<int64_t>((*value.Get<std::shared_ptr<LoopObject>>())->items->items.size());
    default:
      return InvalidArgument(StrCat("a ", TypeName(value), " has no length"));
  }
}

std::optional<Int> ParseInt(std::string_view text, int base) {
  text = StripSpace(text, /*left=*/true, /*right=*/true);
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  const int radix = text.size() > 2 && text[0] == '0' ? ((text[1] | 0x20) == 'x'   ? 16
                                                         : (text[1] | 0x20) == 'o' ? 8
                                                         : (text[1] | 0x20) == 'b' ? 2
                                                                                   : 0)
                                                      : 0;
  if (radix != 0 && (base == 0 || base == radix)) {
    text.remove_prefix(2);
    base = radix;
  }
  if (base == 0) base = 10;
  bool well_formed = base >= 2 && base <= 36;
  const std::string digits = WithoutUnderscores(text, well_formed);
  if (!well_formed || digits.empty()) return std::nullopt;
  Int value = 0;
  for (const char c : digits) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'z' ? c - 'a' + 10
                      : c >= 'A' && c <= 'Z' ? c - 'A' + 10
                                             : 99;
    if (digit >= base || __builtin_mul_overflow(value, Int{base}, &value) ||
        __builtin_add_overflow(value, Int{digit}, &value)) {
      return std::nullopt;
    }
  }
  return negative ? -value : value;
}

std::optional<double> ParseFloat(std::string_view text) {
  bool well_formed = true;
  std::string number =
      WithoutUnderscores(StripSpace(text, /*left=*/true, /*right=*/true), well_formed);
  std::transform(number.begin(), number.end(), number.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  bool negative = false;
  std::string_view rest = number;
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) {
    negative = rest[0] == '-';
    rest.remove_prefix(1);
  }
  if (!well_formed || rest.empty() || rest[0] == '-' || rest[0] == '+') return std::nullopt;
  double value = 0;
  if (rest == "inf" || rest == "infinity") {
    value = std::numeric_limits<double>::infinity();
  } else if (rest == "nan") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else {
    if (rest.find_first_not_of("0123456789.e+-") != std::string_view::npos) return std::nullopt;
    const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (parsed.ptr != rest.data() + rest.size() || parsed.ec == std::errc::invalid_argument) {
      return std::nullopt;
    }
    // Beyond the range from_chars leaves the value alone; strtod gives 0 or infinity.
    if (parsed.ec != std::errc()) value = std::strtod(std::string(rest).c_str(), nullptr);
  }
  return negative ? -value : value;
}

}  // namespace gdn::jinja
