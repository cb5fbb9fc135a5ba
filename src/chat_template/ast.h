// SPDX-License-Identifier: Apache-2.0
// A parsed template.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "chat_template/value.h"

namespace gdn::jinja {

struct Builtin;

struct ExpressionNode {
  enum class Kind {
    kConstant,
    kName,
    kList,
    kTuple,
    kDict,
    kUnary,
    kBinary,
    kLogic,
    kCompare,
    kConcat,
    kConditional,
    kAttribute,
    kItem,
    kSlice,
    kCall,
    kFilter,
    kTest,
  };
  ExpressionNode(Kind node_kind, int node_line) : kind(node_kind), line(node_line) {}
  ExpressionNode(const ExpressionNode&) = delete;
  ExpressionNode& operator=(const ExpressionNode&) = delete;
  virtual ~ExpressionNode() = default;

  Kind kind;
  int line;
  int height = 1;  // of the tree below, bounded by kMaxTreeHeight
};

using ExpressionPtr = std::unique_ptr<ExpressionNode>;

struct ConstantNode : ExpressionNode {
  ConstantNode(int node_line, Value node_value)
      : ExpressionNode(Kind::kConstant, node_line), value(std::move(node_value)) {}
  Value value;
};

struct NameNode : ExpressionNode {
  NameNode(int node_line, std::string node_name)
      : ExpressionNode(Kind::kName, node_line), name(std::move(node_name)) {}
  std::string name;
};

// A list, a tuple, and the operands of '~'.
struct ItemsNode : ExpressionNode {
  using ExpressionNode::ExpressionNode;
  std::vector<ExpressionPtr> items;
};

struct DictNode : ExpressionNode {
  explicit DictNode(int node_line) : ExpressionNode(Kind::kDict, node_line) {}
  std::vector<std::pair<ExpressionPtr, ExpressionPtr>> entries;
};

enum class UnaryOp { kNot, kMinus, kPlus };

struct UnaryNode : ExpressionNode {
  explicit UnaryNode(int node_line) : ExpressionNode(Kind::kUnary, node_line) {}
  UnaryOp op;
  ExpressionPtr operand;
};

enum class BinaryOp { kAdd, kSubtract, kMultiply, kDivide, kFloorDivide, kModulo, kPower };

struct BinaryNode : ExpressionNode {
  explicit BinaryNode(int node_line) : ExpressionNode(Kind::kBinary, node_line) {}
  BinaryOp op;
  ExpressionPtr left;
  ExpressionPtr right;
};

// `and`, `or`: the value of the operand that decides.
struct LogicNode : ExpressionNode {
  explicit LogicNode(int node_line) : ExpressionNode(Kind::kLogic, node_line) {}
  bool is_and;
  ExpressionPtr left;
  ExpressionPtr right;
};

enum class CompareOp { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual, kIn, kNotIn };

// a < b <= c: each pair of neighbours, until one is false.
struct CompareNode : ExpressionNode {
  explicit CompareNode(int node_line) : ExpressionNode(Kind::kCompare, node_line) {}
  ExpressionPtr first;
  std::vector<std::pair<CompareOp, ExpressionPtr>> rest;
};

struct ConditionalNode : ExpressionNode {
  explicit ConditionalNode(int node_line) : ExpressionNode(Kind::kConditional, node_line) {}
  ExpressionPtr test;
  ExpressionPtr if_true;
  ExpressionPtr if_false;  // null: undefined
};

struct AttributeNode : ExpressionNode {
  explicit AttributeNode(int node_line) : ExpressionNode(Kind::kAttribute, node_line) {}
  ExpressionPtr object;
  std::string name;
};

struct ItemNode : ExpressionNode {
  explicit ItemNode(int node_line) : ExpressionNode(Kind::kItem, node_line) {}
  ExpressionPtr object;
  ExpressionPtr index;
};

struct SliceNode : ExpressionNode {
  explicit SliceNode(int node_line) : ExpressionNode(Kind::kSlice, node_line) {}
  ExpressionPtr object;
  ExpressionPtr start;  // null where the source has none; the same for the others
  ExpressionPtr stop;
  ExpressionPtr step;
};

struct ArgumentNodes {
  std::vector<ExpressionPtr> positional;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
};

struct CallNode : ExpressionNode {
  explicit CallNode(int node_line) : ExpressionNode(Kind::kCall, node_line) {}
  ExpressionPtr callee;
  ArgumentNodes arguments;
};

// A filter with its arguments.
struct FilterStep {
  const Builtin* filter = nullptr;  // null: there is none of that name, which is an error at work
  std::string name;
  ArgumentNodes arguments;
};

struct FilterNode : ExpressionNode {
  explicit FilterNode(int node_line) : ExpressionNode(Kind::kFilter, node_line) {}
  ExpressionPtr operand;
  FilterStep step;
};

struct TestNode : ExpressionNode {
  explicit TestNode(int node_line) : ExpressionNode(Kind::kTest, node_line) {}
  ExpressionPtr operand;
  const Builtin* test = nullptr;  // null as in FilterStep
  std::string name;
  ArgumentNodes arguments;
  bool negated = false;
};

struct StatementNode {
  enum class Kind {
    kText,
    kOutput,
    kIf,
    kFor,
    kSet,
    kSetBlock,
    kMacro,
    kCallBlock,
    kFilterBlock,
    kWith,
    kScope,
    kBreak,
    kContinue,
  };
  StatementNode(Kind node_kind, int node_line) : kind(node_kind), line(node_line) {}
  StatementNode(const StatementNode&) = delete;
  StatementNode& operator=(const StatementNode&) = delete;
  virtual ~StatementNode() = default;

