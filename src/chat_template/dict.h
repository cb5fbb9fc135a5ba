// SPDX-License-Identifier: Apache-2.0
// A mapping that keeps the order of insertion.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "chat_template/budget.h"
#include "chat_template/value.h"

namespace gdn::jinja {

class DictObject {
 public:
  using Entry = std::pair<Value, Value>;

  const std::vector<Entry>& entries() const { return entries_; }
  size_t size() const { return entries_.size(); }
  int depth() const { return depth_; }

  // Null where the key is missing.
  const Value* Find(std::string_view key) const;
  // The same of any key. Errors: the key is a list or another type that no mapping takes.
  Result<const Value*> Find(const Value& key, Budget& budget) const;

  // While the mapping is being made. A key that is there keeps its place and gets the value.
  // Errors: as Find; a limit is exceeded.
  Status Set(Value key, Value value, Budget& budget);

 private:
  static constexpr size_t kNone = SIZE_MAX;
  // Up to here a linear search is faster than the index.
  static constexpr size_t kLinear = 8;

  size_t FindString(std::string_view key) const;
  Result<size_t> FindOther(const Value& key, Budget& budget) const;

  std::vector<Entry> entries_;
  // Of string keys, once there are many. The texts belong to the keys, which are shared objects.
  std::map<std::string_view, size_t> index_;
  int depth_ = 1;
};

// Errors: the value cannot be the key of a mapping (or the member of a set).
Status CheckHashable(const Value& key);

}  // namespace gdn::jinja
