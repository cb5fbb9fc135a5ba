// SPDX-License-Identifier: Apache-2.0
// Calls of functions, methods and macros.
#include <algorithm>

#include "base/str.h"
#include "chat_template/evaluator.h"
#include "chat_template/operators.h"
#include "chat_template/print.h"

namespace gdn::jinja {

Result<Arguments> Evaluator::EvaluateArguments(const ArgumentNodes& nodes) {
  Arguments out;
  for (const ExpressionPtr& node : nodes.positional) {
    GDN_ASSIGN_OR_RETURN(Value value, Evaluate(*node));
    out.positional.push_back(std::move(value));
  }
  for (const auto& named : nodes.named) {
    GDN_ASSIGN_OR_RETURN(Value value, Evaluate(*named.second));
    out.named.emplace_back(named.first, std::move(value));
  }
  return out;
}

// caller: the macro of a {% call %} block, or null.
Result<Value> Evaluator::EvaluateCall(const CallNode& node, const Value* caller) {
  GDN_ASSIGN_OR_RETURN(const Value callee, Evaluate(*node.callee));
  GDN_ASSIGN_OR_RETURN(Arguments arguments, EvaluateArguments(node.arguments));
  if (caller != nullptr) arguments.named.emplace_back("caller", *caller);
  return Call(callee, std::move(arguments));
}

Result<Value> Evaluator::Call(const Value& callee, Arguments arguments) {
  GDN_RETURN_IF_ERROR(CheckDefined(callee));
  const auto* object = callee.Get<std::shared_ptr<CallableObject>>();
  if (object == nullptr) return InvalidArgument(StrCat("cannot call a ", TypeName(callee)));
  CallableObject& callable = **object;
  switch (callable.type) {
    case CallableObject::Type::kBuiltin:
    case CallableObject::Type::kMethod:
      return CallBuiltin(*callable.builtin, runtime_, callable.self, arguments);
    case CallableObject::Type::kMacro:
      return CallMacro(callable, std::move(arguments));
    case CallableObject::Type::kJoiner:
      if (std::exchange(callable.used, true)) return callable.self;
      return MakeString({}, runtime_.budget);
    case CallableObject::Type::kCycle: {
      if (arguments.positional.empty()) return InvalidArgument("loop.cycle needs values");
      const auto& loop = *callable.self.Get<std::shared_ptr<LoopObject>>();
      return arguments.positional[loop->index % arguments.positional.size()];
    }
  }
  return Value();
}

Result<Value> Evaluator::MakeMacro(const MacroNode& macro) {
  scope_->Capture();
  // The scopes that it keeps count too.
  GDN_RETURN_IF_ERROR(runtime_.budget.Allocate(sizeof(CallableObject) + 2 * sizeof(Scope) +
                                               scope_->size() * sizeof(Value) * 2));
  auto callable = std::make_shared<CallableObject>();
  callable->type = CallableObject::Type::kMacro;
  callable->macro = &macro;
  callable->scope = scope_;
  return Value(std::move(callable));
}

Status Evaluator::ExecuteMacro(const MacroNode& node) {
  GDN_ASSIGN_OR_RETURN(Value macro, MakeMacro(node));
  scope_->Set(node.name, std::move(macro));
  return OkStatus();
}

Status Evaluator::ExecuteCallBlock(const CallBlockNode& node) {
  GDN_ASSIGN_OR_RETURN(const Value caller, MakeMacro(*node.caller));
  GDN_ASSIGN_OR_RETURN(const Value value, EvaluateCall(*node.call, &caller));
  GDN_ASSIGN_OR_RETURN(const std::string text, Str(value, runtime_.budget));
  return Emit(text);
}

// varargs and kwargs, where the macro uses them; else nothing may be left over.
Status Evaluator::BindRest(const MacroNode& macro, Arguments& arguments,
                           const std::vector<bool>& used) {
  const size_t count = macro.parameters.size();
  if (macro.uses_varargs) {
    std::vector<Value> rest;
    for (size_t i = count; i < arguments.positional.size(); ++i) {
      rest.push_back(arguments.positional[i]);
    }
    GDN_ASSIGN_OR_RETURN(Value value, MakeTuple(std::move(rest), runtime_.budget));
    scope_->Set("varargs", std::move(value));
  } else if (arguments.positional.size() > count) {
    return InvalidArgument(StrCat("macro '", macro.name, "' has ", arguments.positional.size(),
                                  " arguments, must have at most ", count));
  }
  auto kwargs = std::make_shared<DictObject>();
  for (size_t i = 0; i < arguments.named.size(); ++i) {
    if (used[i]) continue;
    if (!macro.uses_kwargs) {
      return InvalidArgument(
          StrCat("macro '", macro.name, "' has no parameter ", Quoted(arguments.named[i].first)));
    }
    GDN_ASSIGN_OR_RETURN(Value key, MakeString(arguments.named[i].first, runtime_.budget));
    GDN_RETURN_IF_ERROR(kwargs->Set(std::move(key), arguments.named[i].second, runtime_.budget));
  }
  if (macro.uses_kwargs) scope_->Set("kwargs", Value(DictPtr(std::move(kwargs))));
  return OkStatus();
}

Status Evaluator::BindMacro(const MacroNode& macro, Arguments arguments) {
  const size_t count = macro.parameters.size();
  const size_t first_default = count - macro.defaults.size();
  std::vector<bool> used(arguments.named.size(), false);
  const auto take_named = [&](std::string_view name) -> const Value* {
    for (size_t i = 0; i < arguments.named.size(); ++i) {
      if (used[i] || arguments.named[i].first != name) continue;
      used[i] = true;
      return &arguments.named[i].second;
    }
    return nullptr;
  };
  for (size_t i = 0; i < count; ++i) {
    const std::string& name = macro.parameters[i];
    const Value* const named = take_named(name);
    if (i < arguments.positional.size()) {
      if (named != nullptr) {
        return InvalidArgument(StrCat("macro '", macro.name, "' gets two values for '", name, "'"));
      }
      scope_->Set(name, arguments.positional[i]);
    } else if (named != nullptr) {
      scope_->Set(name, *named);
    } else if (i >= first_default) {
      GDN_ASSIGN_OR_RETURN(Value value, Evaluate(*macro.defaults[i - first_default]));
      scope_->Set(name, std::move(value));
    } else {
      GDN_ASSIGN_OR_RETURN(
          Value value,
          MakeUndefined(StrCat("parameter '", name, "' was not provided"), runtime_.budget));
      scope_->Set(name, std::move(value));
    }
  }
  if (macro.uses_caller) {
    const Value* const caller = take_named("caller");
    if (caller != nullptr) {
      scope_->Set("caller", *caller);
    } else {
      GDN_ASSIGN_OR_RETURN(Value value, MakeUndefined("No caller defined", runtime_.budget));
      scope_->Set("caller", std::move(value));
    }
  }
  return BindRest(macro, arguments, used);
}

Result<Value> Evaluator::CallMacro(const CallableObject& callable, Arguments arguments) {
  const MacroNode& macro = *callable.macro;
  const LevelGuard level(*this);
  GDN_RETURN_IF_ERROR(CheckLevel());
  const int line = line_;
  const ScopeGuard scope(*this, callable.scope);
  GDN_RETURN_IF_ERROR(BindMacro(macro, std::move(arguments)));
  std::string text;
  std::string* const outer = std::exchange(out_, &text);
  const Result<Flow> flow = Execute(macro.body);
  out_ = outer;
  if (!flow.ok()) return flow.status();
  line_ = line;
  return MakeString(std::move(text), runtime_.budget);
}

}  // namespace gdn::jinja
