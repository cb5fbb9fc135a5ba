// SPDX-License-Identifier: Apache-2.0
#include "chat_template/compare.h"

#include <algorithm>

#include "base/str.h"
#include "chat_template/dict.h"
#include "chat_template/objects.h"
#include "chat_template/text_search.h"

namespace gdn::jinja {
namespace {

enum class Order { kLess, kEqual, kGreater, kUnordered };

bool IsNumber(const Value& value) {
  return value.Is(Value::Kind::kBool) || value.Is(Value::Kind::kInt) ||
         value.Is(Value::Kind::kFloat);
}

template <class T>
Order OrderOf(const T& a, const T& b) {
  if (a < b) return Order::kLess;
  if (b < a) return Order::kGreater;
  return a == b ? Order::kEqual : Order::kUnordered;
}

Order CompareNumbers(const Value& a, const Value& b) {
  Int x = 0;
  Int y = 0;
  if (AsInt(a, x) && AsInt(b, y)) return OrderOf(x, y);
  double u = 0;
  double v = 0;
  AsDouble(a, u);
  AsDouble(b, v);
  return OrderOf(u, v);
}

Result<bool> SequencesEqual(const SequencePtr& a, const SequencePtr& b, Budget& budget) {
  if (a == b) return true;
  if (a->items.size() != b->items.size()) return false;
  for (size_t i = 0; i < a->items.size(); ++i) {
    GDN_ASSIGN_OR_RETURN(const bool equal, Equals(a->items[i], b->items[i], budget));
    if (!equal) return false;
  }
  return true;
}

Result<bool> DictsEqual(const DictObject& a, const DictObject& b, Budget& budget) {
  if (&a == &b) return true;
  if (a.size() != b.size()) return false;
  for (const auto& [key, value] : a.entries()) {
    GDN_ASSIGN_OR_RETURN(const Value* const other, b.Find(key, budget));
    if (other == nullptr) return false;
    GDN_ASSIGN_OR_RETURN(const bool equal, Equals(value, *other, budget));
    if (!equal) return false;
  }
  return true;
}

Result<bool> RangesEqual(const RangeObject& a, const RangeObject& b) {
  if (a.size != b.size) return false;
  return a.size == 0 || (a.start == b.start && (a.size == 1 || a.step == b.step));
}

// Texts compare by code points, which is the order of the bytes of UTF-8.
Result<Order> CompareTexts(const Value& a, const Value& b, Budget& budget) {
  GDN_RETURN_IF_ERROR(budget.Scan(std::min(a.text().size(), b.text().size())));
  const int order = a.text().compare(b.text());
  return order < 0 ? Order::kLess : order > 0 ? Order::kGreater : Order::kEqual;
}

}  // namespace

Result<bool> Equals(const Value& a, const Value& b, Budget& budget) {
  GDN_RETURN_IF_ERROR(budget.Spend(1));
  if (IsNumber(a) && IsNumber(b)) return CompareNumbers(a, b) == Order::kEqual;
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Value::Kind::kUndefined:
    case Value::Kind::kNone:
      return true;
    case Value::Kind::kString: {
      if (a.text().size() != b.text().size()) return false;
      GDN_ASSIGN_OR_RETURN(const Order order, CompareTexts(a, b, budget));
      return order == Order::kEqual;
    }
    case Value::Kind::kList:
    case Value::Kind::kTuple:
      return SequencesEqual(*a.sequence(), *b.sequence(), budget);
    case Value::Kind::kDict:
      return DictsEqual(*a.dict(), *b.dict(), budget);
    case Value::Kind::kRange:
      return RangesEqual(**a.Get<std::shared_ptr<const RangeObject>>(),
                         **b.Get<std::shared_ptr<const RangeObject>>());
    default:
      return SameObject(a, b);
  }
}

Result<bool> Less(const Value& a, const Value& b, Budget& budget) {
  GDN_RETURN_IF_ERROR(budget.Spend(1));
  if (IsNumber(a) && IsNumber(b)) return CompareNumbers(a, b) == Order::kLess;
  if (a.is_string() && b.is_string()) {
    GDN_ASSIGN_OR_RETURN(const Order order, CompareTexts(a, b, budget));
    return order == Order::kLess;
  }
  if (a.kind() != b.kind() || a.sequence() == nullptr) {
    return InvalidArgument(
        StrCat("cannot order ", TypeName(a), " and ", TypeName(b), ", must be two of one type"));
  }
  const std::vector<Value>& x = (*a.sequence())->items;
  const std::vector<Value>& y = (*b.sequence())->items;
  for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    GDN_ASSIGN_OR_RETURN(const bool equal, Equals(x[i], y[i], budget));
    if (!equal) return Less(x[i], y[i], budget);
  }
  return x.size() < y.size();
}

