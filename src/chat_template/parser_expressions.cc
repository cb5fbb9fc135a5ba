// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>

#include "base/str.h"
#include "chat_template/builtin.h"
#include "chat_template/convert.h"
#include "chat_template/parser.h"

namespace gdn::jinja {
namespace {

int HeightOf(const ExpressionPtr& node) { return node == nullptr ? 0 : node->height; }

int HeightOf(const ArgumentNodes& arguments) {
  int height = 0;
  for (const ExpressionPtr& node : arguments.positional) height = std::max(height, node->height);
  for (const auto& [name, node] : arguments.named) height = std::max(height, node->height);
  return height;
}

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

Parser::ExpressionResult Parser::Primary() {
  switch (Current().kind) {
    case Token::Kind::kName:
      return NamePrimary();
    case Token::Kind::kString:
      return StringPrimary();
    case Token::Kind::kInteger:
    case Token::Kind::kFloat:
      return NumberPrimary();
    default:
      break;
  }
  const LevelGuard level(*this);
  GDN_RETURN_IF_ERROR(level.Check());
  if (IsOperator("(")) return Parenthesized();
  if (IsOperator("[")) return ListLiteral();
  if (IsOperator("{")) return DictLiteral();
  return Unexpected("an expression");
}

Parser::ExpressionResult Parser::NamePrimary() {
  const Token& token = Next();
  const std::string& name = token.text;
  const auto constant = [&](Value value) -> ExpressionResult {
    return ExpressionPtr(std::make_unique<ConstantNode>(token.line, std::move(value)));
  };
  if (name == "true" || name == "True") return constant(true);
  if (name == "false" || name == "False") return constant(false);
  if (name == "none" || name == "None") return constant(None{});
  for (MacroNode* const macro : macros_) {
    macro->uses_caller |= name == "caller";
    macro->uses_varargs |= name == "varargs";
    macro->uses_kwargs |= name == "kwargs";
  }
  return ExpressionPtr(std::make_unique<NameNode>(token.line, name));
}

Parser::ExpressionResult Parser::NumberPrimary() {
  const Token& token = Next();
  const std::string& text = token.text;
  if (token.kind == Token::Kind::kFloat) {
    return ExpressionPtr(
        std::make_unique<ConstantNode>(token.line, Value(std::strtod(text.c_str(), nullptr))));
  }
  const std::optional<Int> number = ParseInt(text, /*base=*/0);
  if (!number) return ErrorAt(token.line, "an integer needs more than 128 bits");
  return ExpressionPtr(std::make_unique<ConstantNode>(token.line, Value(*number)));
}

Parser::ExpressionResult Parser::StringPrimary() {
  const int line = Current().line;
  std::string text;
  while (Current().kind == Token::Kind::kString) text += Next().text;
  GDN_ASSIGN_OR_RETURN(Value value, MakeString(std::move(text), budget_));
  return ExpressionPtr(std::make_unique<ConstantNode>(line, std::move(value)));
}

Parser::ExpressionResult Parser::Parenthesized() {
  const int line = Next().line;
  if (SkipOperator(")")) {
    return ExpressionPtr(std::make_unique<ItemsNode>(ExpressionNode::Kind::kTuple, line));
  }
  GDN_ASSIGN_OR_RETURN(ExpressionPtr node, TupleOrExpression(/*with_conditional=*/true));
  GDN_RETURN_IF_ERROR(ExpectOperator(")"));
  return node;
}

Parser::ExpressionResult Parser::ListLiteral() {
  auto node = std::make_unique<ItemsNode>(ExpressionNode::Kind::kList, Next().line);
  int tallest = 0;
  while (!IsOperator("]")) {
    if (!node->items.empty()) GDN_RETURN_IF_ERROR(ExpectOperator(","));
    if (IsOperator("]")) break;
    GDN_ASSIGN_OR_RETURN(ExpressionPtr item, Expression());
    tallest = std::max(tallest, item->height);
    node->items.push_back(std::move(item));
  }
  Next();
  return Finish(std::move(node), tallest);
}

Parser::ExpressionResult Parser::DictLiteral() {
  auto node = std::make_unique<DictNode>(Next().line);
  int tallest = 0;
  while (!IsOperator("}")) {
    if (!node->entries.empty()) GDN_RETURN_IF_ERROR(ExpectOperator(","));
    if (IsOperator("}")) break;
    GDN_ASSIGN_OR_RETURN(ExpressionPtr key, Expression());
    GDN_RETURN_IF_ERROR(ExpectOperator(":"));
    GDN_ASSIGN_OR_RETURN(ExpressionPtr value, Expression());
    tallest = std::max({tallest, key->height, value->height});
    node->entries.emplace_back(std::move(key), std::move(value));
  }
  Next();
  return Finish(std::move(node), tallest);
}

Parser::ExpressionResult Parser::Postfix(ExpressionPtr node) {
  while (true) {
    if (IsOperator(".") || IsOperator("[")) {
      GDN_ASSIGN_OR_RETURN(node, Subscript(std::move(node)));
    } else if (IsOperator("(")) {
      GDN_ASSIGN_OR_RETURN(node, Call(std::move(node)));
    } else {
      return node;
    }
  }
}

Parser::ExpressionResult Parser::Subscript(ExpressionPtr object) {
  const int line = Current().line;
  if (SkipOperator(".")) {
    const int tallest = object->height;
    if (Current().kind == Token::Kind::kName) {
      auto node = std::make_unique<AttributeNode>(line);
      node->object = std::move(object);
      node->name = Next().text;
      return Finish(std::move(node), tallest);
    }
    if (Current().kind != Token::Kind::kInteger) return Unexpected("a name or an integer");
    auto node = std::make_unique<ItemNode>(line);
    node->object = std::move(object);
    GDN_ASSIGN_OR_RETURN(node->index, NumberPrimary());
    return Finish(std::move(node), tallest);
  }
  Next();  // '['
  const auto part_follows = [&] { return !IsOperator(":") && !IsOperator("]"); };
  ExpressionPtr start;
  if (part_follows()) {
    GDN_ASSIGN_OR_RETURN(start, Expression());
  }
  if (!IsOperator(":")) {
    if (start == nullptr) return Unexpected("an index");
    if (IsOperator(",")) {
      return Status(StatusCode::kUnsupported,
                    Fail("an index of several parts is not supported").message());
    }
    GDN_RETURN_IF_ERROR(ExpectOperator("]"));
    auto node = std::make_unique<ItemNode>(line);
    node->object = std::move(object);
    node->index = std::move(start);
    const int tallest = std::max(HeightOf(node->object), HeightOf(node->index));
    return Finish(std::move(node), tallest);
  }
  auto node = std::make_unique<SliceNode>(line);
  node->object = std::move(object);
  node->start = std::move(start);
  Next();
  if (part_follows()) {
    GDN_ASSIGN_OR_RETURN(node->stop, Expression());
  }
  if (SkipOperator(":") && part_follows()) {
    GDN_ASSIGN_OR_RETURN(node->step, Expression());
  }
  GDN_RETURN_IF_ERROR(ExpectOperator("]"));
  const int tallest = std::max(
      {HeightOf(node->object), HeightOf(node->start), HeightOf(node->stop), HeightOf(node->step)});
  return Finish(std::move(node), tallest);
}

Result<ArgumentNodes> Parser::CallArguments() {
  const LevelGuard level(*this);
  GDN_RETURN_IF_ERROR(level.Check());
  ArgumentNodes out;
  GDN_RETURN_IF_ERROR(ExpectOperator("("));
  bool first = true;
  while (!IsOperator(")")) {
    if (!first) GDN_RETURN_IF_ERROR(ExpectOperator(","));
    if (IsOperator(")")) break;
    first = false;
    if (IsOperator("*") || IsOperator("**")) {
      return Status(
          StatusCode::kUnsupported,
          Fail(StrCat("'", Current().text, "' before an argument is not supported")).message());
    }
    const bool is_named = Current().kind == Token::Kind::kName &&
                          Ahead().kind == Token::Kind::kOperator && Ahead().text == "=";
    std::string name;
    if (is_named) {
      name = Next().text;
      Next();
    } else if (!out.named.empty()) {
      return Fail("an argument without a name follows one that has it");
    }
    GDN_ASSIGN_OR_RETURN(ExpressionPtr value, Expression());
    if (is_named) {
      for (const auto& [other, node] : out.named) {
        if (other == name) return Fail(StrCat("two arguments have the name ", Quoted(name)));
      }
      out.named.emplace_back(std::move(name), std::move(value));
    } else {
      out.positional.push_back(std::move(value));
    }
  }
  Next();
  return out;
}

Parser::ExpressionResult Parser::Call(ExpressionPtr callee) {
  auto node = std::make_unique<CallNode>(Current().line);
  node->callee = std::move(callee);
  GDN_ASSIGN_OR_RETURN(node->arguments, CallArguments());
  const int tallest = std::max(HeightOf(node->callee), HeightOf(node->arguments));
  return Finish(std::move(node), tallest);
}

Result<FilterStep> Parser::Filter() {
  FilterStep step;
  const int line = Current().line;
  GDN_ASSIGN_OR_RETURN(const std::string name, ExpectName("the name of a filter"));
  step.filter = FindFilter(name);
  if (step.filter == nullptr) {
    return Status(
        StatusCode::kUnsupported,
        ErrorAt(line, StrCat("the filter '", name.substr(0, 40), "' is not supported")).message());
  }
  if (IsOperator("(")) {
    GDN_ASSIGN_OR_RETURN(step.arguments, CallArguments());
  }
  return step;
}

Parser::ExpressionResult Parser::Filters(ExpressionPtr node) {
  while (true) {
    if (IsOperator("|")) {
      auto filter = std::make_unique<FilterNode>(Next().line);
      GDN_ASSIGN_OR_RETURN(filter->step, Filter());
      const int tallest = std::max(node->height, HeightOf(filter->step.arguments));
      filter->operand = std::move(node);
      GDN_ASSIGN_OR_RETURN(node, Finish(std::move(filter), tallest));
    } else if (IsName("is")) {
      GDN_ASSIGN_OR_RETURN(node, Test(std::move(node)));
    } else if (IsOperator("(")) {
      GDN_ASSIGN_OR_RETURN(node, Call(std::move(node)));
    } else {
      return node;
    }
  }
}

Parser::ExpressionResult Parser::Test(ExpressionPtr operand) {
  auto node = std::make_unique<TestNode>(Next().line);
  node->negated = SkipName("not");
  const int line = Current().line;
  GDN_ASSIGN_OR_RETURN(const std::string name, ExpectName("the name of a test"));
  node->test = FindTest(name);
  if (node->test == nullptr) {
    return Status(
        StatusCode::kUnsupported,
        ErrorAt(line, StrCat("the test '", name.substr(0, 40), "' is not supported")).message());
  }
  const Token::Kind kind = Current().kind;
  const bool literal = kind == Token::Kind::kName || kind == Token::Kind::kString ||
                       kind == Token::Kind::kInteger || kind == Token::Kind::kFloat ||
                       IsOperator("[") || IsOperator("{");
  if (IsOperator("(")) {
    GDN_ASSIGN_OR_RETURN(node->arguments, CallArguments());
  } else if (literal && !IsName("else") && !IsName("or") && !IsName("and")) {
    if (IsName("is")) return Fail("a test follows a test, must have parentheses around the first");
    GDN_ASSIGN_OR_RETURN(ExpressionPtr argument, Primary());
    GDN_ASSIGN_OR_RETURN(argument, Postfix(std::move(argument)));
    node->arguments.positional.push_back(std::move(argument));
  }
  const int tallest = std::max(operand->height, HeightOf(node->arguments));
  node->operand = std::move(operand);
  return Finish(std::move(node), tallest);
}

}  // namespace gdn::jinja
