// SPDX-License-Identifier: Apache-2.0
// Tokens, and bodies of text, output and statements.
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

Result<Body> Parser::Run() {
  GDN_ASSIGN_OR_RETURN(Body body, Statements({}));
  if (!unknown_.empty()) return unknown_.front();
  return body;
}

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
