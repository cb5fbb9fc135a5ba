// SPDX-License-Identifier: Apache-2.0
// The values of a template: Python's, as far as templates see them. Values are immutable and
// shared; the depth of each container is known when it is made and bounded, so that whoever walks a
// value may recurse.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.h"
#include "chat_template/budget.h"

namespace gdn::jinja {

// Python's integers have no bound; 128 bits hold every integer of a JSON schema.
using Int = __int128;

class Value;
class DictObject;
struct CallableObject;
struct LoopObject;
struct NamespaceObject;

// What a missing name or member is: prints as nothing; most other uses are errors that say why.
struct Undefined {
  std::shared_ptr<const std::string> why;
};

struct None {};

struct StringObject {
  std::string text;  // valid UTF-8
  bool is_ascii;
  bool is_markup;  // Markup of markupsafe: escapes what is added to it
};

struct SequenceObject {
  std::vector<Value> items;
  int depth;
};

using StringPtr = std::shared_ptr<const StringObject>;
using SequencePtr = std::shared_ptr<const SequenceObject>;
using DictPtr = std::shared_ptr<const DictObject>;

struct List {
  SequencePtr object;
};

struct Tuple {
  SequencePtr object;
};

// dict.keys(), values() or items().
struct ViewObject {
  const char* type_name;
  SequencePtr items;
};

// A generator: can be walked once. Its items are computed when it is made.
struct IteratorObject {
  SequencePtr items;
  size_t next = 0;
};

struct RangeObject {
  int64_t start;
  int64_t stop;  // as it was given, for printing
  int64_t step;
  int64_t size;

  int64_t At(int64_t i) const { return start + i * step; }
};

class Value {
 public:
  // In the order of the alternatives of Rep.
  enum class Kind {
    kUndefined,
    kNone,
    kBool,
    kInt,
    kFloat,
    kString,
    kList,
    kTuple,
    kDict,
    kView,
    kIterator,
    kRange,
    kNamespace,
    kCallable,
    kLoop,
  };

  Value() = default;
  // Implicit, as values are: NOLINTBEGIN(google-explicit-constructor)
  Value(Undefined value) : rep_(std::move(value)) {}
  Value(None value) : rep_(value) {}
  Value(bool value) : rep_(value) {}
  Value(int value) : rep_(Int{value}) {}
  Value(int64_t value) : rep_(Int{value}) {}
  Value(size_t value) : rep_(static_cast<Int>(value)) {}
  Value(Int value) : rep_(value) {}
  Value(double value) : rep_(value) {}
  Value(StringPtr value) : rep_(std::move(value)) {}
  Value(List value) : rep_(std::move(value)) {}
  Value(Tuple value) : rep_(std::move(value)) {}
  Value(DictPtr value) : rep_(std::move(value)) {}
  Value(std::shared_ptr<const ViewObject> value) : rep_(std::move(value)) {}
  Value(std::shared_ptr<IteratorObject> value) : rep_(std::move(value)) {}
  Value(std::shared_ptr<const RangeObject> value) : rep_(std::move(value)) {}
  // Owned by the render, so that a namespace that holds itself is no leak.
  Value(NamespaceObject* value) : rep_(value) {}
  Value(std::shared_ptr<CallableObject> value) : rep_(std::move(value)) {}
  Value(std::shared_ptr<LoopObject> value) : rep_(std::move(value)) {}
  // NOLINTEND(google-explicit-constructor)
  Value(const void*) = delete;  // else a pointer would be a bool

  Kind kind() const { return static_cast<Kind>(rep_.index()); }
  bool Is(Kind kind) const { return this->kind() == kind; }

  // The alternative T of the representation, or null.
  template <class T>
  const T* Get() const {
    return std::get_if<T>(&rep_);
  }

  bool is_undefined() const { return Is(Kind::kUndefined); }
  bool is_none() const { return Is(Kind::kNone); }
  bool is_string() const { return Is(Kind::kString); }

  // Of a string.
  const StringObject& string() const { return *std::get<StringPtr>(rep_); }
  const std::string& text() const { return string().text; }
  // Of a list or tuple; null for others.
  const SequencePtr* sequence() const;
  // Null for others.
  const DictObject* dict() const;

 private:
  using Rep = std::variant<Undefined, None, bool, Int, double, StringPtr, List, Tuple, DictPtr,
                           std::shared_ptr<const ViewObject>, std::shared_ptr<IteratorObject>,
                           std::shared_ptr<const RangeObject>, NamespaceObject*,
                           std::shared_ptr<CallableObject>, std::shared_ptr<LoopObject>>;
  Rep rep_;
};

// 1 + the largest depth of the values inside; 0 for one that holds none.
int DepthOf(const Value& value);
// Errors: a value that holds this one would be too deep.
Status CheckDepth(const Value& inner);

// why is one line, for the error of a use that needs a value.
Result<Value> MakeUndefined(std::string why, Budget& budget);
// Errors where a limit is exceeded. text is valid UTF-8.
Result<Value> MakeString(std::string text, Budget& budget, bool is_markup = false);
Result<SequencePtr> MakeSequence(std::vector<Value> items, Budget& budget);
Result<Value> MakeList(std::vector<Value> items, Budget& budget);
Result<Value> MakeTuple(std::vector<Value> items, Budget& budget);
Result<Value> MakeIterator(std::vector<Value> items, Budget& budget);

// Python's name of the type, for messages: "str", "dict", "NoneType".
std::string_view TypeName(const Value& value);

// Whether the value counts as true.
bool Truth(const Value& value);

// The integer that a bool or int is; null for other types.
bool AsInt(const Value& value, Int& out);
// Also of a float.
bool AsDouble(const Value& value, double& out);

}  // namespace gdn::jinja
