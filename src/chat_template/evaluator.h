// SPDX-License-Identifier: Apache-2.0
// Renders a tree. Statements, expressions and calls have a source each.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "chat_template/ast.h"
#include "chat_template/builtin.h"
#include "chat_template/dict.h"
#include "chat_template/scope.h"

namespace gdn::jinja {

class Evaluator {
 public:
  // context: the variables of the caller. Both outlive the evaluator.
  Evaluator(const DictObject& context, Runtime& runtime) : context_(context), runtime_(runtime) {}

  // Errors name the line.
  Result<std::string> Render(const Body& body);

 private:
  enum class Flow { kNext, kBreak, kContinue };

  // One level of recursion; the levels together are bounded.
  class LevelGuard;
  // A scope for the time of a block. One that a macro has captured lives on until the render ends.
  class ScopeGuard;

  Status CheckLevel() const;
  static Status UnknownName(std::string_view type, std::string_view name);

  // Statements.
  Result<Flow> Execute(const Body& body);
  Result<Flow> ExecuteStatement(const StatementNode& statement);
  Result<Flow> ExecuteIf(const IfNode& node);
  Result<Flow> ExecuteFor(const ForNode& node);
  Result<Flow> ExecuteInScope(const Body& body);
  Result<SequencePtr> FilteredItems(const ForNode& node, SequencePtr items);
  Status ExecuteOutput(const OutputNode& node);
  Status ExecuteSet(const SetNode& node);
  Status ExecuteSetBlock(const SetBlockNode& node);
  Status ExecuteMacro(const MacroNode& node);
  Status ExecuteCallBlock(const CallBlockNode& node);
  Status ExecuteFilterBlock(const FilterBlockNode& node);
  Result<Flow> ExecuteWith(const WithNode& node);
  Status Assign(const Target& target, Value value);
  Status Emit(std::string_view text);
  // What the body writes, in a scope of its own.
  Result<std::string> Captured(const Body& body);
  Result<Value> Filtered(std::string text, const std::vector<FilterStep>& filters);

  // Expressions.
  Result<Value> Evaluate(const ExpressionNode& node);
  Result<Value> EvaluateKind(const ExpressionNode& node);
  Result<Value> EvaluateName(const NameNode& node);
  Result<Value> EvaluateItems(const ItemsNode& node);
  Result<Value> EvaluateDict(const DictNode& node);
  Result<Value> EvaluateUnary(const UnaryNode& node);
  Result<Value> EvaluateBinary(const BinaryNode& node);
  Result<Value> EvaluateLogic(const LogicNode& node);
  Result<Value> EvaluateCompare(const CompareNode& node);
  Result<Value> EvaluateConcat(const ItemsNode& node);
  Result<Value> EvaluateConditional(const ConditionalNode& node);
  Result<Value> EvaluateItem(const ItemNode& node);
  Result<Value> EvaluateSlice(const SliceNode& node);
  Result<Value> EvaluateTest(const TestNode& node);
  Result<Value> EvaluateCall(const CallNode& node, const Value* caller);

  // Calls.
  Result<Arguments> EvaluateArguments(const ArgumentNodes& nodes);
  Result<Value> Call(const Value& callee, Arguments arguments);
  Result<Value> CallMacro(const CallableObject& callable, Arguments arguments);
  Status BindMacro(const MacroNode& macro, Arguments arguments);
  Status BindRest(const MacroNode& macro, Arguments& arguments, const std::vector<bool>& used);
  Result<Value> MakeMacro(const MacroNode& macro);

  const DictObject& context_;
  Runtime& runtime_;
  Scope* scope_ = nullptr;
  std::vector<std::unique_ptr<Scope>> kept_scopes_;
  std::string* out_ = nullptr;
  int level_ = 0;
  int line_ = 1;  // of the node at work
};

class Evaluator::LevelGuard {
 public:
  explicit LevelGuard(Evaluator& evaluator) : evaluator_(evaluator) { ++evaluator_.level_; }
  LevelGuard(const LevelGuard&) = delete;
  LevelGuard& operator=(const LevelGuard&) = delete;
  ~LevelGuard() { --evaluator_.level_; }

 private:
  Evaluator& evaluator_;
};

class Evaluator::ScopeGuard {
 public:
  ScopeGuard(Evaluator& evaluator, Scope* parent)
      : evaluator_(evaluator),
        previous_(evaluator.scope_),
        scope_(std::make_unique<Scope>(parent)) {
    evaluator_.scope_ = scope_.get();
  }
  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;
  ~ScopeGuard() {
    evaluator_.scope_ = previous_;
    if (scope_->captured()) evaluator_.kept_scopes_.push_back(std::move(scope_));
  }

 private:
  Evaluator& evaluator_;
  Scope* previous_;
  std::unique_ptr<Scope> scope_;
};

}  // namespace gdn::jinja
