// SPDX-License-Identifier: Apache-2.0
// Expressions: literals and what may follow them.
#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/str.h"
#include "chat_template/builtin.h"
#include "chat_template/convert.h"
#include "chat_template/parser.h"

namespace gdn::jinja {
namespace {

// Jinja's own filters that are not here.
constexpr std::string_view kMissingFilters[] = {
    "filesizeformat", "forceescape", "groupby", "pprint",   "random", "striptags",
    "truncate",       "urlencode",   "urlize",  "wordwrap", "xmlattr"};

int HeightOf(const ExpressionPtr& node) { return node == nullptr ? 0 : node->height; }

int HeightOf(const ArgumentNodes& arguments) {
  int height = 0;
  for (const ExpressionPtr& node : arguments.positional) height = std::max(height, node->height);
  for (const auto& [name, node] : arguments.named) height = std::max(height, node->height);
  return height;
}

}  // namespace

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

Status Parser::Unknown(int line, std::string_view type, const std::string& name) {
  Status status(StatusCode::kUnsupported,
                ErrorAt(line, StrCat("the ", type, " '", name.substr(0, 40), "' is not supported"))
                    .message());
  const bool is_jinjas = std::find(std::begin(kMissingFilters), std::end(kMissingFilters), name) !=
                         std::end(kMissingFilters);
  if (type == "filter" && is_jinjas) return status;
  unknown_.push_back(std::move(status));
  return OkStatus();
}

Result<FilterStep> Parser::Filter() {
  FilterStep step;
  const int line = Current().line;
  GDN_ASSIGN_OR_RETURN(step.name, ExpectName("the name of a filter"));
  step.filter = FindFilter(step.name);
  if (step.filter == nullptr) GDN_RETURN_IF_ERROR(Unknown(line, "filter", step.name));
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
  GDN_ASSIGN_OR_RETURN(node->name, ExpectName("the name of a test"));
  node->test = FindTest(node->name);
  if (node->test == nullptr) GDN_RETURN_IF_ERROR(Unknown(line, "test", node->name));
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