  Kind kind;
  int line;
};

using StatementPtr = std::unique_ptr<StatementNode>;
using Body = std::vector<StatementPtr>;

struct TextNode : StatementNode {
  TextNode(int node_line, std::string node_text)
      : StatementNode(Kind::kText, node_line), text(std::move(node_text)) {}
  std::string text;
};

struct OutputNode : StatementNode {
  explicit OutputNode(int node_line) : StatementNode(Kind::kOutput, node_line) {}
  ExpressionPtr value;
};

struct IfNode : StatementNode {
  explicit IfNode(int node_line) : StatementNode(Kind::kIf, node_line) {}
  std::vector<std::pair<ExpressionPtr, Body>> branches;
  Body otherwise;
};

// What is assigned to.
struct Target {
  enum class Kind { kName, kAttribute, kTuple };
  Kind kind = Kind::kName;
  std::string name;
  std::string attribute;      // kAttribute: of the namespace `name`
  std::vector<Target> items;  // kTuple
};

struct ForNode : StatementNode {
  explicit ForNode(int node_line) : StatementNode(Kind::kFor, node_line) {}
  Target target;
  ExpressionPtr iterable;
  ExpressionPtr filter;  // may be null
  Body body;
  Body otherwise;
};

struct SetNode : StatementNode {
  explicit SetNode(int node_line) : StatementNode(Kind::kSet, node_line) {}
  Target target;
  ExpressionPtr value;
};

struct SetBlockNode : StatementNode {
  explicit SetBlockNode(int node_line) : StatementNode(Kind::kSetBlock, node_line) {}
  Target target;
  std::vector<FilterStep> filters;
  Body body;
};

struct MacroNode : StatementNode {
  explicit MacroNode(int node_line) : StatementNode(Kind::kMacro, node_line) {}
  std::string name;
  std::vector<std::string> parameters;
  std::vector<ExpressionPtr> defaults;  // of the last parameters
  Body body;
  // What the body mentions of the names that only macros have.
  bool uses_caller = false;
  bool uses_varargs = false;
  bool uses_kwargs = false;
};

// {% call %}: the body is the macro that the call sees as caller().
struct CallBlockNode : StatementNode {
  explicit CallBlockNode(int node_line) : StatementNode(Kind::kCallBlock, node_line) {}
  std::unique_ptr<MacroNode> caller;
  std::unique_ptr<CallNode> call;
};

struct FilterBlockNode : StatementNode {
  explicit FilterBlockNode(int node_line) : StatementNode(Kind::kFilterBlock, node_line) {}
  std::vector<FilterStep> filters;
  Body body;
};

struct WithNode : StatementNode {
  explicit WithNode(int node_line) : StatementNode(Kind::kWith, node_line) {}
  std::vector<std::pair<Target, ExpressionPtr>> assignments;
  Body body;
};

// {% generation %}: its body, in a scope of its own.
struct ScopeNode : StatementNode {
  explicit ScopeNode(int node_line) : StatementNode(Kind::kScope, node_line) {}
  Body body;
};

// {% break %} and {% continue %}.
struct JumpNode : StatementNode {
  using StatementNode::StatementNode;
};

}  // namespace gdn::jinja
