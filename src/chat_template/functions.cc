// SPDX-License-Identifier: Apache-2.0
// The functions that every template has.
#include <array>

#include "base/str.h"
#include "chat_template/builtin.h"
#include "chat_template/convert.h"
#include "chat_template/dict.h"
#include "chat_template/print.h"

namespace gdn::jinja {
namespace {

Result<Value> RaiseException(Runtime& runtime, const Value&, const BoundArguments& arguments) {
  GDN_ASSIGN_OR_RETURN(std::string message, Str(*arguments[0], runtime.budget));
  return InvalidArgument(std::move(message));
}

Result<Value> Range(Runtime&, const Value&, const BoundArguments& arguments) {
  if (arguments[0] == nullptr) return InvalidArgument("needs an int");
  GDN_ASSIGN_OR_RETURN(int64_t start, IntArgument(arguments[0], "start", 0));
  GDN_ASSIGN_OR_RETURN(int64_t stop, IntArgument(arguments[1], "stop", 0));
  GDN_ASSIGN_OR_RETURN(const int64_t step, IntArgument(arguments[2], "step", 1));
  if (arguments[1] == nullptr) {
    stop = start;
    start = 0;
  }
  if (step == 0) return InvalidArgument("the step is 0");
  const Int distance = step > 0 ? Int{stop} - start : Int{start} - stop;
  const Int stride = step > 0 ? Int{step} : -Int{step};
  const Int size = distance <= 0 ? 0 : (distance + stride - 1) / stride;
  if (size > kMaxRange) {
    return InvalidArgument(StrCat("has more than ", kMaxRange, " elements"));
  }
  // Beyond this an element plus a stride could leave 64 bits.
  constexpr int64_t kFar = int64_t{1} << 46;
  if (start > kFar || start < -kFar || stop > kFar || stop < -kFar || step > kFar || step < -kFar) {
    return InvalidArgument("a bound is too large");
  }
  return Value(std::make_shared<const RangeObject>(
      RangeObject{start, stop, step, static_cast<int64_t>(size)}));
}

// dict(mapping or pairs, name=value, ...).
Result<std::shared_ptr<DictObject>> DictOf(Runtime& runtime, const Arguments& all) {
  auto dict = std::make_shared<DictObject>();
  if (all.positional.size() > 1) {
    return InvalidArgument(
        StrCat("has ", all.positional.size(), " arguments, must have at most 1"));
  }
  if (!all.positional.empty()) {
    const Value& source = all.positional[0];
    if (const DictObject* const other = source.dict()) {
      for (const auto& [key, value] : other->entries()) {
        GDN_RETURN_IF_ERROR(runtime.budget.Spend(1));
        GDN_RETURN_IF_ERROR(dict->Set(key, value, runtime.budget));
      }
    } else {
      GDN_ASSIGN_OR_RETURN(const SequencePtr pairs, ItemsOf(source, runtime.budget));
      for (const Value& item : pairs->items) {
        GDN_ASSIGN_OR_RETURN(const SequencePtr pair, ItemsOf(item, runtime.budget));
        if (pair->items.size() != 2) return InvalidArgument("an element is no pair");
        GDN_RETURN_IF_ERROR(dict->Set(pair->items[0], pair->items[1], runtime.budget));
      }
    }
  }
  for (const auto& [name, value] : all.named) {
    GDN_ASSIGN_OR_RETURN(Value key, MakeString(name, runtime.budget));
    GDN_RETURN_IF_ERROR(dict->Set(std::move(key), value, runtime.budget));
  }
  return dict;
}

Result<Value> Dict(Runtime& runtime, const Value&, const BoundArguments& arguments) {
  GDN_ASSIGN_OR_RETURN(std::shared_ptr<DictObject> dict, DictOf(runtime, arguments.all));
  return Value(DictPtr(std::move(dict)));
}

Result<Value> Namespace(Runtime& runtime, const Value&, const BoundArguments& arguments) {
  GDN_ASSIGN_OR_RETURN(const std::shared_ptr<DictObject> dict, DictOf(runtime, arguments.all));
  NamespaceObject object;
  for (const auto& [key, value] : dict->entries()) {
    if (!key.is_string()) return InvalidArgument("a name must be a str");
    if (key.text().substr(0, 1) == "_") {
      return InvalidArgument(StrCat("the name ", Quoted(key.text()), " must not start with '_'"));
    }
    object.attributes[key.text()] = value;
  }
  runtime.namespaces.push_back(std::move(object));
  GDN_RETURN_IF_ERROR(runtime.budget.Allocate(sizeof(NamespaceObject)));
  return Value(&runtime.namespaces.back());
}

Result<Value> Joiner(Runtime& runtime, const Value&, const BoundArguments& arguments) {
  auto callable = std::make_shared<CallableObject>();
  callable->type = CallableObject::Type::kJoiner;
  if (arguments[0] != nullptr) {
    callable->self = *arguments[0];
  } else {
    GDN_ASSIGN_OR_RETURN(callable->self, MakeString(", ", runtime.budget));
  }
  GDN_RETURN_IF_ERROR(runtime.budget.Allocate(sizeof(CallableObject)));
  GDN_RETURN_IF_ERROR(CheckDepth(callable->self));
  return Value(std::move(callable));
}

// One directive of strftime, from '%' to its letter.
Status AppendTime(const Runtime& runtime, const std::string& directive, std::string& out) {
  const char letter = directive.back();
  if (letter == 'f') {
    const std::string digits = std::to_string(runtime.now_microseconds);
    out.append(6 - std::min<size_t>(digits.size(), 6), '0').append(digits);
    return OkStatus();
  }
  if (letter == 'z' || letter == 'Z') return OkStatus();  // datetime.now() has no zone
  std::array<char, 256> buffer{};
  const size_t size = std::strftime(buffer.data(), buffer.size(), directive.c_str(), &runtime.now);
  if (size == 0 && letter != 'p' && letter != 'P') {
    return InvalidArgument(StrCat("cannot read the format ", Quoted(directive, 40)));
  }
  out.append(buffer.data(), size);
  return OkStatus();
}

Result<Value> StrftimeNow(Runtime& runtime, const Value&, const BoundArguments& arguments) {
  GDN_ASSIGN_OR_RETURN(const std::string_view format, TextArgument(arguments[0], "format", ""));
  GDN_RETURN_IF_ERROR(runtime.budget.Allocate(format.size() * 16));
  std::string out;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 == format.size()) {
      out.push_back(format[i]);
      continue;
    }
    std::string directive = "%";
    while (++i < format.size()) {
      directive.push_back(format[i]);
      const bool is_flag = std::string_view("-_0^#EO").find(format[i]) != std::string_view::npos;
      if (!is_flag || directive.size() > 4) break;
    }
    GDN_RETURN_IF_ERROR(AppendTime(runtime, directive, out));
  }
  return MakeString(std::move(out), runtime.budget);
}

constexpr Builtin kFunctions[] = {
    {"raise_exception", RaiseException, {"message"}, 1},
    {"strftime_now", StrftimeNow, {"format"}, 1},
    {"range", Range, {"start", "stop", "step"}, 1},
    {"dict", Dict, {}, 0, /*variadic=*/true},
    {"namespace", Namespace, {}, 0, /*variadic=*/true},
    {"joiner", Joiner, {"sep"}},
};

}  // namespace

const Builtin* FindFunction(std::string_view name) {
  for (const Builtin& function : kFunctions) {
    if (function.name == name) return &function;
  }
  return nullptr;
}

}  // namespace gdn::jinja
