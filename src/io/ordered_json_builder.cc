// SPDX-License-Identifier: Apache-2.0
#include "io/ordered_json_builder.h"

#include <algorithm>
#include <numeric>

namespace gdn {
namespace {

using Json = nlohmann::ordered_json;
using Members = Json::object_t::Container;

Members& MembersOf(Json& object) { return object.get_ref<Json::object_t&>(); }

// Of members with one name, the last value moves to the first of them, which alone stays.
void MergeRepeated(Members& members) {
  std::vector<size_t> order(members.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return members[a].first < members[b].first; });
  std::vector<bool> is_dropped(members.size(), false);
  bool any = false;
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;
    while (end < order.size() && members[order[end]].first == members[order[begin]].first) {
      is_dropped[order[end++]] = true;
    }
    if (end > begin + 1) {
      members[order[begin]].second = std::move(members[order[end - 1]].second);
      any = true;
    }
    begin = end;
  }
  if (!any) return;
  Members kept;
  for (size_t i = 0; i < members.size(); ++i) {
    if (!is_dropped[i]) kept.emplace_back(members[i].first, std::move(members[i].second));
  }
  members.swap(kept);
}

}  // namespace

Json* OrderedJsonBuilder::Append(Json value) {
  if (open_.empty()) {
    root_ = std::move(value);
    return &root_;
  }
  Json& parent = *open_.back();
  if (parent.is_array()) {
    auto& items = parent.get_ref<Json::array_t&>();
    items.push_back(std::move(value));
    return &items.back();
  }
  Members& members = MembersOf(parent);
  members.emplace_back(std::move(key_), std::move(value));
  return &members.back().second;
}

bool OrderedJsonBuilder::Add(Json value) {
  Append(std::move(value));
  return true;
}

bool OrderedJsonBuilder::key(std::string& name) {
  key_ = std::move(name);
  return true;
}

bool OrderedJsonBuilder::start_object(size_t) {
  // The parent grows no more while this is open, so that the pointer stays.
  open_.push_back(Append(Json::object()));
  return true;
}

bool OrderedJsonBuilder::end_object() {
  MergeRepeated(MembersOf(*open_.back()));
  open_.pop_back();
  return true;
}

bool OrderedJsonBuilder::start_array(size_t) {
  open_.push_back(Append(Json::array()));
  return true;
}

bool OrderedJsonBuilder::end_array() {
  open_.pop_back();
  return true;
}

bool OrderedJsonBuilder::parse_error(size_t, const std::string&,
                                     const nlohmann::detail::exception& error) {
  if (const auto* parse = dynamic_cast<const nlohmann::detail::parse_error*>(&error)) throw *parse;
  if (const auto* range = dynamic_cast<const nlohmann::detail::out_of_range*>(&error)) throw *range;
  throw error;
}

}  // namespace gdn
