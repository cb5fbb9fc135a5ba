// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/regex_translate.h"

#include <array>
#include <charconv>
#include <span>

#include "base/str.h"
#include "tokenizer/unicode_tables.h"

namespace gdn {
namespace {

// White_Space and its complement. PCRE2's own \s has U+180E as well.
constexpr std::string_view kSpace =
    R"(\x{9}-\x{d}\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";
constexpr std::string_view kNotSpace =
    R"(\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{84}\x{86}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff})"
    R"(\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{10ffff})";

constexpr std::array<std::string_view, 8> kGroups = {"(?:", "(?i:", "(?=",  "(?!",
                                                     "(?>", "(?<=", "(?<!", "("};

bool IsAsciiLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsAsciiPunctuation(char c) { return c > 0x20 && c < 0x7F && !IsAsciiLetter(c) && !IsDigit(c); }

void AppendRanges(std::span<const CodePointRange> ranges, std::string& out) {
  const auto append = [&](char32_t code_point) {
    std::array<char, 8> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(),
                                   static_cast<uint32_t>(code_point), 16);
    out.append("\\x{").append(digits.data(), end.ptr).append("}");
  };
  for (const CodePointRange& range : ranges) {
    append(range.first);
    if (range.last == range.first) continue;
    out.push_back('-');
    append(range.last);
  }
}

class Translator {
 public:
  explicit Translator(std::string_view pattern) : pattern_(pattern) {}

  Result<std::string> Run() {
    while (at_ < pattern_.size()) GDN_RETURN_IF_ERROR(Item());
    return std::move(out_);
  }

 private:
  Status Fail(std::string_view what) const {
    return Unsupported(StrCat("has ", what, " at byte ", at_, ", which is not supported"));
  }
  bool At(std::string_view text) const { return pattern_.substr(at_).starts_with(text); }
  void Copy(size_t count) {
    out_.append(pattern_.substr(at_, count));
    at_ += count;
  }

  Status Item() {
    switch (pattern_[at_]) {
      case '\\':
        return Escape(/*in_class=*/false);
      case '[':
        return Class();
      case '(':
        return Group();
      case '{':
        return Repeat();
      default:
        Copy(1);
        return OkStatus();
    }
  }

  Status Group() {
    for (const std::string_view group : kGroups) {
      if (!At(group)) continue;
      const std::string_view rest = pattern_.substr(at_ + group.size());
      if (group == "(" && (rest.starts_with('?') || rest.starts_with('*'))) break;
      Copy(group.size());
      return OkStatus();
    }
    return Fail(StrCat("the group ", Quoted(pattern_.substr(at_, 4))));
  }

  // {n} {n,} {n,m}, and not a second quantifier after it: "+" and "?" mean other things there.
  Status Repeat() {
    size_t end = at_ + 1;
    const auto digits = [&] {
      const size_t start = end;
      while (end < pattern_.size() && IsDigit(pattern_[end])) ++end;
      return end - start;
    };
    bool valid = digits() > 0;
    if (end < pattern_.size() && pattern_[end] == ',') {
      ++end;
      digits();
    }
    valid = valid && end < pattern_.size() && pattern_[end] == '}';
    if (!valid) return Fail("a \"{\" that is no {n}, {n,} or {n,m}");
    if (end + 1 < pattern_.size() && (pattern_[end + 1] == '+' || pattern_[end + 1] == '?')) {
      return Fail("a quantifier of a quantifier");
    }
    Copy(end + 1 - at_);
    return OkStatus();
  }

  Status Class() {
    Copy(1);
    if (At("^")) Copy(1);
    if (At("]")) return Fail("an empty class");
    while (at_ < pattern_.size() && pattern_[at_] != ']') {
      if (At("[")) return Fail("a class in a class");
      if (At("&&")) return Fail("an intersection of classes");
      if (At("\\")) {
        GDN_RETURN_IF_ERROR(Escape(/*in_class=*/true));
      } else {
        Copy(1);
      }
    }
    if (at_ == pattern_.size()) return Fail("a class without an end");
    Copy(1);
    return OkStatus();
  }

  // One that stands for several characters, as the members of a class.
  Status Set(std::string_view members, std::string_view complement, bool negated, size_t length,
             bool in_class) {
    if (in_class) {
      // In "a-\s" the engines disagree on the hyphen.
      if (out_.ends_with('-') && !out_.ends_with("[-") && !out_.ends_with("[^-")) {
        return Fail("a range that ends in a set");
      }
      if (negated && complement.empty()) return Fail("a negated property in a class");
      out_.append(negated ? complement : members);
    } else {
      out_.append(negated ? "[^" : "[").append(members).append("]");
    }
    at_ += length;
    if (in_class && At("-") && !At("-]")) return Fail("a range that starts with a set");
    return OkStatus();
  }

  Status Escape(bool in_class) {
    const char c = at_ + 1 < pattern_.size() ? pattern_[at_ + 1] : '\0';
    switch (c) {
      case 's':
      case 'S':
        return Set(kSpace, kNotSpace, c == 'S', 2, in_class);
      case 'd':
      case 'D':
        return Set(R"(\p{Nd})", R"(\P{Nd})", c == 'D', 2, in_class);
      case 'p':
      case 'P':
        return Property(c == 'P', in_class);
      case 'v':  // one character, whereas PCRE2's is a set
        out_.append("\\x{b}");
        at_ += 2;
        return OkStatus();
      case 'r':
      case 'n':
      case 't':
      case 'f':
        Copy(2);
        return OkStatus();
      default:
        if (!IsAsciiPunctuation(c)) {
          return Fail(StrCat("the escape ", Quoted(pattern_.substr(at_, 2))));
        }
        Copy(2);
        return OkStatus();
    }
  }

  Status Property(bool negated, bool in_class) {
    const size_t end = pattern_.find('}', at_);
    if (pattern_.substr(at_ + 2, 1) != "{" || end == std::string_view::npos) {
      return Fail("a property without braces");
    }
    std::string_view name = pattern_.substr(at_ + 3, end - at_ - 3);
    if (name.starts_with('^')) {
      negated = !negated;
      name.remove_prefix(1);
    }
    bool valid = !name.empty();
    for (const char c : name) valid = valid && (IsAsciiLetter(c) || c == '_');
    if (!valid) return Fail(StrCat("the property ", Quoted(name)));
    // One or two letters are a general category, more a script. PCRE2's bare script name would
    // mean its extensions too.
    std::string members = StrCat("\\p{", name.size() > 2 ? "sc:" : "", name, "}");
    if (name == "L") AppendRanges(LaterLetters(), members);
    if (name == "M") AppendRanges(LaterMarks(), members);
    if (name == "N") AppendRanges(LaterNumbers(), members);
    const bool exact = name != "L" && name != "M" && name != "N";
    const std::string complement = exact ? StrCat("\\P", members.substr(2)) : std::string();
    return Set(members, complement, negated, end + 1 - at_, in_class);
  }

  std::string_view pattern_;
  size_t at_ = 0;
  std::string out_;
};

}  // namespace

Result<std::string> TranslateRegex(std::string_view pattern) { return Translator(pattern).Run(); }

}  // namespace gdn
