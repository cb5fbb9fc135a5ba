// SPDX-License-Identifier: Apache-2.0
// The statements, a function a tag.
#include "base/str.h"
#include "chat_template/parser.h"

namespace gdn::jinja {

Parser::StatementResult Parser::If() {
  auto node = std::make_unique<IfNode>(Next().line);
  while (true) {
    GDN_ASSIGN_OR_RETURN(ExpressionPtr test, TupleOrExpression(/*with_conditional=*/false));
    GDN_RETURN_IF_ERROR(ExpectBlockEnd());
    const size_t unknown = unknown_.size();
    GDN_ASSIGN_OR_RETURN(Body body, Statements({"elif", "else", "endif"}));
    unknown_.resize(unknown);
    node->branches.emplace_back(std::move(test), std::move(body));
    if (!SkipName("elif")) break;
  }
  if (SkipName("else")) {
    const size_t unknown = unknown_.size();
    GDN_ASSIGN_OR_RETURN(node->otherwise, BodyUntil("endif"));
    unknown_.resize(unknown);
  } else {
    Next();
  }
  return StatementPtr(std::move(node));
}

Parser::StatementResult Parser::For() {
  auto node = std::make_unique<ForNode>(Next().line);
  GDN_ASSIGN_OR_RETURN(node->target, AssignmentTarget(/*with_attribute=*/false));
  if (!SkipName("in")) return Unexpected("'in'");
  GDN_ASSIGN_OR_RETURN(node->iterable, TupleOrExpression(/*with_conditional=*/false));
  if (SkipName("if")) {
    GDN_ASSIGN_OR_RETURN(node->filter, Expression());
  }
  if (IsName("recursive")) {
    return Status(StatusCode::kUnsupported, Fail("a recursive loop is not supported").message());
  }
  GDN_RETURN_IF_ERROR(ExpectBlockEnd());
  ++loops_;
  GDN_ASSIGN_OR_RETURN(node->body, Statements({"else", "endfor"}));
  --loops_;
  if (SkipName("else")) {
    GDN_ASSIGN_OR_RETURN(node->otherwise, BodyUntil("endfor"));
  } else {
    Next();
  }
  return StatementPtr(std::move(node));
}

Result<Target> Parser::SingleTarget(bool with_attribute) {
  Target target;
  if (SkipOperator("(")) {
    const LevelGuard level(*this);
    GDN_RETURN_IF_ERROR(level.Check());
    GDN_ASSIGN_OR_RETURN(target, AssignmentTarget(with_attribute));
    GDN_RETURN_IF_ERROR(ExpectOperator(")"));
    return target;
  }
  GDN_ASSIGN_OR_RETURN(target.name, ExpectName("the name of a variable"));
  for (const char* const word : {"true", "false", "none", "True", "False", "None"}) {
    if (target.name == word) return Fail(StrCat("cannot assign to '", word, "'"));
  }
  if (with_attribute && SkipOperator(".")) {
    target.kind = Target::Kind::kAttribute;
    GDN_ASSIGN_OR_RETURN(target.attribute, ExpectName("the name of an attribute"));
  }
  return target;
}

Result<Target> Parser::AssignmentTarget(bool with_attribute) {
  GDN_ASSIGN_OR_RETURN(Target first, SingleTarget(with_attribute));
  if (!IsOperator(",")) return first;
  Target tuple;
  tuple.kind = Target::Kind::kTuple;
  tuple.items.push_back(std::move(first));
  while (SkipOperator(",")) {
    if (Current().kind != Token::Kind::kName && !IsOperator("(")) break;
    if (IsName("in")) break;
    GDN_ASSIGN_OR_RETURN(Target item, SingleTarget(with_attribute));
    tuple.items.push_back(std::move(item));
  }
  return tuple;
}

Parser::StatementResult Parser::Set() {
  const int line = Next().line;
  GDN_ASSIGN_OR_RETURN(Target target, AssignmentTarget(/*with_attribute=*/true));
  if (SkipOperator("=")) {
    auto node = std::make_unique<SetNode>(line);
    node->target = std::move(target);
    GDN_ASSIGN_OR_RETURN(node->value, TupleOrExpression(/*with_conditional=*/true));
    return StatementPtr(std::move(node));
  }
  auto node = std::make_unique<SetBlockNode>(line);
  node->target = std::move(target);
  if (SkipOperator("|")) {
    GDN_ASSIGN_OR_RETURN(node->filters, FilterChain());
  }
  GDN_ASSIGN_OR_RETURN(node->body, BodyUntil("endset"));
  return StatementPtr(std::move(node));
}

Result<std::vector<FilterStep>> Parser::FilterChain() {
  std::vector<FilterStep> chain;
  do {
    GDN_ASSIGN_OR_RETURN(FilterStep step, Filter());
    chain.push_back(std::move(step));
  } while (SkipOperator("|"));
  return chain;
}

Status Parser::Signature(MacroNode& macro) {
  GDN_RETURN_IF_ERROR(ExpectOperator("("));
  while (!IsOperator(")")) {
    if (!macro.parameters.empty()) GDN_RETURN_IF_ERROR(ExpectOperator(","));
    GDN_ASSIGN_OR_RETURN(std::string name, ExpectName("the name of a parameter"));
    macro.parameters.push_back(std::move(name));
    if (SkipOperator("=")) {
      GDN_ASSIGN_OR_RETURN(ExpressionPtr value, Expression());
      macro.defaults.push_back(std::move(value));
    } else if (!macro.defaults.empty()) {
      return Fail("a parameter without a default follows one that has it");
    }
  }
  Next();
  return OkStatus();
}

// A jump in the body does not reach a loop around the macro.
Status Parser::MacroBody(MacroNode& macro, std::string_view end) {
  const int loops = loops_;
  loops_ = 0;
  macros_.push_back(&macro);
  GDN_ASSIGN_OR_RETURN(macro.body, BodyUntil(end));
  macros_.pop_back();
  loops_ = loops;
  return OkStatus();
}

Parser::StatementResult Parser::Macro() {
  auto node = std::make_unique<MacroNode>(Next().line);
  GDN_ASSIGN_OR_RETURN(node->name, ExpectName("the name of the macro"));
  macros_.push_back(node.get());  // a default may use caller too
  GDN_RETURN_IF_ERROR(Signature(*node));
  macros_.pop_back();
  GDN_RETURN_IF_ERROR(MacroBody(*node, "endmacro"));
  return StatementPtr(std::move(node));
}

Parser::StatementResult Parser::CallBlock() {
  auto node = std::make_unique<CallBlockNode>(Next().line);
  node->caller = std::make_unique<MacroNode>(node->line);
  node->caller->name = "caller";
  if (IsOperator("(")) GDN_RETURN_IF_ERROR(Signature(*node->caller));
  GDN_ASSIGN_OR_RETURN(ExpressionPtr call, Expression());
  if (call->kind != ExpressionNode::Kind::kCall) return Fail("the tag 'call' must have a call");
  node->call.reset(static_cast<CallNode*>(call.release()));
  GDN_RETURN_IF_ERROR(MacroBody(*node->caller, "endcall"));
  return StatementPtr(std::move(node));
}

Parser::StatementResult Parser::FilterBlock() {
  auto node = std::make_unique<FilterBlockNode>(Next().line);
  GDN_ASSIGN_OR_RETURN(node->filters, FilterChain());
  GDN_ASSIGN_OR_RETURN(node->body, BodyUntil("endfilter"));
  return StatementPtr(std::move(node));
}

Parser::StatementResult Parser::With() {
  auto node = std::make_unique<WithNode>(Next().line);
  while (Current().kind != Token::Kind::kBlockEnd) {
    if (!node->assignments.empty()) GDN_RETURN_IF_ERROR(ExpectOperator(","));
    GDN_ASSIGN_OR_RETURN(Target target, AssignmentTarget(/*with_attribute=*/false));
    GDN_RETURN_IF_ERROR(ExpectOperator("="));
    GDN_ASSIGN_OR_RETURN(ExpressionPtr value, Expression());
    node->assignments.emplace_back(std::move(target), std::move(value));
  }
  GDN_ASSIGN_OR_RETURN(node->body, BodyUntil("endwith"));
  return StatementPtr(std::move(node));
}

Parser::StatementResult Parser::Generation() {
  auto node = std::make_unique<ScopeNode>(Next().line);
  const int loops = loops_;
  loops_ = 0;  // the reference makes the body a macro
  GDN_ASSIGN_OR_RETURN(node->body, BodyUntil("endgeneration"));
  loops_ = loops;
  return StatementPtr(std::move(node));
}

Parser::StatementResult Parser::Jump(StatementNode::Kind kind) {
  if (loops_ == 0) return Fail(StrCat("'", Current().text, "' is outside of a loop"));
  return StatementPtr(std::make_unique<JumpNode>(kind, Next().line));
}

Parser::StatementResult Parser::Print() {
  auto node = std::make_unique<OutputNode>(Next().line);
  GDN_ASSIGN_OR_RETURN(node->value, TupleOrExpression(/*with_conditional=*/true));
  return StatementPtr(std::move(node));
}

}  // namespace gdn::jinja
