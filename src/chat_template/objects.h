// SPDX-License-Identifier: Apache-2.0
// The values that have state or can be called.
#pragma once

#include <map>
#include <string>

#include "chat_template/value.h"

namespace gdn::jinja {

struct Builtin;
struct MacroNode;
class Scope;

// namespace(): what a template may assign to from an inner scope.
struct NamespaceObject {
  std::map<std::string, Value, std::less<>> attributes;
};

struct CallableObject {
  enum class Type {
    kBuiltin,  // a global function
    kMethod,   // a method of self
    kMacro,    // a macro, or the caller() of one
    kJoiner,   // joiner(): nothing at the first call, then self, the separator
    kCycle,    // loop.cycle: self is the loop
  };
  Type type;
  Value self;
  const Builtin* builtin = nullptr;
  const MacroNode* macro = nullptr;
  Scope* scope = nullptr;  // around the macro; the render keeps it alive
  bool used = false;       // a joiner was called
};

struct LoopObject {
  SequencePtr items;
  size_t index = 0;  // of the current item
};

}  // namespace gdn::jinja
