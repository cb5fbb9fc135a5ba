// SPDX-License-Identifier: Apache-2.0
// Tokens to a tree. Statements, operators and primaries have a source each.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "chat_template/ast.h"
#include "chat_template/budget.h"
#include "chat_template/lexer.h"

namespace gdn::jinja {

// Errors: kInvalidArgument where the source is not a template, kUnsupported where it uses what is
// not here; with the line.
Result<Body> ParseTemplate(std::string_view source);

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Result<Body> Run();

 private:
  using ExpressionResult = Result<ExpressionPtr>;
  using StatementResult = Result<StatementPtr>;

  // Tokens.
  const Token& Current() const { return tokens_[position_]; }
  const Token& Ahead() const;
  const Token& Next();
  bool IsOperator(std::string_view op) const;
  bool IsName(std::string_view name) const;
  bool SkipOperator(std::string_view op);
  bool SkipName(std::string_view name);
  Status ExpectOperator(std::string_view op);
  Result<std::string> ExpectName(std::string_view what);
  Status Fail(std::string_view message) const;
  Status Unexpected(std::string_view wanted) const;
  class LevelGuard;

  // Expressions, loosest first.
  ExpressionResult Expression();
  ExpressionResult Conditional();
  ExpressionResult Or();
  ExpressionResult And();
  ExpressionResult Not();
  ExpressionResult Compare();
  ExpressionResult Sum();
  ExpressionResult Concat();
  ExpressionResult Product();
  ExpressionResult Power();
  ExpressionResult Unary(bool with_filters);
  ExpressionResult Primary();
  ExpressionResult NamePrimary();
  ExpressionResult NumberPrimary();
  ExpressionResult StringPrimary();
  ExpressionResult Parenthesized();
  ExpressionResult ListLiteral();
  ExpressionResult DictLiteral();
  ExpressionResult Postfix(ExpressionPtr node);
  ExpressionResult Subscript(ExpressionPtr object);
  ExpressionResult Filters(ExpressionPtr node);
  ExpressionResult Call(ExpressionPtr callee);
  ExpressionResult Test(ExpressionPtr operand);
  // An expression, or a tuple where commas follow.
  ExpressionResult TupleOrExpression(bool with_conditional);
  bool AtTupleEnd() const;
  Result<ArgumentNodes> CallArguments();
  Result<FilterStep> Filter();
  // For a filter or test that does not exist.
  Status Unknown(int line, std::string_view type, const std::string& name);
  Result<bool> CompareOperator(CompareOp& op);
  ExpressionResult Finish(ExpressionPtr node, int tallest) const;

  // Statements.
  Result<Body> Statements(const std::vector<std::string_view>& ends);
  Status TextOrOutput(Body& body);
  StatementResult Statement();
  StatementResult If();
  StatementResult For();
  StatementResult Set();
  StatementResult Macro();
  StatementResult CallBlock();
  StatementResult FilterBlock();
  StatementResult With();
  StatementResult Generation();
  StatementResult Jump(StatementNode::Kind kind);
  StatementResult Print();
  Status Signature(MacroNode& macro);
  Status MacroBody(MacroNode& macro, std::string_view end);
  Result<Target> AssignmentTarget(bool with_attribute);
  Result<Target> SingleTarget(bool with_attribute);
  Result<std::vector<FilterStep>> FilterChain();
  Status ExpectBlockEnd();
  // The body up to the tag `end`, and that tag.
  Result<Body> BodyUntil(std::string_view end);

  std::vector<Token> tokens_;
  size_t position_ = 0;
  int level_ = 0;
  int loops_ = 0;  // around the current statement, within its macro
  std::vector<MacroNode*> macros_;
  // Of unknown filters and tests so far. Within a condition they are errors only when the render
  // gets there, as in the reference: templates call filters of other programs in branches for
  // those.
  std::vector<Status> unknown_;
  Budget budget_;  // of the constants
};

// Counts a level while it lives.
class Parser::LevelGuard {
 public:
  explicit LevelGuard(Parser& parser) : parser_(parser) { ++parser_.level_; }
  LevelGuard(const LevelGuard&) = delete;
  LevelGuard& operator=(const LevelGuard&) = delete;
  ~LevelGuard() { --parser_.level_; }

  Status Check() const;

 private:
  Parser& parser_;
};

}  // namespace gdn::jinja
