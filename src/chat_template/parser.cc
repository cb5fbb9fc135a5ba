// SPDX-License-Identifier: Apache-2.0
// The statements, and the tokens that both halves read.
#include "chat_template/parser.h"

#include <algorithm>

#include "base/str.h"
#include "chat_template/text.h"

namespace gdn::jinja {
namespace {

// Of a template of the reference's language that chat templates do not need.
constexpr std::string_view kUnsupportedTags[] = {
    "block", "extends", "include", "import", "from", "autoescape", "trans", "do", "debug"};

std::string Describe(const Token& token) {
  switch (token.kind) {
    case Token::Kind::kText:
      return "text";
    case Token::Kind::kBlockBegin:
      return "'{%'";
    case Token::Kind::kBlockEnd:
      return "'%}'";
    case Token::Kind::kOutputBegin:
      return "'{{'";
    case Token::Kind::kOutputEnd:
      return "'}}'";
    case Token::Kind::kEnd:
      return "the end of the template";
    case Token::Kind::kString:
      return StrCat("the string ", Quoted(token.text, 40));
    default:
      return StrCat("'", token.text.substr(0, 40), "'");
  }
}

}  // namespace

const Token& Parser::Ahead() const { return tokens_[std::min(position_ + 1, tokens_.size() - 1)]; }

const Token& Parser::Next() {
  const Token& token = tokens_[position_];
  if (token.kind != Token::Kind::kEnd) ++position_;
  return token;
}

bool Parser::IsOperator(std::string_view op) const {
  return Current().kind == Token::Kind::kOperator && Current().text == op;
}

bool Parser::IsName(std::string_view name) const {
  return Current().kind == Token::Kind::kName && Current().text == name;
}

bool Parser::SkipOperator(std::string_view op) {
  if (!IsOperator(op)) return false;
  Next();
  return true;
}

bool Parser::SkipName(std::string_view name) {
  if (!IsName(name)) return false;
  Next();
  return true;
}

Status Parser::Fail(std::string_view message) const { return ErrorAt(Current().line, message); }

Status Parser::Unexpected(std::string_view wanted) const {
  return Fail(StrCat("unexpected ", Describe(Current()), ", must be ", wanted));
}

Status Parser::ExpectOperator(std::string_view op) {
  if (SkipOperator(op)) return OkStatus();
  return Unexpected(StrCat("'", op, "'"));
}

Result<std::string> Parser::ExpectName(std::string_view what) {
  if (Current().kind != Token::Kind::kName) return Unexpected(what);
  return Next().text;
}

Status Parser::LevelGuard::Check() const {
  if (parser_.level_ <= kMaxSourceNesting) return OkStatus();
  return parser_.Fail(StrCat("nests deeper than ", kMaxSourceNesting, " levels"));
}

Result<Body> Parser::Run() { return Statements({}); }

Status Parser::ExpectBlockEnd() {
  if (Current().kind != Token::Kind::kBlockEnd) return Unexpected("'%}'");
  Next();
  return OkStatus();
}

Status Parser::TextOrOutput(Body& body) {
  const int line = Current().line;
  if (Current().kind == Token::Kind::kText) {
    body.push_back(std::make_unique<TextNode>(line, Next().text));
    return OkStatus();
  }
  Next();
  auto node = std::make_unique<OutputNode>(line);
  GDN_ASSIGN_OR_RETURN(node->value, TupleOrExpression(/*with_conditional=*/true));
  if (Current().kind != Token::Kind::kOutputEnd) return Unexpected("'}}'");
  Next();
  body.push_back(std::move(node));
  return OkStatus();
}

// Stops at the name of an end tag, whose "{%" it has read.
Result<Body> Parser::Statements(const std::vector<std::string_view>& ends) {
  const LevelGuard level(*this);
  GDN_RETURN_IF_ERROR(level.Check());
  const int begin_line = Current().line;
  Body body;
  while (Current().kind != Token::Kind::kEnd) {
    if (Current().kind != Token::Kind::kBlockBegin) {
      GDN_RETURN_IF_ERROR(TextOrOutput(body));
      continue;
    }
    Next();
    if (Current().kind != Token::Kind::kName) return Unexpected("the name of a tag");
    if (std::find(ends.begin(), ends.end(), Current().text) != ends.end()) return body;
    GDN_ASSIGN_OR_RETURN(StatementPtr statement, Statement());
    body.push_back(std::move(statement));
    GDN_RETURN_IF_ERROR(ExpectBlockEnd());
  }
  if (ends.empty()) return body;
  return ErrorAt(begin_line, StrCat("a block has no end, must have {% ", ends.back(), " %}"));
}

Result<Body> Parser::BodyUntil(std::string_view end) {
  GDN_RETURN_IF_ERROR(ExpectBlockEnd());
  GDN_ASSIGN_OR_RETURN(Body body, Statements({end}));
  Next();
  return body;
}

Parser::StatementResult Parser::Statement() {
  const std::string& tag = Current().text;
  if (tag == "if") return If();
  if (tag == "for") return For();
  if (tag == "set") return Set();
  if (tag == "macro") return Macro();
  if (tag == "call") return CallBlock();
  if (tag == "filter") return FilterBlock();
  if (tag == "with") return With();
  if (tag == "generation") return Generation();
  if (tag == "print") return Print();
  if (tag == "break") return Jump(StatementNode::Kind::kBreak);
  if (tag == "continue") return Jump(StatementNode::Kind::kContinue);
  for (const std::string_view name : kUnsupportedTags) {
    if (tag == name) {
      return Status(StatusCode::kUnsupported,
                    Fail(StrCat("the tag '", tag, "' is not supported")).message());
    }
  }
  return Fail(StrCat("unknown tag '", tag.substr(0, 40), "'"));
}

Parser::StatementResult Parser::If() {
  auto node = std::make_unique<IfNode>(Next().line);
  while (true) {
    GDN_ASSIGN_OR_RETURN(ExpressionPtr test, TupleOrExpression(/*with_conditional=*/false));
    GDN_RETURN_IF_ERROR(ExpectBlockEnd());
    GDN_ASSIGN_OR_RETURN(Body body, Statements({"elif", "else", "endif"}));
    node->branches.emplace_back(std::move(test), std::move(body));
    if (!SkipName("elif")) break;
  }
  if (SkipName("else")) {
    GDN_ASSIGN_OR_RETURN(node->otherwise, BodyUntil("endif"));
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

Result<Body> ParseTemplate(std::string_view source) {
  if (source.size() > kMaxSourceBytes) {
    return InvalidArgument(StrCat("chat template: has ", HumanBytes(source.size()),
                                  ", must have at most ", HumanBytes(kMaxSourceBytes)));
  }
  if (!IsValidUtf8(source)) return InvalidArgument("chat template: is not UTF-8");
  GDN_ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokenize(source));
  return Parser(std::move(tokens)).Run();
}

}  // namespace gdn::jinja
