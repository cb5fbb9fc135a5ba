// SPDX-License-Identifier: Apache-2.0
#include "chat_template/dict.h"

#include <algorithm>

#include "base/str.h"
#include "chat_template/compare.h"

namespace gdn::jinja {

Status CheckHashable(const Value& key) {
  switch (key.kind()) {
    case Value::Kind::kList:
    case Value::Kind::kDict:
      return InvalidArgument(
          StrCat("a ", TypeName(key), " cannot be a key, must be a string or a number"));
    case Value::Kind::kTuple:
      for (const Value& item : (*key.sequence())->items) GDN_RETURN_IF_ERROR(CheckHashable(item));
      return OkStatus();
    default:
      return OkStatus();
  }
}

size_t DictObject::FindString(std::string_view key) const {
  if (entries_.size() > kLinear) {
    const auto found = index_.find(key);
    return found == index_.end() ? kNone : found->second;
  }
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Value& other = entries_[i].first;
    if (other.is_string() && other.text() == key) return i;
  }
  return kNone;
}

Result<size_t> DictObject::FindOther(const Value& key, Budget& budget) const {
  GDN_RETURN_IF_ERROR(CheckHashable(key));
  for (size_t i = 0; i < entries_.size(); ++i) {
    GDN_ASSIGN_OR_RETURN(const bool equal, Equals(entries_[i].first, key, budget));
    if (equal) return i;
  }
  return kNone;
}

const Value* DictObject::Find(std::string_view key) const {
  const size_t i = FindString(key);
  return i == kNone ? nullptr : &entries_[i].second;
}

Result<const Value*> DictObject::Find(const Value& key, Budget& budget) const {
  if (key.is_string()) return Find(key.text());
  GDN_ASSIGN_OR_RETURN(const size_t i, FindOther(key, budget));
  return i == kNone ? nullptr : &entries_[i].second;
}

Status DictObject::Set(Value key, Value value, Budget& budget) {
  // The node of the index and its allocation count too.
  GDN_RETURN_IF_ERROR(budget.Allocate(sizeof(Entry) + 96));
  size_t i = kNone;
  if (key.is_string()) {
    i = FindString(key.text());
  } else {
    GDN_ASSIGN_OR_RETURN(i, FindOther(key, budget));
  }
  GDN_RETURN_IF_ERROR(CheckDepth(key));
  GDN_RETURN_IF_ERROR(CheckDepth(value));
  depth_ = std::max({depth_, 1 + DepthOf(key), 1 + DepthOf(value)});
  if (i != kNone) {
    entries_[i].second = std::move(value);
    return OkStatus();
  }
  entries_.emplace_back(std::move(key), std::move(value));
  if (entries_.size() <= kLinear) return OkStatus();
  const size_t first = index_.empty() ? 0 : entries_.size() - 1;
  for (size_t k = first; k < entries_.size(); ++k) {
    const Value& name = entries_[k].first;
    if (name.is_string()) index_.emplace(name.text(), k);
  }
  return OkStatus();
}

}  // namespace gdn::jinja
