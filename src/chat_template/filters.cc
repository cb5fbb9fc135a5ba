// SPDX-License-Identifier: Apache-2.0
#include "chat_template/filters.h"

#include "chat_template/attributes.h"
#include "chat_template/text.h"

namespace gdn::jinja {

const Builtin* FindFilter(std::string_view name) {
  for (const auto& table :
       {TextFilters(), NumberFilters(), SequenceFilters(), OrderFilters(), SelectionFilters()}) {
    for (const Builtin& filter : table) {
      if (filter.name == name) return &filter;
    }
  }
  return nullptr;
}

Result<Value> AttributeOf(const Value& item, const Value* attribute, Runtime& runtime) {
  if (attribute == nullptr || attribute->is_none()) return item;
  return GetPath(item, *attribute, runtime);
}

Result<Value> IgnoreCase(const Value& value, Budget& budget) {
  if (!value.is_string()) return value;
  GDN_RETURN_IF_ERROR(budget.Spend(1 + value.text().size() / 8));
  return MakeString(ToLower(value.text()), budget);
}

}  // namespace gdn::jinja
