// SPDX-License-Identifier: Apache-2.0
#include "base/str.h"
#include "chat_template/attributes.h"
#include "chat_template/evaluator.h"
#include "chat_template/operators.h"
#include "chat_template/print.h"

namespace gdn::jinja {

Status Evaluator::UnknownName(std::string_view type, std::string_view name) {
  return {StatusCode::kUnsupported,
          StrCat("the ", type, " '", name.substr(0, 40), "' is not supported")};
}

// The line of an error is that of the innermost node at work.
Result<Value> Evaluator::Evaluate(const ExpressionNode& node) {
  const LevelGuard level(*this);
  const int line = std::exchange(line_, node.line);
  GDN_RETURN_IF_ERROR(CheckLevel());
  Result<Value> value = EvaluateKind(node);
  if (value.ok()) line_ = line;
  return value;
}

Result<Value> Evaluator::EvaluateKind(const ExpressionNode& node) {
  switch (node.kind) {
    case ExpressionNode::Kind::kConstant:
      return static_cast<const ConstantNode&>(node).value;
    case ExpressionNode::Kind::kName:
      return EvaluateName(static_cast<const NameNode&>(node));
    case ExpressionNode::Kind::kList:
    case ExpressionNode::Kind::kTuple:
      return EvaluateItems(static_cast<const ItemsNode&>(node));
    case ExpressionNode::Kind::kDict:
      return EvaluateDict(static_cast<const DictNode&>(node));
    case ExpressionNode::Kind::kUnary:
      return EvaluateUnary(static_cast<const UnaryNode&>(node));
    case ExpressionNode::Kind::kBinary:
      return EvaluateBinary(static_cast<const BinaryNode&>(node));
    case ExpressionNode::Kind::kLogic:
      return EvaluateLogic(static_cast<const LogicNode&>(node));
    case ExpressionNode::Kind::kCompare:
      return EvaluateCompare(static_cast<const CompareNode&>(node));
    case ExpressionNode::Kind::kConcat:
      return EvaluateConcat(static_cast<const ItemsNode&>(node));
    case ExpressionNode::Kind::kConditional:
      return EvaluateConditional(static_cast<const ConditionalNode&>(node));
    case ExpressionNode::Kind::kAttribute: {
      const auto& attribute = static_cast<const AttributeNode&>(node);
      GDN_ASSIGN_OR_RETURN(const Value object, Evaluate(*attribute.object));
      return GetAttribute(object, attribute.name, runtime_);
    }
    case ExpressionNode::Kind::kItem:
      return EvaluateItem(static_cast<const ItemNode&>(node));
    case ExpressionNode::Kind::kSlice:
      return EvaluateSlice(static_cast<const SliceNode&>(node));
    case ExpressionNode::Kind::kCall:
      return EvaluateCall(static_cast<const CallNode&>(node), /*caller=*/nullptr);
    case ExpressionNode::Kind::kFilter: {
      const auto& filter = static_cast<const FilterNode&>(node);
      GDN_ASSIGN_OR_RETURN(const Value operand, Evaluate(*filter.operand));
      GDN_ASSIGN_OR_RETURN(const Arguments arguments, EvaluateArguments(filter.step.arguments));
      if (filter.step.filter == nullptr) return UnknownName("filter", filter.step.name);
      return CallBuiltin(*filter.step.filter, runtime_, operand, arguments);
    }
    case ExpressionNode::Kind::kTest:
      return EvaluateTest(static_cast<const TestNode&>(node));
  }
  return Value();
}

Result<Value> Evaluator::EvaluateName(const NameNode& node) {
  if (const Value* const variable = scope_->Find(node.name)) return *variable;
  if (const Value* const variable = context_.Find(node.name)) return *variable;
  if (const Builtin* const function = FindFunction(node.name)) {
    auto callable = std::make_shared<CallableObject>();
    callable->type = CallableObject::Type::kBuiltin;
    callable->builtin = function;
    return Value(std::move(callable));
  }
  return MakeUndefined(StrCat("'", node.name, "' is undefined"), runtime_.budget);
}

Result<Value> Evaluator::EvaluateItems(const ItemsNode& node) {
  std::vector<Value> items;
  for (const ExpressionPtr& item : node.items) {
    GDN_ASSIGN_OR_RETURN(Value value, Evaluate(*item));
    items.push_back(std::move(value));
  }
  return node.kind == ExpressionNode::Kind::kList ? MakeList(std::move(items), runtime_.budget)
                                                  : MakeTuple(std::move(items), runtime_.budget);
}

Result<Value> Evaluator::EvaluateDict(const DictNode& node) {
  auto dict = std::make_shared<DictObject>();
  for (const auto& entry : node.entries) {
    GDN_ASSIGN_OR_RETURN(Value key, Evaluate(*entry.first));
    GDN_ASSIGN_OR_RETURN(Value value, Evaluate(*entry.second));
    GDN_RETURN_IF_ERROR(dict->Set(std::move(key), std::move(value), runtime_.budget));
  }
  return Value(DictPtr(std::move(dict)));
}

Result<Value> Evaluator::EvaluateUnary(const UnaryNode& node) {
  GDN_ASSIGN_OR_RETURN(const Value operand, Evaluate(*node.operand));
  if (node.op == UnaryOp::kNot) return Value(!Truth(operand));
  return node.op == UnaryOp::kMinus ? Negate(operand) : Plus(operand);
}

Result<Value> Evaluator::EvaluateBinary(const BinaryNode& node) {
  GDN_ASSIGN_OR_RETURN(const Value left, Evaluate(*node.left));
  GDN_ASSIGN_OR_RETURN(const Value right, Evaluate(*node.right));
  return Binary(node.op, left, right, runtime_.budget);
}

Result<Value> Evaluator::EvaluateLogic(const LogicNode& node) {
  GDN_ASSIGN_OR_RETURN(Value left, Evaluate(*node.left));
  if (Truth(left) != node.is_and) return left;
  return Evaluate(*node.right);
}

Result<Value> Evaluator::EvaluateCompare(const CompareNode& node) {
  GDN_ASSIGN_OR_RETURN(Value left, Evaluate(*node.first));
  for (const auto& operand : node.rest) {
    GDN_ASSIGN_OR_RETURN(Value right, Evaluate(*operand.second));
    GDN_ASSIGN_OR_RETURN(const bool holds, Compare(operand.first, left, right, runtime_.budget));
    if (!holds) return Value(false);
    left = std::move(right);
  }
  return Value(true);
}

Result<Value> Evaluator::EvaluateConcat(const ItemsNode& node) {
  std::string text;
  for (const ExpressionPtr& item : node.items) {
    GDN_ASSIGN_OR_RETURN(const Value value, Evaluate(*item));
    GDN_RETURN_IF_ERROR(AppendStr(value, runtime_.budget, text));
  }
  return MakeString(std::move(text), runtime_.budget);
}

Result<Value> Evaluator::EvaluateConditional(const ConditionalNode& node) {
  GDN_ASSIGN_OR_RETURN(const Value test, Evaluate(*node.test));
  if (Truth(test)) return Evaluate(*node.if_true);
  if (node.if_false != nullptr) return Evaluate(*node.if_false);
  return MakeUndefined("an inline if has no else, and its condition is false", runtime_.budget);
}

Result<Value> Evaluator::EvaluateItem(const ItemNode& node) {
  GDN_ASSIGN_OR_RETURN(const Value object, Evaluate(*node.object));
  GDN_ASSIGN_OR_RETURN(const Value index, Evaluate(*node.index));
  return GetItem(object, index, runtime_);
}

Result<Value> Evaluator::EvaluateSlice(const SliceNode& node) {
  const auto part = [&](const ExpressionPtr& bound) -> Result<Value> {
    return bound == nullptr ? Value(None{}) : Evaluate(*bound);
  };
  GDN_ASSIGN_OR_RETURN(const Value object, Evaluate(*node.object));
  GDN_ASSIGN_OR_RETURN(const Value start, part(node.start));
  GDN_ASSIGN_OR_RETURN(const Value stop, part(node.stop));
  GDN_ASSIGN_OR_RETURN(const Value step, part(node.step));
  return Slice(object, start, stop, step, runtime_.budget);
}

Result<Value> Evaluator::EvaluateTest(const TestNode& node) {
  GDN_ASSIGN_OR_RETURN(const Value operand, Evaluate(*node.operand));
  GDN_ASSIGN_OR_RETURN(const Arguments arguments, EvaluateArguments(node.arguments));
  if (node.test == nullptr) return UnknownName("test", node.name);
  GDN_ASSIGN_OR_RETURN(const Value result, CallBuiltin(*node.test, runtime_, operand, arguments));
  return Value(Truth(result) != node.negated);
}

}  // namespace gdn::jinja