namespace {

Result<bool> SequenceContains(const std::vector<Value>& items, const Value& item, Budget& budget) {
  for (const Value& other : items) {
    GDN_ASSIGN_OR_RETURN(const bool equal, Equals(other, item, budget));
    if (equal) return true;
  }
  return false;
}

Result<bool> IteratorContains(IteratorObject& iterator, const Value& item, Budget& budget) {
  while (iterator.next < iterator.items->items.size()) {
    GDN_ASSIGN_OR_RETURN(const bool equal,
                         Equals(iterator.items->items[iterator.next++], item, budget));
    if (equal) return true;
  }
  return false;
}

Result<bool> RangeContains(const RangeObject& range, const Value& item) {
  double number = 0;
  if (!AsDouble(item, number)) return false;
  // Exact: the bounds of a range are far below 2^53.
  const double offset = number - static_cast<double>(range.start);
  const double steps = offset / static_cast<double>(range.step);
  if (!(steps >= 0 && steps < static_cast<double>(range.size))) return false;
  return static_cast<double>(range.At(static_cast<int64_t>(steps))) == number;
}

}  // namespace

Result<bool> Contains(const Value& container, const Value& item, Budget& budget) {
  switch (container.kind()) {
    case Value::Kind::kUndefined:
      return false;
    case Value::Kind::kString:
      if (!item.is_string()) {
        return InvalidArgument(
            StrCat("'in' a str asks for a ", TypeName(item), ", must ask for a str"));
      }
      GDN_RETURN_IF_ERROR(budget.Scan(container.text().size()));
      return FindText(container.text(), item.text(), 0) != std::string_view::npos;
    case Value::Kind::kList:
    case Value::Kind::kTuple:
      return SequenceContains((*container.sequence())->items, item, budget);
    case Value::Kind::kDict: {
      GDN_ASSIGN_OR_RETURN(const Value* const found, container.dict()->Find(item, budget));
      return found != nullptr;
    }
    case Value::Kind::kView:
      return SequenceContains((*container.Get<std::shared_ptr<const ViewObject>>())->items->items,
                              item, budget);
    case Value::Kind::kIterator:
      return IteratorContains(**container.Get<std::shared_ptr<IteratorObject>>(), item, budget);
    case Value::Kind::kRange:
      return RangeContains(**container.Get<std::shared_ptr<const RangeObject>>(), item);
    default:
      return InvalidArgument(
          StrCat("'in' needs a text, list or mapping, not a ", TypeName(container)));
  }
}

bool SameObject(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Value::Kind::kUndefined:
      return a.Get<Undefined>()->why == b.Get<Undefined>()->why;
    case Value::Kind::kNone:
      return true;
    case Value::Kind::kBool:
      return *a.Get<bool>() == *b.Get<bool>();
    case Value::Kind::kInt:
      return *a.Get<Int>() == *b.Get<Int>();
    case Value::Kind::kFloat:
      return *a.Get<double>() == *b.Get<double>();
    case Value::Kind::kString:
      return a.Get<StringPtr>()->get() == b.Get<StringPtr>()->get();
    case Value::Kind::kList:
    case Value::Kind::kTuple:
      return *a.sequence() == *b.sequence();
    case Value::Kind::kDict:
      return a.dict() == b.dict();
    case Value::Kind::kView:
      return *a.Get<std::shared_ptr<const ViewObject>>() ==
             *b.Get<std::shared_ptr<const ViewObject>>();
    case Value::Kind::kIterator:
      return *a.Get<std::shared_ptr<IteratorObject>>() == *b.Get<std::shared_ptr<IteratorObject>>();
    case Value::Kind::kRange:
      return *a.Get<std::shared_ptr<const RangeObject>>() ==
             *b.Get<std::shared_ptr<const RangeObject>>();
    case Value::Kind::kNamespace:
      return *a.Get<NamespaceObject*>() == *b.Get<NamespaceObject*>();
    case Value::Kind::kCallable:
      return *a.Get<std::shared_ptr<CallableObject>>() == *b.Get<std::shared_ptr<CallableObject>>();
    case Value::Kind::kLoop:
      return *a.Get<std::shared_ptr<LoopObject>>() == *b.Get<std::shared_ptr<LoopObject>>();
  }
  return false;
}

}  // namespace gdn::jinja
