// SPDX-License-Identifier: Apache-2.0
#include "chat_template/attributes.h"

#include <algorithm>
#include <array>

#include "base/str.h"
#include "chat_template/convert.h"
#include "chat_template/dict.h"
#include "chat_template/operators.h"
#include "chat_template/text.h"

namespace gdn::jinja {
namespace {

// What the reference's sandbox forbids: methods that change a list or a mapping.
constexpr std::array<std::string_view, 8> kListMutators = {"append", "clear",  "extend",  "insert",
                                                           "pop",    "remove", "reverse", "sort"};
constexpr std::array<std::string_view, 5> kDictMutators = {"clear", "pop", "popitem", "setdefault",
                                                           "update"};

template <size_t N>
bool IsOneOf(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Result<Value> Unsafe(const Value& object, std::string_view name, Runtime& runtime) {
  return MakeUndefined(
      StrCat("'", name, "' of a ", TypeName(object), " changes it, which a template must not"),
      runtime.budget);
}

Result<Value> Missing(const Value& object, std::string_view name, Runtime& runtime) {
  return MakeUndefined(
      StrCat("'", TypeName(object), " object' has no attribute ", Quoted(name, 60)),
      runtime.budget);
}

Result<Value> BoundMethod(const Value& object, const Builtin* method, Runtime& runtime) {
  GDN_RETURN_IF_ERROR(runtime.budget.Allocate(sizeof(CallableObject)));
  GDN_RETURN_IF_ERROR(CheckDepth(object));
  auto callable = std::make_shared<CallableObject>();
  callable->type = CallableObject::Type::kMethod;
  callable->self = object;
  callable->builtin = method;
  return Value(std::move(callable));
}

// A method, or what says that there is none of that name; nothing where the type has no such
// member.
Result<std::optional<Value>> FindMember(const Value& object, std::string_view name,
                                        Runtime& runtime) {
  const Builtin* method = nullptr;
  bool is_unsafe = false;
  switch (object.kind()) {
    case Value::Kind::kString:
      method = FindTextMethod(name);
      if (method == nullptr && IsMissingTextMethod(name)) {
        return Status(StatusCode::kUnsupported,
                      StrCat("the method '", name, "' of str is not supported"));
      }
      break;
    case Value::Kind::kDict:
      method = FindDictMethod(name);
      is_unsafe = IsOneOf(name, kDictMutators);
      break;
    case Value::Kind::kList:
      method = FindListMethod(name);
      is_unsafe = IsOneOf(name, kListMutators);
      break;
    case Value::Kind::kTuple:
      if (name != "copy") method = FindListMethod(name);
      break;
    default:
      break;
  }
  if (is_unsafe) {
    GDN_ASSIGN_OR_RETURN(Value value, Unsafe(object, name, runtime));
    return std::optional<Value>(std::move(value));
  }
  if (method == nullptr) return std::optional<Value>();
  GDN_ASSIGN_OR_RETURN(Value value, BoundMethod(object, method, runtime));
  return std::optional<Value>(std::move(value));
}

Result<Value> LoopMember(const Value& object, std::string_view name, Runtime& runtime) {
  const auto& loop = *object.Get<std::shared_ptr<LoopObject>>();
  const std::vector<Value>& items = loop->items->items;
  const size_t i = loop->index;
  const size_t size = items.size();
  if (name == "index") return Value(i + 1);
  if (name == "index0") return Value(i);
  if (name == "revindex") return Value(size - i);
  if (name == "revindex0") return Value(size - i - 1);
  if (name == "first") return Value(i == 0);
  if (name == "last") return Value(i + 1 == size);
  if (name == "length") return Value(size);
  if (name == "depth") return Value(1);
  if (name == "depth0") return Value(0);
  if (name == "previtem") {
    if (i > 0) return items[i - 1];
    return MakeUndefined("the first item of a loop has no previous one", runtime.budget);
  }
  if (name == "nextitem") {
    if (i + 1 < size) return items[i + 1];
    return MakeUndefined("the last item of a loop has no next one", runtime.budget);
  }
  if (name == "cycle") {
    auto callable = std::make_shared<CallableObject>();
    callable->type = CallableObject::Type::kCycle;
    callable->self = object;
    return Value(std::move(callable));
  }
  if (name == "changed") {
    return Status(StatusCode::kUnsupported, "loop.changed is not supported");
  }
  return Missing(object, name, runtime);
}

// What a string index means where the object has no such entry.
Result<Value> MemberOrMissing(const Value& object, std::string_view name, Runtime& runtime) {
  if (object.Is(Value::Kind::kLoop)) return LoopMember(object, name, runtime);
  if (object.Is(Value::Kind::kNamespace)) {
    const auto& attributes = (*object.Get<NamespaceObject*>())->attributes;
    const auto found = attributes.find(name);
    if (found != attributes.end()) return found->second;
    return Missing(object, name, runtime);
  }
  GDN_ASSIGN_OR_RETURN(std::optional<Value> member, FindMember(object, name, runtime));
  if (member) return *std::move(member);
  return Missing(object, name, runtime);
}

Result<Value> Character(const Value& object, int64_t index, Runtime& runtime) {
  const StringObject& string = object.string();
  GDN_RETURN_IF_ERROR(runtime.budget.Scan(string.is_ascii ? 0 : string.text.size()));
  size_t begin = static_cast<size_t>(index);
  size_t end = begin + 1;
  if (!string.is_ascii) {
    begin = end = ByteOffset(string.text, static_cast<size_t>(index));
    NextCodePoint(string.text, end);
  }
  return MakeString(string.text.substr(begin, end - begin), runtime.budget, string.is_markup);
}

// The element of a text, list, tuple or range. An index beyond the end is undefined.
Result<Value> Element(const Value& object, const Value& index, Runtime& runtime) {
  GDN_ASSIGN_OR_RETURN(const int64_t size, LengthOf(object, runtime.budget));
  Int at = 0;
  AsInt(index, at);
  if (at < 0) at += size;
  if (at < 0 || at >= size) {
    return MakeUndefined(
        StrCat("a ", TypeName(object), " of ", size, " elements has no such index"),
        runtime.budget);
  }
  const auto i = static_cast<int64_t>(at);
  if (object.is_string()) return Character(object, i, runtime);
  if (const auto* range = object.Get<std::shared_ptr<const RangeObject>>()) {
    return Value((*range)->At(i));
  }
  return (*object.sequence())->items[static_cast<size_t>(i)];
}

}  // namespace

Result<Value> GetAttribute(const Value& object, std::string_view name, Runtime& runtime) {
  GDN_RETURN_IF_ERROR(CheckDefined(object));
  const DictObject* const dict = object.dict();
  if (dict == nullptr) return MemberOrMissing(object, name, runtime);
  GDN_ASSIGN_OR_RETURN(std::optional<Value> member, FindMember(object, name, runtime));
  if (member) return *std::move(member);
  const Value* const found = dict->Find(name);
  if (found != nullptr) return *found;
  return Missing(object, name, runtime);
}

Result<Value> GetItem(const Value& object, const Value& index, Runtime& runtime) {
  GDN_RETURN_IF_ERROR(CheckDefined(object));
  if (const DictObject* const dict = object.dict()) {
    if (CheckHashable(index).ok()) {
      GDN_ASSIGN_OR_RETURN(const Value* const found, dict->Find(index, runtime.budget));
      if (found != nullptr) return *found;
    }
  } else if (object.is_string() || object.sequence() != nullptr || object.Is(Value::Kind::kRange)) {
    if (Int unused = 0; AsInt(index, unused)) return Element(object, index, runtime);
  }
  if (index.is_string()) return MemberOrMissing(object, index.text(), runtime);
  return MakeUndefined(StrCat("a ", TypeName(object), " has no such entry"), runtime.budget);
}

Result<Value> GetPath(const Value& object, const Value& path, Runtime& runtime) {
  if (!path.is_string()) return GetItem(object, path, runtime);
  Value value = object;
  std::string_view rest = path.text();
  while (true) {
    const size_t dot = rest.find('.');
    const std::string_view part = rest.substr(0, dot);
    const bool is_number =
        !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
    const std::optional<Int> number = is_number ? ParseInt(part, 10) : std::nullopt;
    Value index;
    if (number) {
      index = Value(*number);
    } else {
      GDN_ASSIGN_OR_RETURN(index, MakeString(std::string(part), runtime.budget));
    }
    GDN_ASSIGN_OR_RETURN(value, GetItem(value, index, runtime));
    if (dot == std::string_view::npos) return value;
    rest.remove_prefix(dot + 1);
  }
}

}  // namespace gdn::jinja
