// SPDX-License-Identifier: Apache-2.0
// The variables of a render.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "chat_template/value.h"

namespace gdn::jinja {

// A scope sees those around it. Names are texts of the template, which outlives the render.
class Scope {
 public:
  explicit Scope(Scope* parent) : parent_(parent) {}

  // Null where no scope has the name.
  const Value* Find(std::string_view name) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->parent_) {
      for (const auto& variable : scope->variables_) {
        if (variable.first == name) return &variable.second;
      }
    }
    return nullptr;
  }

  void Set(std::string_view name, Value value) {
    for (auto& variable : variables_) {
      if (variable.first == name) {
        variable.second = std::move(value);
        return;
      }
    }
    variables_.emplace_back(name, std::move(value));
  }

  // A macro made here sees this scope and those around it, also after their blocks have ended.
  void Capture() {
    for (Scope* scope = this; scope != nullptr && !scope->captured_; scope = scope->parent_) {
      scope->captured_ = true;
    }
  }
  bool captured() const { return captured_; }
  size_t size() const { return variables_.size(); }

 private:
  Scope* parent_;
  std::vector<std::pair<std::string_view, Value>> variables_;
  bool captured_ = false;
};

}  // namespace gdn::jinja
