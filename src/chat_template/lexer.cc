// SPDX-License-Identifier: Apache-2.0
#include "chat_template/lexer.h"

#include <algorithm>
#include <array>

#include "base/str.h"
#include "chat_template/expression_lexer.h"
#include "chat_template/text.h"

namespace gdn::jinja {
namespace {

// All newlines as \n, and without the one at the end, which a template does not count as its own.
std::string NormalizeNewlines(std::string_view source) {
  std::string out;
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      out.push_back(source[i]);
      continue;
    }
    if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    out.push_back('\n');
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

class Lexer {
 public:
  explicit Lexer(std::string source) : cursor_(std::move(source)) {}

  Result<std::vector<Token>> Run() {
    while (!cursor_.AtEnd()) GDN_RETURN_IF_ERROR(NextPart());
    Push(Token::Kind::kEnd, {});
    return std::move(tokens_);
  }

 private:
  void Push(Token::Kind kind, std::string text) {
    tokens_.push_back({kind, cursor_.line(), std::move(text)});
  }

  // The text before a tag that starts at `tag`, without what the tag takes away.
  std::string_view TrimmedText(size_t tag, char sign, bool is_output) const {
    const std::string_view text = cursor_.Slice(cursor_.position(), tag);
    if (sign == '-') return StripSpace(text, /*left=*/false, /*right=*/true);
    if (sign == '+' || is_output) return text;
    const size_t line_start = text.rfind('\n') + 1;  // 0 where there is no newline
    if (line_start == 0 && !line_starting_) return text;
    const std::string_view indent = text.substr(line_start);
    return StripSpace(indent, /*left=*/true, /*right=*/false).empty() ? text.substr(0, line_start)
                                                                      : text;
  }

  // Behind the end of a block or comment: what follows '-' is skipped up to the next word, else a
  // newline belongs to the tag.
  void SkipAfterTag(char sign) {
    const size_t before = cursor_.position();
    if (sign == '-') {
      cursor_.SkipSpace();
    } else if (sign != '+' && cursor_.Peek() == '\n') {
      cursor_.Advance(1);
    }
    line_starting_ = cursor_.position() > before && cursor_.At(cursor_.position() - 1) == '\n';
  }

  Status NextPart() {
    const size_t tag = FindTag(cursor_.position());
    if (tag == std::string_view::npos) {
      Push(Token::Kind::kText, std::string(cursor_.Rest()));
      cursor_.Advance(cursor_.Rest().size());
      return OkStatus();
    }
    const char type = cursor_.At(tag + 1);
    char sign = cursor_.At(tag + 2);
    if (sign != '-' && sign != '+') sign = 0;
    const std::string text(TrimmedText(tag, sign, type == '{'));
    if (!text.empty()) Push(Token::Kind::kText, text);
    cursor_.Advance(tag - cursor_.position());
    const int line = cursor_.line();
    cursor_.Advance(sign == 0 ? 2 : 3);
    line_starting_ = false;
    if (type == '#') return SkipComment(line);
    if (type == '%' && SkipRawBegin()) return ReadRaw(line);
    const bool is_block = type == '%';
    Push(is_block ? Token::Kind::kBlockBegin : Token::Kind::kOutputBegin, {});
    GDN_ASSIGN_OR_RETURN(const char end_sign, LexExpression(cursor_, is_block, tokens_));
    if (is_block) {
      SkipAfterTag(end_sign);
    } else {
      SkipAfterTag(end_sign == '-' ? '-' : '+');
    }
    return OkStatus();
  }

  size_t FindTag(size_t from) const {
    const std::string_view source = cursor_.Slice(0, cursor_.size());
    for (size_t at = source.find('{', from); at != std::string_view::npos;
         at = source.find('{', at + 1)) {
      const char next = cursor_.At(at + 1);
      if (next == '%' || next == '{' || next == '#') return at;
    }
    return std::string_view::npos;
  }

  Status SkipComment(int line) {
    const size_t begin = cursor_.position();
    const size_t end = cursor_.Slice(0, cursor_.size()).find("#}", begin);
    if (end == std::string_view::npos) return ErrorAt(line, "a comment has no end, must have #}");
    const char sign = end > begin ? cursor_.At(end - 1) : 0;
    cursor_.Advance(end + 2 - begin);
    SkipAfterTag(sign);
    return OkStatus();
  }

  // Behind "{%" and its sign: skips the rest of {% raw %} and says whether it is one.
  bool SkipRawBegin() {
    size_t at = cursor_.EndOfSpace(cursor_.position());
    if (cursor_.Slice(at, at + 3) != "raw") return false;
    at = cursor_.EndOfSpace(at + 3);
    if (cursor_.Slice(at, at + 3) == "-%}") {
      cursor_.Advance(cursor_.EndOfSpace(at + 3) - cursor_.position());
      return true;
    }
    if (cursor_.Slice(at, at + 2) != "%}") return false;
    cursor_.Advance(at + 2 - cursor_.position());
    return true;
  }

  Status ReadRaw(int line) {
    const std::string_view source = cursor_.Slice(0, cursor_.size());
    for (size_t tag = source.find("{%", cursor_.position()); tag != std::string_view::npos;
         tag = source.find("{%", tag + 1)) {
      char sign = cursor_.At(tag + 2);
      if (sign != '-' && sign != '+') sign = 0;
      size_t at = cursor_.EndOfSpace(tag + (sign == 0 ? 2 : 3));
      if (cursor_.Slice(at, at + 6) != "endraw") continue;
      at = cursor_.EndOfSpace(at + 6);
      char end_sign = cursor_.At(at);
      if (end_sign != '-' && end_sign != '+') end_sign = 0;
      if (end_sign != 0) ++at;
      if (cursor_.Slice(at, at + 2) != "%}") continue;
      const std::string text(TrimmedText(tag, sign, /*is_output=*/false));
      if (!text.empty()) Push(Token::Kind::kText, text);
      cursor_.Advance(at + 2 - cursor_.position());
      SkipAfterTag(end_sign);
      return OkStatus();
    }
    return ErrorAt(line, "a raw block has no end, must have {% endraw %}");
  }

  Cursor cursor_;
  std::vector<Token> tokens_;
  bool line_starting_ = true;  // nothing but what a tag swallowed stands before on this line
};

}  // namespace

Status ErrorAt(int line, std::string_view message) {
  return InvalidArgument(StrCat("chat template, line ", line, ": ", message));
}

Status AtLine(int line, const Status& status) {
  return {status.code(), StrCat("chat template, line ", line, ": ", status.message())};
}

Result<std::vector<Token>> Tokenize(std::string_view source) {
  return Lexer(NormalizeNewlines(source)).Run();
}

}  // namespace gdn::jinja
