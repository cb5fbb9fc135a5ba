// SPDX-License-Identifier: Apache-2.0
// Expressions: operators, loosest first.
#include <algorithm>

#include "base/str.h"
#include "chat_template/parser.h"

namespace gdn::jinja {
namespace {

int HeightOf(const ExpressionPtr& node) { return node == nullptr ? 0 : node->height; }

}  // namespace

// tallest is the height of the tallest child.
Parser::ExpressionResult Parser::Finish(ExpressionPtr node, int tallest) const {
  node->height = 1 + tallest;
  if (node->height <= kMaxTreeHeight) return node;
  return ErrorAt(node->line,
                 StrCat("an expression has more than ", kMaxTreeHeight, " operations in a chain"));
}

bool Parser::AtTupleEnd() const {
  return Current().kind == Token::Kind::kOutputEnd || Current().kind == Token::Kind::kBlockEnd ||
         IsOperator(")") || IsName("in");
}

Parser::ExpressionResult Parser::TupleOrExpression(bool with_conditional) {
  const int line = Current().line;
  const auto item = [&] { return with_conditional ? Expression() : Or(); };
  GDN_ASSIGN_OR_RETURN(ExpressionPtr first, item());
  if (!IsOperator(",")) return first;
  auto tuple = std::make_unique<ItemsNode>(ExpressionNode::Kind::kTuple, line);
  int tallest = first->height;
  tuple->items.push_back(std::move(first));
  while (SkipOperator(",")) {
    if (AtTupleEnd()) break;
    GDN_ASSIGN_OR_RETURN(ExpressionPtr next, item());
    tallest = std::max(tallest, next->height);
    tuple->items.push_back(std::move(next));
  }
  return Finish(std::move(tuple), tallest);
}

Parser::ExpressionResult Parser::Expression() {
  const LevelGuard level(*this);
  GDN_RETURN_IF_ERROR(level.Check());
  return Conditional();
}

Parser::ExpressionResult Parser::Conditional() {
  const size_t unknown = unknown_.size();
  GDN_ASSIGN_OR_RETURN(ExpressionPtr node, Or());
  while (IsName("if")) {
    auto conditional = std::make_unique<ConditionalNode>(Next().line);
    conditional->if_true = std::move(node);
    GDN_ASSIGN_OR_RETURN(conditional->test, Or());
    if (SkipName("else")) {
      GDN_ASSIGN_OR_RETURN(conditional->if_false, Expression());
    }
    const int tallest = std::max({HeightOf(conditional->if_true), HeightOf(conditional->test),
                                  HeightOf(conditional->if_false)});
    GDN_ASSIGN_OR_RETURN(node, Finish(std::move(conditional), tallest));
    unknown_.resize(unknown);
  }
  return node;
}

Parser::ExpressionResult Parser::Or() {
  GDN_ASSIGN_OR_RETURN(ExpressionPtr node, And());
  while (IsName("or")) {
    auto logic = std::make_unique<LogicNode>(Next().line);
    logic->is_and = false;
    logic->left = std::move(node);
    GDN_ASSIGN_OR_RETURN(logic->right, And());
    const int tallest = std::max(HeightOf(logic->left), HeightOf(logic->right));
    GDN_ASSIGN_OR_RETURN(node, Finish(std::move(logic), tallest));
  }
  return node;
}

Parser::ExpressionResult Parser::And() {
  GDN_ASSIGN_OR_RETURN(ExpressionPtr node, Not());
  while (IsName("and")) {
    auto logic = std::make_unique<LogicNode>(Next().line);
    logic->is_and = true;
    logic->left = std::move(node);
    GDN_ASSIGN_OR_RETURN(logic->right, Not());
    const int tallest = std::max(HeightOf(logic->left), HeightOf(logic->right));
    GDN_ASSIGN_OR_RETURN(node, Finish(std::move(logic), tallest));
  }
  return node;
}

Parser::ExpressionResult Parser::Not() {
  if (!IsName("not")) return Compare();
  const LevelGuard level(*this);
  GDN_RETURN_IF_ERROR(level.Check());
  auto node = std::make_unique<UnaryNode>(Next().line);
  node->op = UnaryOp::kNot;
  GDN_ASSIGN_OR_RETURN(node->operand, Not());
  const int tallest = HeightOf(node->operand);
  return Finish(std::move(node), tallest);
}

// Reads a comparison operator, if there is one.
Result<bool> Parser::CompareOperator(CompareOp& op) {
  constexpr std::pair<std::string_view, CompareOp> kOperators[] = {
      {"==", CompareOp::kEqual},     {"!=", CompareOp::kNotEqual}, {"<", CompareOp::kLess},
      {"<=", CompareOp::kLessEqual}, {">", CompareOp::kGreater},   {">=", CompareOp::kGreaterEqual},
  };
  for (const auto& [text, value] : kOperators) {
    if (SkipOperator(text)) {
      op = value;
      return true;
    }
  }
  if (SkipName("in")) {
    op = CompareOp::kIn;
    return true;
  }
  if (IsName("not") && Ahead().kind == Token::Kind::kName && Ahead().text == "in") {
    Next();
    Next();
    op = CompareOp::kNotIn;
    return true;
  }
  return false;
}

Parser::ExpressionResult Parser::Compare() {
  GDN_ASSIGN_OR_RETURN(ExpressionPtr first, Sum());
  auto node = std::make_unique<CompareNode>(Current().line);
  int tallest = first->height;
  while (true) {
    CompareOp op{};
    GDN_ASSIGN_OR_RETURN(const bool found, CompareOperator(op));
    if (!found) break;
    GDN_ASSIGN_OR_RETURN(ExpressionPtr operand, Sum());
    tallest = std::max(tallest, operand->height);
    node->rest.emplace_back(op, std::move(operand));
  }
  if (node->rest.empty()) return first;
  node->first = std::move(first);
  return Finish(std::move(node), tallest);
}

Parser::ExpressionResult Parser::Sum() {
  GDN_ASSIGN_OR_RETURN(ExpressionPtr node, Concat());
  while (IsOperator("+") || IsOperator("-")) {
    auto binary = std::make_unique<BinaryNode>(Current().line);
    binary->op = Next().text == "+" ? BinaryOp::kAdd : BinaryOp::kSubtract;
    binary->left = std::move(node);
    GDN_ASSIGN_OR_RETURN(binary->right, Concat());
    const int tallest = std::max(HeightOf(binary->left), HeightOf(binary->right));
    GDN_ASSIGN_OR_RETURN(node, Finish(std::move(binary), tallest));
  }
  return node;
}

Parser::ExpressionResult Parser::Concat() {
  GDN_ASSIGN_OR_RETURN(ExpressionPtr first, Product());
  if (!IsOperator("~")) return first;
  auto node = std::make_unique<ItemsNode>(ExpressionNode::Kind::kConcat, Current().line);
  int tallest = first->height;
  node->items.push_back(std::move(first));
  while (SkipOperator("~")) {
    GDN_ASSIGN_OR_RETURN(ExpressionPtr item, Product());
    tallest = std::max(tallest, item->height);
    node->items.push_back(std::move(item));
  }
  return Finish(std::move(node), tallest);
}

Parser::ExpressionResult Parser::Product() {
  GDN_ASSIGN_OR_RETURN(ExpressionPtr node, Power());
  while (IsOperator("*") || IsOperator("/") || IsOperator("//") || IsOperator("%")) {
    auto binary = std::make_unique<BinaryNode>(Current().line);
    const std::string& op = Next().text;
    binary->op = op == "*"    ? BinaryOp::kMultiply
                 : op == "/"  ? BinaryOp::kDivide
                 : op == "//" ? BinaryOp::kFloorDivide
                              : BinaryOp::kModulo;
    binary->left = std::move(node);
    GDN_ASSIGN_OR_RETURN(binary->right, Power());
    const int tallest = std::max(HeightOf(binary->left), HeightOf(binary->right));
    GDN_ASSIGN_OR_RETURN(node, Finish(std::move(binary), tallest));
  }
  return node;
}

// From left to right, unlike in Python.
Parser::ExpressionResult Parser::Power() {
  GDN_ASSIGN_OR_RETURN(ExpressionPtr node, Unary(/*with_filters=*/true));
  while (IsOperator("**")) {
    auto binary = std::make_unique<BinaryNode>(Next().line);
    binary->op = BinaryOp::kPower;
    binary->left = std::move(node);
    GDN_ASSIGN_OR_RETURN(binary->right, Unary(/*with_filters=*/true));
    const int tallest = std::max(HeightOf(binary->left), HeightOf(binary->right));
    GDN_ASSIGN_OR_RETURN(node, Finish(std::move(binary), tallest));
  }
  return node;
}

Parser::ExpressionResult Parser::Unary(bool with_filters) {
  ExpressionPtr node;
  if (IsOperator("-") || IsOperator("+")) {
    const LevelGuard level(*this);
    GDN_RETURN_IF_ERROR(level.Check());
    auto unary = std::make_unique<UnaryNode>(Current().line);
    unary->op = Next().text == "-" ? UnaryOp::kMinus : UnaryOp::kPlus;
    GDN_ASSIGN_OR_RETURN(unary->operand, Unary(/*with_filters=*/false));
    const int tallest = HeightOf(unary->operand);
    GDN_ASSIGN_OR_RETURN(node, Finish(std::move(unary), tallest));
  } else {
    GDN_ASSIGN_OR_RETURN(node, Primary());
  }
  GDN_ASSIGN_OR_RETURN(node, Postfix(std::move(node)));
  if (!with_filters) return node;
  return Filters(std::move(node));
}

}  // namespace gdn::jinja
