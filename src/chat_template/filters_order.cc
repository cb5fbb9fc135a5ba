// SPDX-License-Identifier: Apache-2.0
// Filters that compare the items of a sequence.
#include <algorithm>

#include "base/str.h"
#include "chat_template/compare.h"
#include "chat_template/convert.h"
#include "chat_template/dict.h"
#include "chat_template/filters.h"
#include "chat_template/operators.h"
#include "chat_template/sort.h"

namespace gdn::jinja {
namespace {

struct KeyedItem {
  Value key;
  Value item;
};

Result<Value> KeyOf(const Value& item, const Value* attribute, bool case_sensitive,
                    Runtime& runtime) {
  GDN_RETURN_IF_ERROR(runtime.budget.Spend(1));
  GDN_ASSIGN_OR_RETURN(Value key, AttributeOf(item, attribute, runtime));
  if (case_sensitive) return key;
  return IgnoreCase(key, runtime.budget);
}

// The key of sort(attribute="a,b"): one value for each name.
Result<Value> SortKeyOf(const Value& item, const Value* attribute, bool case_sensitive,
                        Runtime& runtime) {
  if (attribute == nullptr || !attribute->is_string() ||
      attribute->text().find(',') == std::string::npos) {
    return KeyOf(item, attribute, case_sensitive, runtime);
  }
  std::vector<Value> keys;
  std::string_view rest = attribute->text();
  while (true) {
    const size_t comma = rest.find(',');
    GDN_ASSIGN_OR_RETURN(const Value name,
                         MakeString(std::string(rest.substr(0, comma)), runtime.budget));
    GDN_ASSIGN_OR_RETURN(Value key, KeyOf(item, &name, case_sensitive, runtime));
    keys.push_back(std::move(key));
    if (comma == std::string_view::npos) return MakeList(std::move(keys), runtime.budget);
    rest.remove_prefix(comma + 1);
  }
}

// Equal items keep their order in both directions.
Result<std::vector<Value>> Sorted(std::vector<KeyedItem> items, bool reverse, Runtime& runtime) {
  if (reverse) std::reverse(items.begin(), items.end());
  const auto less = [&](const KeyedItem& a, const KeyedItem& b) -> Result<bool> {
    GDN_RETURN_IF_ERROR(CheckDefined(a.key));
    GDN_RETURN_IF_ERROR(CheckDefined(b.key));
    return Less(a.key, b.key, runtime.budget);
  };
  GDN_RETURN_IF_ERROR(StableSort(items, less));
  if (reverse) std::reverse(items.begin(), items.end());
  std::vector<Value> out;
  for (KeyedItem& item : items) out.push_back(std::move(item.item));
  return out;
}

Result<Value> Sort(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_ASSIGN_OR_RETURN(const SequencePtr items, ItemsOf(self, runtime.budget));
  GDN_ASSIGN_OR_RETURN(const bool reverse, BoolArgument(arguments[0], false));
  GDN_ASSIGN_OR_RETURN(const bool case_sensitive, BoolArgument(arguments[1], false));
  std::vector<KeyedItem> keyed;
  for (const Value& item : items->items) {
    GDN_ASSIGN_OR_RETURN(Value key, SortKeyOf(item, arguments[2], case_sensitive, runtime));
    keyed.push_back({std::move(key), item});
  }
  GDN_ASSIGN_OR_RETURN(std::vector<Value> out, Sorted(std::move(keyed), reverse, runtime));
  return MakeList(std::move(out), runtime.budget);
}

Result<Value> DictSort(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  const DictObject* const dict = self.dict();
  if (dict == nullptr) {
    return InvalidArgument(StrCat("needs a mapping, not a ", TypeName(self)));
  }
  GDN_ASSIGN_OR_RETURN(const bool case_sensitive, BoolArgument(arguments[0], false));
  GDN_ASSIGN_OR_RETURN(const std::string_view by, TextArgument(arguments[1], "by", "key"));
  GDN_ASSIGN_OR_RETURN(const bool reverse, BoolArgument(arguments[2], false));
  if (by != "key" && by != "value") return InvalidArgument("by must be key or value");
  std::vector<KeyedItem> keyed;
  for (const auto& entry : dict->entries()) {
    const Value& sorted_by = by == "key" ? entry.first : entry.second;
    GDN_ASSIGN_OR_RETURN(Value key, KeyOf(sorted_by, nullptr, case_sensitive, runtime));
    GDN_ASSIGN_OR_RETURN(Value pair, MakeTuple({entry.first, entry.second}, runtime.budget));
    keyed.push_back({std::move(key), std::move(pair)});
  }
  GDN_ASSIGN_OR_RETURN(std::vector<Value> out, Sorted(std::move(keyed), reverse, runtime));
  return MakeList(std::move(out), runtime.budget);
}

template <bool want_larger>
Result<Value> Extreme(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_ASSIGN_OR_RETURN(const SequencePtr items, ItemsOf(self, runtime.budget));
  GDN_ASSIGN_OR_RETURN(const bool case_sensitive, BoolArgument(arguments[0], false));
  if (items->items.empty()) {
    return MakeUndefined("an empty sequence has no extreme item", runtime.budget);
  }
  const Value* best = nullptr;
  Value best_key;
  for (const Value& item : items->items) {
    GDN_ASSIGN_OR_RETURN(Value key, KeyOf(item, arguments[1], case_sensitive, runtime));
    bool better = best == nullptr;
    if (!better) {
      GDN_RETURN_IF_ERROR(CheckDefined(key));
      GDN_RETURN_IF_ERROR(CheckDefined(best_key));
      GDN_ASSIGN_OR_RETURN(better, want_larger ? Less(best_key, key, runtime.budget)
                                               : Less(key, best_key, runtime.budget));
    }
    if (!better) continue;
    best = &item;
    best_key = std::move(key);
  }
  return *best;
}

Result<Value> Unique(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_ASSIGN_OR_RETURN(const SequencePtr items, ItemsOf(self, runtime.budget));
  GDN_ASSIGN_OR_RETURN(const bool case_sensitive, BoolArgument(arguments[0], false));
  DictObject seen;
  std::vector<Value> out;
  for (const Value& item : items->items) {
    GDN_ASSIGN_OR_RETURN(Value key, KeyOf(item, arguments[1], case_sensitive, runtime));
    const size_t before = seen.size();
    GDN_RETURN_IF_ERROR(seen.Set(std::move(key), None{}, runtime.budget));
    if (seen.size() > before) out.push_back(item);
  }
  return MakeIterator(std::move(out), runtime.budget);
}

constexpr Builtin kFilters[] = {
    {"sort", Sort, {"reverse", "case_sensitive", "attribute"}},
    {"dictsort", DictSort, {"case_sensitive", "by", "reverse"}},
    {"min", Extreme<false>, {"case_sensitive", "attribute"}},
    {"max", Extreme<true>, {"case_sensitive", "attribute"}},
    {"unique", Unique, {"case_sensitive", "attribute"}},
};

}  // namespace

std::span<const Builtin> OrderFilters() { return kFilters; }

}  // namespace gdn::jinja
