// SPDX-License-Identifier: Apache-2.0
// The methods of mappings and lists that do not change them.
#include "base/str.h"
#include "chat_template/attributes.h"
#include "chat_template/compare.h"
#include "chat_template/dict.h"
#include "chat_template/operators.h"

namespace gdn::jinja {
namespace {

Result<Value> MakeView(const char* type_name, std::vector<Value> items, Budget& budget) {
  GDN_ASSIGN_OR_RETURN(SequencePtr sequence, MakeSequence(std::move(items), budget));
  return Value(std::make_shared<const ViewObject>(ViewObject{type_name, std::move(sequence)}));
}

Result<Value> Get(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_ASSIGN_OR_RETURN(const Value* const found, self.dict()->Find(*arguments[0], runtime.budget));
  if (found != nullptr) return *found;
  return arguments[1] == nullptr ? Value(None{}) : *arguments[1];
}

Result<Value> Keys(Runtime& runtime, const Value& self, const BoundArguments&) {
  GDN_RETURN_IF_ERROR(runtime.budget.Spend(self.dict()->size()));
  std::vector<Value> items;
  for (const auto& entry : self.dict()->entries()) items.push_back(entry.first);
  return MakeView("dict_keys", std::move(items), runtime.budget);
}

Result<Value> Values(Runtime& runtime, const Value& self, const BoundArguments&) {
  GDN_RETURN_IF_ERROR(runtime.budget.Spend(self.dict()->size()));
  std::vector<Value> items;
  for (const auto& entry : self.dict()->entries()) items.push_back(entry.second);
  return MakeView("dict_values", std::move(items), runtime.budget);
}

Result<Value> Items(Runtime& runtime, const Value& self, const BoundArguments&) {
  GDN_RETURN_IF_ERROR(runtime.budget.Spend(self.dict()->size()));
  std::vector<Value> items;
  for (const auto& entry : self.dict()->entries()) {
    GDN_ASSIGN_OR_RETURN(Value pair, MakeTuple({entry.first, entry.second}, runtime.budget));
    items.push_back(std::move(pair));
  }
  return MakeView("dict_items", std::move(items), runtime.budget);
}

// A copy of an immutable value is the value.
Result<Value> Copy(Runtime&, const Value& self, const BoundArguments&) { return self; }

Result<Value> Count(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  int64_t count = 0;
  for (const Value& item : (*self.sequence())->items) {
    GDN_ASSIGN_OR_RETURN(const bool equal, Equals(item, *arguments[0], runtime.budget));
    count += equal ? 1 : 0;
  }
  return Value(count);
}

Result<Value> Index(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  const std::vector<Value>& items = (*self.sequence())->items;
  for (size_t i = 0; i < items.size(); ++i) {
    GDN_ASSIGN_OR_RETURN(const bool equal, Equals(items[i], *arguments[0], runtime.budget));
    if (equal) return Value(i);
  }
  return InvalidArgument(StrCat("the value is not in the ", TypeName(self)));
}

constexpr Builtin kDictMethods[] = {
    {"get", Get, {"key", "default"}, 1},
    {"keys", Keys},
    {"values", Values},
    {"items", Items},
    {"copy", Copy},
};

constexpr Builtin kListMethods[] = {
    {"count", Count, {"value"}, 1},
    {"index", Index, {"value"}, 1},
    {"copy", Copy},
};

}  // namespace

const Builtin* FindDictMethod(std::string_view name) {
  for (const Builtin& method : kDictMethods) {
    if (method.name == name) return &method;
  }
  return nullptr;
}

const Builtin* FindListMethod(std::string_view name) {
  for (const Builtin& method : kListMethods) {
    if (method.name == name) return &method;
  }
  return nullptr;
}

}  // namespace gdn::jinja
