// SPDX-License-Identifier: Apache-2.0
#include "chat_template/expression_lexer.h"

#include <array>
#include <cstdint>

#include "base/str.h"
#include "chat_template/text.h"

namespace gdn::jinja {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsNamePart(char c) { return IsNameStart(c) || IsDigit(c); }

// Longest first.
constexpr std::array<std::string_view, 26> kOperators = {
    "//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",
    "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"};

// Digits with single underscores between them; the bytes they take at `at`.
size_t DigitsLength(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() &&
         (IsDigit(text[end]) || (text[end] == '_' && end > at && end + 1 < text.size() &&
                                 IsDigit(text[end + 1]) && text[end - 1] != '_'))) {
    ++end;
  }
  return end - at;
}

// Length of the fraction and exponent behind the whole part; 0 where the number is an integer.
size_t FractionLength(std::string_view text, size_t at) {
  size_t end = at;
  if (end < text.size() && text[end] == '.') {
    const size_t digits = DigitsLength(text, end + 1);
    if (digits > 0) end += 1 + digits;
  }
  if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    size_t exponent = end + 1;
    if (exponent < text.size() && (text[exponent] == '+' || text[exponent] == '-')) ++exponent;
    const size_t digits = DigitsLength(text, exponent);
    if (digits > 0) end = exponent + digits;
  }
  return end - at;
}

class ExpressionLexer {
 public:
  ExpressionLexer(Cursor& cursor, bool is_block, std::vector<Token>& out)
      : cursor_(cursor), is_block_(is_block), out_(out), begin_line_(cursor.line()) {}

  Result<char> Run() {
    while (true) {
      cursor_.SkipSpace();
      if (cursor_.AtEnd()) {
        return ErrorAt(begin_line_, is_block_ ? "a block tag has no end, must have %}"
                                              : "an output tag has no end, must have }}");
      }
      char sign = 0;
      if (open_.empty() && SkipEnd(sign)) return sign;
      GDN_RETURN_IF_ERROR(NextToken());
    }
  }

 private:
  void Push(Token::Kind kind, size_t bytes, std::string text) {
    out_.push_back({kind, cursor_.line(), std::move(text)});
    cursor_.Advance(bytes);
  }

  bool SkipEnd(char& sign) {
    const std::string_view end = is_block_ ? "%}" : "}}";
    const size_t at = cursor_.position();
    const char first = cursor_.Peek();
    const bool may_sign = first == '-' || (first == '+' && is_block_);
    if (may_sign && cursor_.Slice(at + 1, at + 3) == end) {
      sign = first;
      Push(is_block_ ? Token::Kind::kBlockEnd : Token::Kind::kOutputEnd, 3, {});
      return true;
    }
    if (cursor_.Slice(at, at + 2) != end) return false;
    Push(is_block_ ? Token::Kind::kBlockEnd : Token::Kind::kOutputEnd, 2, {});
    return true;
  }

  Status NextToken() {
    const char c = cursor_.Peek();
    if (IsDigit(c)) return Number();
    if (IsNameStart(c)) {
      size_t end = cursor_.position();
      while (IsNamePart(cursor_.At(end))) ++end;
      const std::string name(cursor_.Slice(cursor_.position(), end));
      Push(Token::Kind::kName, name.size(), name);
      return OkStatus();
    }
    if (c == '\'' || c == '"') return String();
    const std::string_view rest = cursor_.Rest();
    for (const std::string_view op : kOperators) {
      if (rest.substr(0, op.size()) == op) return Operator(op);
    }
    size_t next = 0;
    NextCodePoint(rest, next);
    return ErrorAt(cursor_.line(), StrCat("unexpected character ", Quoted(rest.substr(0, next))));
  }

  Status Operator(std::string_view op) {
    const char c = op[0];
    if (c == '(' || c == '[' || c == '{') {
      open_.push_back(c == '(' ? ')' : c == '[' ? ']' : '}');
    } else if (c == ')' || c == ']' || c == '}') {
      if (open_.empty()) return ErrorAt(cursor_.line(), StrCat("unexpected '", op, "'"));
      if (open_.back() != c) {
        return ErrorAt(cursor_.line(),
                       StrCat("unexpected '", op, "', must be '", open_.back(), "'"));
      }
      open_.pop_back();
    }
    Push(Token::Kind::kOperator, op.size(), std::string(op));
    return OkStatus();
  }

  Status Number() {
    const std::string_view rest = cursor_.Rest();
    const char base = static_cast<char>(cursor_.At(cursor_.position() + 1) | 0x20);
    if (rest[0] == '0' && (base == 'x' || base == 'o' || base == 'b')) return RadixNumber(base);
    size_t length = DigitsLength(rest, 0);
    // In a.1.2 the second dot is a subscript too.
    const bool after_dot = cursor_.position() > 0 && cursor_.At(cursor_.position() - 1) == '.';
    const size_t fraction = after_dot ? 0 : FractionLength(rest, length);
    const bool is_float = fraction > 0;
    if (!is_float && rest[0] == '0' && length > 1 &&
        rest.substr(0, length).find_first_not_of("0_") != std::string_view::npos) {
      return ErrorAt(cursor_.line(), "an integer starts with 0, must start with another digit");
    }
    length += fraction;
    return PushNumber(is_float ? Token::Kind::kFloat : Token::Kind::kInteger, length);
  }

