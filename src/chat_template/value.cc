// SPDX-License-Identifier: Apache-2.0
#include "chat_template/value.h"

#include <algorithm>

#include "base/str.h"
#include "chat_template/dict.h"
#include "chat_template/objects.h"

namespace gdn::jinja {
namespace {

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
}

}  // namespace

const SequencePtr* Value::sequence() const {
  if (const auto* list = Get<List>()) return &list->object;
  if (const auto* tuple = Get<Tuple>()) return &tuple->object;
  return nullptr;
}

const DictObject* Value::dict() const {
  const auto* object = Get<DictPtr>();
  return object == nullptr ? nullptr : object->get();
}

int DepthOf(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kList:
    case Value::Kind::kTuple:
      return (*value.sequence())->depth;
    case Value::Kind::kDict:
      return value.dict()->depth();
    case Value::Kind::kView:
      return (*value.Get<std::shared_ptr<const ViewObject>>())->items->depth;
    case Value::Kind::kIterator:
      return (*value.Get<std::shared_ptr<IteratorObject>>())->items->depth;
    case Value::Kind::kCallable:
      return 1 + DepthOf((*value.Get<std::shared_ptr<CallableObject>>())->self);
    case Value::Kind::kLoop:
      return (*value.Get<std::shared_ptr<LoopObject>>())->items->depth;
    default:
      return 0;
  }
}

Status CheckDepth(const Value& inner) {
  if (DepthOf(inner) < kMaxValueDepth) return OkStatus();
  return InvalidArgument(StrCat("nests values deeper than ", kMaxValueDepth, " levels"));
}

Result<Value> MakeUndefined(std::string why, Budget& budget) {
  GDN_RETURN_IF_ERROR(budget.Allocate(why.size() + sizeof(std::string)));
  return Value(Undefined{std::make_shared<const std::string>(std::move(why))});
}

Result<Value> MakeString(std::string text, Budget& budget, bool is_markup) {
  GDN_RETURN_IF_ERROR(budget.Allocate(text.size() + sizeof(StringObject)));
  const bool is_ascii = IsAscii(text);
  return Value(
      std::make_shared<const StringObject>(StringObject{std::move(text), is_ascii, is_markup}));
}

Result<SequencePtr> MakeSequence(std::vector<Value> items, Budget& budget) {
  GDN_RETURN_IF_ERROR(budget.Allocate(items.size() * sizeof(Value) + sizeof(SequenceObject)));
  int depth = 1;
  for (const Value& item : items) {
    GDN_RETURN_IF_ERROR(CheckDepth(item));
    depth = std::max(depth, 1 + DepthOf(item));
  }
  return SequencePtr(
      std::make_shared<const SequenceObject>(SequenceObject{std::move(items), depth}));
}

Result<Value> MakeList(std::vector<Value> items, Budget& budget) {
  GDN_ASSIGN_OR_RETURN(SequencePtr object, MakeSequence(std::move(items), budget));
  return Value(List{std::move(object)});
}

Result<Value> MakeTuple(std::vector<Value> items, Budget& budget) {
  GDN_ASSIGN_OR_RETURN(SequencePtr object, MakeSequence(std::move(items), budget));
  return Value(Tuple{std::move(object)});
}

Result<Value> MakeIterator(std::vector<Value> items, Budget& budget) {
  GDN_ASSIGN_OR_RETURN(SequencePtr object, MakeSequence(std::move(items), budget));
  return Value(std::make_shared<IteratorObject>(IteratorObject{std::move(object)}));
}

std::string_view TypeName(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kUndefined:
      return "Undefined";
    case Value::Kind::kNone:
      return "NoneType";
    case Value::Kind::kBool:
      return "bool";
    case Value::Kind::kInt:
      return "int";
    case Value::Kind::kFloat:
      return "float";
    case Value::Kind::kString:
      return value.string().is_markup ? "Markup" : "str";
    case Value::Kind::kList:
      return "list";
    case Value::Kind::kTuple:
      return "tuple";
    case Value::Kind::kDict:
      return "dict";
    case Value::Kind::kView:
      return (*value.Get<std::shared_ptr<const ViewObject>>())->type_name;
    case Value::Kind::kIterator:
      return "generator";
    case Value::Kind::kRange:
      return "range";
    case Value::Kind::kNamespace:
      return "Namespace";
    case Value::Kind::kCallable:
      return "function";
    case Value::Kind::kLoop:
      return "LoopContext";
  }
  return "?";
}

bool Truth(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kUndefined:
    case Value::Kind::kNone:
      return false;
    case Value::Kind::kBool:
      return *value.Get<bool>();
    case Value::Kind::kInt:
      return *value.Get<Int>() != 0;
    case Value::Kind::kFloat:
      return *value.Get<double>() != 0;
    case Value::Kind::kString:
      return !value.text().empty();
    case Value::Kind::kList:
    case Value::Kind::kTuple:
      return !(*value.sequence())->items.empty();
    case Value::Kind::kDict:
      return value.dict()->size() != 0;
    case Value::Kind::kView:
      return !(*value.Get<std::shared_ptr<const ViewObject>>())->items->items.empty();
    case Value::Kind::kRange:
      return (*value.Get<std::shared_ptr<const RangeObject>>())->size != 0;
    default:
      return true;
  }
}

bool AsInt(const Value& value, Int& out) {
  if (const auto* i = value.Get<Int>()) {
    out = *i;
    return true;
  }
  if (const auto* b = value.Get<bool>()) {
    out = *b ? 1 : 0;
    return true;
  }
  return false;
}

bool AsDouble(const Value& value, double& out) {
  if (const auto* d = value.Get<double>()) {
    out = *d;
    return true;
  }
  Int i = 0;
  if (!AsInt(value, i)) return false;
  out = static_cast<double>(i);
  return true;
}

}  // namespace gdn::jinja
