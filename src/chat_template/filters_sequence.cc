// SPDX-License-Identifier: Apache-2.0
// Filters that take a sequence apart, or measure it.
#include "base/str.h"
#include "chat_template/attributes.h"
#include "chat_template/convert.h"
#include "chat_template/dict.h"
#include "chat_template/filters.h"
#include "chat_template/operators.h"
#include "chat_template/print.h"
#include "chat_template/text.h"

namespace gdn::jinja {
namespace {

Result<Value> Length(Runtime& runtime, const Value& self, const BoundArguments&) {
  GDN_ASSIGN_OR_RETURN(const int64_t length, LengthOf(self, runtime.budget));
  return Value(length);
}

Result<Value> Default(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_ASSIGN_OR_RETURN(const bool of_false, BoolArgument(arguments[1], false));
  if (!self.is_undefined() && (!of_false || Truth(self))) return self;
  if (arguments[0] != nullptr) return *arguments[0];
  return MakeString({}, runtime.budget);
}

Result<Value> First(Runtime& runtime, const Value& self, const BoundArguments&) {
  if (const auto* iterator = self.Get<std::shared_ptr<IteratorObject>>()) {
    IteratorObject& object = **iterator;
    if (object.next < object.items->items.size()) return object.items->items[object.next++];
  } else {
    GDN_ASSIGN_OR_RETURN(const SequencePtr items, ItemsOf(self, runtime.budget));
    if (!items->items.empty()) return items->items.front();
  }
  return MakeUndefined("an empty sequence has no first item", runtime.budget);
}

Result<Value> Last(Runtime& runtime, const Value& self, const BoundArguments&) {
  if (self.Is(Value::Kind::kIterator)) {
    return InvalidArgument("a generator has no last item, must be made a list");
  }
  GDN_ASSIGN_OR_RETURN(const SequencePtr items, ItemsOf(self, runtime.budget));
  if (!items->items.empty()) return items->items.back();
  return MakeUndefined("an empty sequence has no last item", runtime.budget);
}

Result<Value> ToList(Runtime& runtime, const Value& self, const BoundArguments&) {
  GDN_ASSIGN_OR_RETURN(SequencePtr items, ItemsOf(self, runtime.budget));
  return Value(List{std::move(items)});
}

Result<Value> Items(Runtime& runtime, const Value& self, const BoundArguments&) {
  if (self.is_undefined()) return MakeIterator({}, runtime.budget);
  const DictObject* const dict = self.dict();
  if (dict == nullptr) {
    return InvalidArgument(StrCat("needs a mapping, not a ", TypeName(self)));
  }
  GDN_RETURN_IF_ERROR(runtime.budget.Spend(dict->size()));
  std::vector<Value> items;
  for (const auto& entry : dict->entries()) {
    GDN_ASSIGN_OR_RETURN(Value pair, MakeTuple({entry.first, entry.second}, runtime.budget));
    items.push_back(std::move(pair));
  }
  return MakeIterator(std::move(items), runtime.budget);
}

Result<Value> Reverse(Runtime& runtime, const Value& self, const BoundArguments&) {
  if (self.is_string()) return Slice(self, None{}, None{}, -1, runtime.budget);
  GDN_ASSIGN_OR_RETURN(const SequencePtr items, ItemsOf(self, runtime.budget));
  GDN_RETURN_IF_ERROR(runtime.budget.Spend(items->items.size()));
  std::vector<Value> reversed(items->items.rbegin(), items->items.rend());
  // What Python cannot reverse becomes a list first.
  if (self.Is(Value::Kind::kIterator) || self.is_undefined()) {
    return MakeList(std::move(reversed), runtime.budget);
  }
  return MakeIterator(std::move(reversed), runtime.budget);
}

// Parts of `size` items; the last one filled up where there is a fill value.
Result<Value> Batch(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_ASSIGN_OR_RETURN(const SequencePtr items, ItemsOf(self, runtime.budget));
  GDN_ASSIGN_OR_RETURN(const int64_t size, IntArgument(arguments[0], "linecount", 0));
  const bool fills = arguments[1] != nullptr && !arguments[1]->is_none();
  GDN_RETURN_IF_ERROR(runtime.budget.Spend(items->items.size()));
  std::vector<Value> batches;
  std::vector<Value> batch;
  for (const Value& item : items->items) {
    if (static_cast<int64_t>(batch.size()) == size) {
      GDN_ASSIGN_OR_RETURN(Value list, MakeList(std::exchange(batch, {}), runtime.budget));
      batches.push_back(std::move(list));
    }
    batch.push_back(item);
  }
  if (!batch.empty()) {
    while (fills && static_cast<int64_t>(batch.size()) < size) {
      GDN_RETURN_IF_ERROR(runtime.budget.Spend(1));
      batch.push_back(*arguments[1]);
    }
    GDN_ASSIGN_OR_RETURN(Value list, MakeList(std::move(batch), runtime.budget));
    batches.push_back(std::move(list));
  }
  return MakeIterator(std::move(batches), runtime.budget);
}

// `slices` columns of almost equal length.
Result<Value> Columns(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_ASSIGN_OR_RETURN(const SequencePtr items, ItemsOf(self, runtime.budget));
  GDN_ASSIGN_OR_RETURN(const int64_t slices, IntArgument(arguments[0], "slices", 0));
  if (slices < 1) return InvalidArgument("slices must be at least 1");
  const auto size = static_cast<int64_t>(items->items.size());
  const bool fills = arguments[1] != nullptr && !arguments[1]->is_none();
  std::vector<Value> columns;
  int64_t next = 0;
  for (int64_t i = 0; i < slices; ++i) {
    GDN_RETURN_IF_ERROR(runtime.budget.Spend(1));
    const int64_t count = size / slices + (i < size % slices ? 1 : 0);
    GDN_RETURN_IF_ERROR(runtime.budget.Spend(static_cast<uint64_t>(count)));
    const auto begin = items->items.begin() + next;
    std::vector<Value> column(begin, begin + count);
    next += count;
    if (fills && i >= size % slices) column.push_back(*arguments[1]);
    GDN_ASSIGN_OR_RETURN(Value list, MakeList(std::move(column), runtime.budget));
    columns.push_back(std::move(list));
  }
  return MakeIterator(std::move(columns), runtime.budget);
}

Result<Value> WordCount(Runtime& runtime, const Value& self, const BoundArguments&) {
  GDN_ASSIGN_OR_RETURN(const std::string text, Str(self, runtime.budget));
  GDN_RETURN_IF_ERROR(runtime.budget.Spend(text.size()));
  int64_t words = 0;
  bool in_word = false;
  for (size_t i = 0; i < text.size();) {
    const char32_t c = NextCodePoint(text, i);
    const bool is_word = c == '_' || (c >= '0' && c <= '9') || (c | 0x20) - 'a' < 26;
    if (c >= 0x80) {
      return Status(StatusCode::kUnsupported, "text beyond ASCII is not supported");
    }
    words += is_word && !in_word ? 1 : 0;
    in_word = is_word;
  }
  return Value(words);
}

Result<Value> Attribute(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_ASSIGN_OR_RETURN(const std::string_view name, TextArgument(arguments[0], "name", ""));
  // Attributes alone, not the entries of a mapping.
  if (self.dict() != nullptr) {
    return MakeUndefined(StrCat("a dict has no attribute ", Quoted(name, 60)), runtime.budget);
  }
  return GetAttribute(self, name, runtime);
}

constexpr Builtin kFilters[] = {
    {"length", Length},
    {"count", Length},
    {"default", Default, {"default_value", "boolean"}},
    {"d", Default, {"default_value", "boolean"}},
    {"first", First},
    {"last", Last},
    {"list", ToList},
    {"items", Items},
    {"reverse", Reverse},
    {"batch", Batch, {"linecount", "fill_with"}, 1},
    {"slice", Columns, {"slices", "fill_with"}, 1},
    {"wordcount", WordCount},
    {"attr", Attribute, {"name"}, 1},
};

}  // namespace

std::span<const Builtin> SequenceFilters() { return kFilters; }

}  // namespace gdn::jinja
