// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "base/str.h"
#include "chat_template/operators.h"
#include "chat_template/text.h"

namespace gdn::jinja {
namespace {

// The elements start, start + step, ... of a sequence.
struct Selection {
  int64_t start;
  int64_t step;
  int64_t count;
};

Result<int64_t> Bound(const Value& value, int64_t fallback) {
  if (value.is_none()) return fallback;
  GDN_RETURN_IF_ERROR(CheckDefined(value));
  Int number = 0;
  if (!AsInt(value, number)) {
    return InvalidArgument(
        StrCat("a slice has a bound of type ", TypeName(value), ", must be an int or none"));
  }
  // Sizes are far below 2^40, so what lies beyond it is beyond the end.
  constexpr Int kFar = Int{1} << 40;
  return static_cast<int64_t>(std::clamp<Int>(number, -kFar, kFar));
}

Result<Selection> Select(int64_t size, const Value& start, const Value& stop, const Value& step) {
  GDN_ASSIGN_OR_RETURN(const int64_t by, Bound(step, 1));
  if (by == 0) return InvalidArgument("a slice has the step 0");
  const int64_t lowest = by > 0 ? 0 : -1;
  const int64_t highest = by > 0 ? size : size - 1;
  const auto clip = [&](int64_t bound) {
    return std::clamp(bound < 0 ? bound + size : bound, lowest, highest);
  };
  GDN_ASSIGN_OR_RETURN(int64_t from, Bound(start, 0));
  GDN_ASSIGN_OR_RETURN(int64_t to, Bound(stop, 0));
  from = start.is_none() ? (by > 0 ? 0 : size - 1) : clip(from);
  to = stop.is_none() ? (by > 0 ? size : -1) : clip(to);
  const int64_t distance = by > 0 ? to - from : from - to;
  const int64_t stride = by > 0 ? by : -by;
  return Selection{from, by, distance <= 0 ? 0 : (distance + stride - 1) / stride};
}

Result<Value> SliceText(const Value& value, const Value& start, const Value& stop,
                        const Value& step, Budget& budget) {
  const std::string& text = value.text();
  GDN_RETURN_IF_ERROR(budget.Scan(text.size()));
  const bool is_ascii = value.string().is_ascii;
  const auto size = static_cast<int64_t>(is_ascii ? text.size() : CountCodePoints(text));
  GDN_ASSIGN_OR_RETURN(const Selection selection, Select(size, start, stop, step));
  const bool is_markup = value.string().is_markup;
  if (selection.count == 0) return MakeString({}, budget, is_markup);
  const auto offset = [&](int64_t index) {
    return is_ascii ? static_cast<size_t>(index) : ByteOffset(text, static_cast<size_t>(index));
  };
  if (selection.step == 1) {
    const size_t begin = offset(selection.start);
    const size_t end = offset(selection.start + selection.count);
    return MakeString(text.substr(begin, end - begin), budget, is_markup);
  }
  GDN_RETURN_IF_ERROR(budget.Spend(text.size()));
  GDN_RETURN_IF_ERROR(budget.Allocate(text.size() * sizeof(size_t)));
  std::vector<size_t> offsets;
  for (size_t i = 0; i < text.size(); NextCodePoint(text, i)) offsets.push_back(i);
  offsets.push_back(text.size());
  std::string out;
  for (int64_t i = 0; i < selection.count; ++i) {
    const auto at = static_cast<size_t>(selection.start + i * selection.step);
    out.append(text, offsets[at], offsets[at + 1] - offsets[at]);
  }
  return MakeString(std::move(out), budget, is_markup);
}

Result<Value> SliceRange(const RangeObject& range, const Value& start, const Value& stop,
                         const Value& step) {
  GDN_ASSIGN_OR_RETURN(const Selection selection, Select(range.size, start, stop, step));
  const int64_t by = range.step * selection.step;
  const int64_t first = range.At(selection.start);
  return Value(std::make_shared<const RangeObject>(
      RangeObject{first, first + by * selection.count, by, selection.count}));
}

}  // namespace

Result<Value> Slice(const Value& object, const Value& start, const Value& stop, const Value& step,
                    Budget& budget) {
  GDN_RETURN_IF_ERROR(CheckDefined(object));
  if (object.is_string()) return SliceText(object, start, stop, step, budget);
  if (const auto* range = object.Get<std::shared_ptr<const RangeObject>>()) {
    return SliceRange(**range, start, stop, step);
  }
  if (object.sequence() == nullptr) {
    return InvalidArgument(StrCat("cannot slice a ", TypeName(object)));
  }
  const std::vector<Value>& items = (*object.sequence())->items;
  GDN_ASSIGN_OR_RETURN(const Selection selection,
                       Select(static_cast<int64_t>(items.size()), start, stop, step));
  GDN_RETURN_IF_ERROR(budget.Spend(static_cast<uint64_t>(selection.count)));
  std::vector<Value> out;
  out.reserve(static_cast<size_t>(selection.count));
  for (int64_t i = 0; i < selection.count; ++i) {
    out.push_back(items[static_cast<size_t>(selection.start + i * selection.step)]);
  }
  return object.Is(Value::Kind::kList) ? MakeList(std::move(out), budget)
                                       : MakeTuple(std::move(out), budget);
}

}  // namespace gdn::jinja
