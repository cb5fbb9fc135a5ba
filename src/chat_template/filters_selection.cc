// SPDX-License-Identifier: Apache-2.0
// map, select, reject, selectattr, rejectattr: filters that apply another filter or a test.
#include "base/str.h"
#include "chat_template/attributes.h"
#include "chat_template/convert.h"
#include "chat_template/filters.h"
#include "chat_template/print.h"

namespace gdn::jinja {
namespace {

// The arguments behind the first `skipped`, which belong to the inner filter or test.
Arguments RestOf(const Arguments& all, size_t skipped) {
  Arguments rest;
  for (size_t i = skipped; i < all.positional.size(); ++i) {
    rest.positional.push_back(all.positional[i]);
  }
  rest.named = all.named;
  return rest;
}

Result<Value> MapAttribute(Runtime& runtime, const SequencePtr& items, const Arguments& all) {
  const Value* attribute = nullptr;
  const Value* fallback = nullptr;
  for (const auto& [name, value] : all.named) {
    if (name == "attribute") {
      attribute = &value;
    } else if (name == "default") {
      fallback = &value;
    } else {
      return InvalidArgument(StrCat("has no parameter ", Quoted(name)));
    }
  }
  if (attribute == nullptr) return InvalidArgument("needs the name of a filter, or attribute");
  std::vector<Value> out;
  for (const Value& item : items->items) {
    GDN_RETURN_IF_ERROR(runtime.budget.Spend(1));
    GDN_ASSIGN_OR_RETURN(Value value, AttributeOf(item, attribute, runtime));
    if (value.is_undefined() && fallback != nullptr) value = *fallback;
    out.push_back(std::move(value));
  }
  return MakeIterator(std::move(out), runtime.budget);
}

Result<Value> Map(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  // A false value is an empty sequence here.
  if (!Truth(self)) return MakeIterator({}, runtime.budget);
  GDN_ASSIGN_OR_RETURN(const SequencePtr items, ItemsOf(self, runtime.budget));
  const Arguments& all = arguments.all;
  if (all.positional.empty()) return MapAttribute(runtime, items, all);
  GDN_ASSIGN_OR_RETURN(const std::string_view name,
                       TextArgument(all.positional.data(), "filter", ""));
  const Builtin* const filter = FindFilter(name);
  if (filter == nullptr) {
    return Status(StatusCode::kUnsupported,
                  StrCat("the filter ", Quoted(name, 40), " is not supported"));
  }
  const Arguments rest = RestOf(all, 1);
  std::vector<Value> out;
  for (const Value& item : items->items) {
    GDN_RETURN_IF_ERROR(runtime.budget.Spend(1));
    GDN_ASSIGN_OR_RETURN(Value value, CallBuiltin(*filter, runtime, item, rest));
    out.push_back(std::move(value));
  }
  return MakeIterator(std::move(out), runtime.budget);
}

// with_attribute: the first argument names what is tested of each item.
template <bool with_attribute, bool wanted>
Result<Value> Select(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  constexpr size_t kTestAt = with_attribute ? 1 : 0;
  const Arguments& all = arguments.all;
  if (!Truth(self)) return MakeIterator({}, runtime.budget);
  GDN_ASSIGN_OR_RETURN(const SequencePtr items, ItemsOf(self, runtime.budget));
  if (all.positional.size() < kTestAt) return InvalidArgument("needs the name of an attribute");
  const Builtin* test = nullptr;
  if (all.positional.size() > kTestAt) {
    GDN_ASSIGN_OR_RETURN(const std::string_view name,
                         TextArgument(&all.positional[kTestAt], "test", ""));
    test = FindTest(name);
    if (test == nullptr) {
      return Status(StatusCode::kUnsupported,
                    StrCat("the test ", Quoted(name, 40), " is not supported"));
    }
  }
  const Arguments rest = RestOf(all, kTestAt + 1);
  std::vector<Value> out;
  for (const Value& item : items->items) {
    GDN_RETURN_IF_ERROR(runtime.budget.Spend(1));
    Value value = item;
    if (with_attribute) {
      GDN_ASSIGN_OR_RETURN(value, AttributeOf(item, all.positional.data(), runtime));
    }
    if (test != nullptr) {
      GDN_ASSIGN_OR_RETURN(value, CallBuiltin(*test, runtime, value, rest));
    }
    if (Truth(value) == wanted) out.push_back(item);
  }
  return MakeIterator(std::move(out), runtime.budget);
}

constexpr Builtin kFilters[] = {
    {"map", Map, {}, 0, /*variadic=*/true},
    {"select", Select<false, true>, {}, 0, /*variadic=*/true},
    {"reject", Select<false, false>, {}, 0, /*variadic=*/true},
    {"selectattr", Select<true, true>, {}, 0, /*variadic=*/true},
    {"rejectattr", Select<true, false>, {}, 0, /*variadic=*/true},
};

}  // namespace

std::span<const Builtin> SelectionFilters() { return kFilters; }

}  // namespace gdn::jinja