  Status RadixNumber(char base) {
    const std::string_view rest = cursor_.Rest();
    const std::string_view digits = base == 'x'   ? "0123456789abcdefABCDEF"
                                    : base == 'o' ? "01234567"
                                                  : "01";
    size_t end = 2;
    while (end < rest.size() && (digits.find(rest[end]) != std::string_view::npos ||
                                 (rest[end] == '_' && rest[end - 1] != '_'))) {
      ++end;
    }
    while (rest[end - 1] == '_') --end;
    if (end <= 2) end = 1;  // 0 alone
    return PushNumber(Token::Kind::kInteger, end);
  }

  // What follows is a token of its own: 1if is 1 and if.
  Status PushNumber(Token::Kind kind, size_t length) {
    std::string text(cursor_.Rest().substr(0, length));
    text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
    Push(kind, length, std::move(text));
    return OkStatus();
  }

  Status String() {
    const std::string_view rest = cursor_.Rest();
    const char quote = rest[0];
    std::string text;
    for (size_t i = 1; i < rest.size();) {
      if (rest[i] == quote) {
        Push(Token::Kind::kString, i + 1, std::move(text));
        return OkStatus();
      }
      if (rest[i] != '\\') {
        text.push_back(rest[i++]);
        continue;
      }
      ++i;
      GDN_RETURN_IF_ERROR(Escape(rest, i, text));
    }
    return ErrorAt(cursor_.line(), StrCat("a string has no end, must have ", quote));
  }

  // Behind the backslash, as in Python's strings.
  Status Escape(std::string_view rest, size_t& i, std::string& text) {
    if (i == rest.size()) return OkStatus();  // the caller misses the quote
    const char c = rest[i++];
    constexpr std::string_view kFrom = "abfnrtv\\'\"";
    constexpr std::string_view kTo = "\a\b\f\n\r\t\v\\'\"";
    const size_t simple = kFrom.find(c);
    if (simple != std::string_view::npos) {
      text.push_back(kTo[simple]);
      return OkStatus();
    }
    if (c == '\n') return OkStatus();
    if (c >= '0' && c <= '7') {
      --i;
      return CodePoint(rest, i, 3, 8, /*exact=*/false, text);
    }
    if (c == 'x') return CodePoint(rest, i, 2, 16, /*exact=*/true, text);
    if (c == 'u') return CodePoint(rest, i, 4, 16, /*exact=*/true, text);
    if (c == 'U') return CodePoint(rest, i, 8, 16, /*exact=*/true, text);
    if (c == 'N' || (c & 0x80) != 0) {
      return ErrorAt(cursor_.line(),
                     "a string has an escape \\N{...} or of a letter beyond ASCII,"
                     " must have \\u or the letter itself");
    }
    text.append({'\\', c});  // Python keeps what it does not know
    return OkStatus();
  }

  Status CodePoint(std::string_view rest, size_t& i, int digits, uint32_t base, bool exact,
                   std::string& text) {
    uint32_t value = 0;
    int read = 0;
    for (; read < digits && i < rest.size(); ++read, ++i) {
      const char c = rest[i];
      const uint32_t digit = IsDigit(c)               ? static_cast<uint32_t>(c - '0')
                             : (c >= 'a' && c <= 'f') ? static_cast<uint32_t>(c - 'a' + 10)
                             : (c >= 'A' && c <= 'F') ? static_cast<uint32_t>(c - 'A' + 10)
                                                      : base;
      if (digit >= base) break;
      value = value * base + digit;
    }
    if (exact && read < digits) {
      return ErrorAt(cursor_.line(),
                     StrCat("a string has an escape of ", read, " digits, must have ", digits));
    }
    if (value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) {
      return ErrorAt(cursor_.line(), "a string has an escape that is no code point of Unicode");
    }
    AppendUtf8(value, text);
    return OkStatus();
  }

  Cursor& cursor_;
  bool is_block_;
  std::vector<Token>& out_;
  int begin_line_;
  std::string open_;  // the closing brackets that are due
};

}  // namespace

size_t Cursor::EndOfSpace(size_t from) const {
  size_t at = from;
  while (at < source_.size()) {
    size_t next = at;
    if (!IsSpace(NextCodePoint(source_, next))) break;
    at = next;
  }
  return at;
}

Result<char> LexExpression(Cursor& cursor, bool is_block, std::vector<Token>& out) {
  return ExpressionLexer(cursor, is_block, out).Run();
}

}  // namespace gdn::jinja
