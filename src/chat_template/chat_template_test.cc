// SPDX-License-Identifier: Apache-2.0
// The interface: errors, limits, the clock.
#include "chat_template/chat_template.h"

#include <gtest/gtest.h>

#include <string>

#include "base/str.h"
#include "chat_template/limits.h"
#include "chat_template/prompt_testing.h"

namespace gdn {
namespace {

using nlohmann::ordered_json;

Result<std::string> Rendered(const std::string& source,
                             const ordered_json& context = ordered_json::object()) {
  GDN_ASSIGN_OR_RETURN(const ChatTemplate chat_template, ChatTemplate::Parse(source));
  return chat_template.Render(context, AtTestTime());
}

std::string ErrorOf(const std::string& source,
                    const ordered_json& context = ordered_json::object()) {
  const auto result = Rendered(source, context);
  EXPECT_FALSE(result.ok()) << source.substr(0, 200);
  if (result.ok()) return {};
  EXPECT_EQ(result.status().message().find('\n'), std::string::npos);
  return result.status().message();
}

std::string Repeated(const std::string& text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

TEST(ChatTemplate, ErrorsNameTheLine) {
  EXPECT_EQ(ErrorOf("a\n{{ x.y }}"), "chat template, line 2: 'x' is undefined");
  EXPECT_EQ(ErrorOf("a\r\nb\r{{ 1 / 0 }}"), "chat template, line 3: a division by zero");
  EXPECT_EQ(ErrorOf("{{ 1 +\n2 +\n'a' }}"), "chat template, line 2: cannot compute int + str");
  EXPECT_EQ(ErrorOf("\n\n{% if 1 %}x"),
            "chat template, line 3: a block has no end, must have {% endif %}");
  EXPECT_EQ(ErrorOf("{% macro m() %}\n{{ raise_exception('no') }}{% endmacro %}\n{{ m() }}"),
            "chat template, line 2: no");
}

TEST(ChatTemplate, UnsupportedConstructsAreNamedByParse) {
  const std::pair<const char*, const char*> cases[] = {
      {"{% include 'a' %}", "the tag 'include' is not supported"},
      {"{{ x|urlize }}", "the filter 'urlize' is not supported"},
      {"{{ x is foo }}", "the test 'foo' is not supported"},
      {"{{ f(*a) }}", "'*' before an argument is not supported"},
      {"{% for x in y recursive %}{% endfor %}", "a recursive loop is not supported"},
      {"{{ x[1, 2] }}", "an index of several parts is not supported"},
  };
  for (const auto& [source, message] : cases) {
    const auto parsed = ChatTemplate::Parse(source);
    ASSERT_FALSE(parsed.ok()) << source;
    EXPECT_EQ(parsed.status().code(), StatusCode::kUnsupported) << source;
    EXPECT_EQ(parsed.status().message(), std::string("chat template, line 1: ") + message);
  }
}

// As in the reference: a branch may be for another program, which has more filters.
TEST(ChatTemplate, UnknownFiltersInBranchesAreErrorsAtWork) {
  for (const char* const source :
       {"{% if x %}{{ 1|from_json }}{% endif %}ok",
        "{% if not x %}ok{% else %}{{ 1 is foo }}{% endif %}", "{{ 1|from_json if x else 'ok' }}",
        "{{ 'ok' if not x else 1|from_json }}"}) {
    EXPECT_EQ(*Rendered(source), "ok");
    EXPECT_TRUE(ErrorOf(source, {{"x", 1}}).ends_with("' is not supported")) << source;
  }
  for (const char* const source :
       {"{% if x|from_json %}{% endif %}", "{{ 1|from_json }}{{ 1 if 1 }}",
        "{% if x %}{% endif %}{{ 1 is foo }}", "{% if 0 %}{{ 1|urlize }}{% endif %}"}) {
    EXPECT_FALSE(ChatTemplate::Parse(source).ok()) << source;
  }
}

TEST(ChatTemplate, MessageOfRaiseExceptionIsOneLine) {
  EXPECT_EQ(ErrorOf("{{ raise_exception('a\\nb \\u00e9\\x1b') }}"),
            "chat template, line 1: a b \xC3\xA9 ");
}

TEST(ChatTemplate, SourceMustBeUtf8AndShort) {
  EXPECT_EQ(ErrorOf("\xFF"), "chat template: is not UTF-8");
  EXPECT_TRUE(ChatTemplate::Parse(std::string(jinja::kMaxSourceBytes, 'a')).ok());
  EXPECT_EQ(ErrorOf(std::string(jinja::kMaxSourceBytes + 1, 'a')),
            "chat template: has 256.00 KiB, must have at most 256.00 KiB");
}

TEST(ChatTemplate, ContextMustBeAnObjectOfUtf8) {
  EXPECT_EQ(ErrorOf("x", ordered_json::array()), "chat template: the context is not an object");
  EXPECT_EQ(ErrorOf("x", {{"a", "\xFF"}}), "chat template: \"a\" is a string that is not UTF-8");
  ordered_json deep = 1;
  for (int i = 1; i < jinja::kMaxValueDepth; ++i) deep = ordered_json::array({std::move(deep)});
  EXPECT_TRUE(Rendered("{{ a }}", {{"a", deep}}).ok());
  EXPECT_EQ(ErrorOf("x", {{"a", ordered_json::array({deep})}}),
            "chat template: \"a\" nests deeper than 100 levels");
}

TEST(ChatTemplate, MembersKeepTheirOrder) {
  const ordered_json tool = {{"z", 1}, {"a", {{"y", 1}, {"b", 18446744073709551615U}}}};
  EXPECT_EQ(*Rendered("{{ t|tojson }}", {{"t", tool}}),
            R"({"z": 1, "a": {"y": 1, "b": 18446744073709551615}})");
}

TEST(ChatTemplate, ReadsTheClock) {
  const auto parsed = ChatTemplate::Parse("{{ strftime_now('%Y %f') }}");
  ASSERT_TRUE(parsed.ok());
  const auto now = parsed->Render(ordered_json::object());
  ASSERT_TRUE(now.ok());
  EXPECT_EQ(now->size(), 11U);
  EXPECT_GE(now->substr(0, 4), "2024");
}

TEST(ChatTemplateLimits, NestingOfTheSource) {
  const auto nested = [](int levels) {
    return "{{ " + Repeated("[", levels) + Repeated("]", levels) + " }}";
  };
  EXPECT_TRUE(Rendered(nested(30)).ok());
  const std::string want = "chat template, line 1: nests deeper than 64 levels";
  for (const auto& [open, close] :
       {std::pair("[", "]"), std::pair("(", ")"), std::pair("{1:", "}"), std::pair("a(", ")"),
        std::pair("a[", "]"), std::pair("not ", ""), std::pair("-", ""), std::pair("a|d(", ")"),
        std::pair("1 if 1 else ", "")}) {
    EXPECT_EQ(ErrorOf("{{ " + Repeated(open, 20000) + "1" + Repeated(close, 20000) + " }}"), want)
        << open;
  }
  EXPECT_EQ(ErrorOf(Repeated("{% if 1 %}", 20000)), want);
  EXPECT_EQ(ErrorOf("{% set " + Repeated("(", 20000) + Repeated(")", 20000) + " = 1 %}"), want);
}

TEST(ChatTemplateLimits, ChainsOfOperations) {
  const std::string want =
      "chat template, line 1: an expression has more than 200 operations in a chain";
  EXPECT_EQ(*Rendered("{{ 0" + Repeated(" + 1", 150) + " }}"), "150");
  for (const char* const link :
       {" + 1", " * 1", " ** 1", " and 1", " or 1", ".a", "[0]", "()", "|upper", " if 1"}) {
    const std::string error = ErrorOf("{{ a" + Repeated(link, 10000) + " }}");
    EXPECT_EQ(error, want) << link;
  }
}

TEST(ChatTemplateLimits, RecursionOfMacros) {
  EXPECT_TRUE(Rendered("{% macro m(x) %}{% if x %}{{ m(x - 1) }}{% endif %}{% endmacro %}"
                       "{{ m(80) }}")
                  .ok());
  EXPECT_EQ(ErrorOf("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"),
            "chat template, line 1: recurses deeper than 800 levels");
}

TEST(ChatTemplateLimits, DepthOfValues) {
  const std::string loop = "{% set ns = namespace(x=[]) %}{% for i in range(1000) %}{% set ns.x = ";
  for (const char* const grown : {"[ns.x]", "(ns.x,)", "{1: ns.x}", "{'a': ns.x}.items()",
                                  "[ns.x.count]", "[[ns.x]|map('list')]", "joiner([ns.x])"}) {
    EXPECT_TRUE(
        ErrorOf(loop + grown + " %}{% endfor %}").ends_with("nests values deeper than 100 levels"))
        << grown;
  }
}

TEST(ChatTemplateLimits, Steps) {
  const std::string want = "chat template, line 1: takes more than 10000000 steps";
  EXPECT_EQ(ErrorOf("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}"
                    "{% endfor %}"),
            want);
  // Reading a long text costs too.
  EXPECT_EQ(ErrorOf("{% set s = 'a' * 1000000 %}{% for a in range(99999) %}{{ 'b' in s }}"
                    "{% endfor %}"),
            want);
}

TEST(ChatTemplateLimits, Memory) {
  const std::string prefix = "chat template, line 1: ";
  const std::string want = "makes more than 256.00 MiB of values";
  const std::pair<const char*, const char*> cases[] = {
      {"{{ ('a' * 1000000000)|length }}", ""},
      {"{% set ns = namespace(s='ab') %}{% for i in range(99) %}{% set ns.s = ns.s + ns.s %}"
       "{% endfor %}",
       ""},
      {"{% set s = 'a' * 100000 %}{{ s|replace('a', s)|length }}", "replace: "},
      {"{% set s = 'a' * 1000000 %}{{ ([s] * 1000)|join|length }}", "join: "},
      // A value that is far larger than the memory it takes.
      {"{% set ns = namespace(l=['aaaaaaaa']) %}{% for i in range(12) %}"
       "{% set ns.l = [ns.l] * 9 %}{% endfor %}{{ ns.l|string|length }}",
       "string: "},
  };
  for (const auto& [source, filter] : cases) {
    const std::string error = ErrorOf(source);
    // Many small parts may reach the limit of the steps first.
    if (error == StrCat(prefix, filter, "takes more than 10000000 steps")) continue;
    EXPECT_EQ(error, StrCat(prefix, filter, want)) << source;
  }
}

TEST(ChatTemplateLimits, ComparingWhatIsSharedManyTimes) {
  const std::string grow =
      "{% set a = namespace(l=[1]) %}{% set b = namespace(l=[1]) %}{% for i in range(30) %}"
      "{% set a.l = [a.l, a.l] %}{% set b.l = [b.l, b.l] %}{% endfor %}";
  EXPECT_EQ(ErrorOf(grow + "{{ a.l == b.l }}"),
            "chat template, line 1: takes more than 10000000 steps");
  EXPECT_EQ(ErrorOf(grow + "{{ a.l < b.l }}"),
            "chat template, line 1: takes more than 10000000 steps");
  EXPECT_EQ(ErrorOf(grow + "{{ a.l|tojson }}"),
            "chat template, line 1: tojson: takes more than 10000000 steps");
}

TEST(ChatTemplateLimits, Output) {
  EXPECT_EQ(ErrorOf("{% set s = 'a' * 1000000 %}{% for i in range(99) %}{{ s }}{% endfor %}"),
            "chat template, line 1: writes more than 32.00 MiB");
}

TEST(ChatTemplateLimits, RangesAndWidths) {
  EXPECT_EQ(*Rendered("{{ range(100000)|length }}"), "100000");
  EXPECT_EQ(ErrorOf("{{ range(100001) }}"),
            "chat template, line 1: range: has more than 100000 elements");
  EXPECT_EQ(ErrorOf("{{ range(0, 9223372036854775807, 9000000000000000) }}"),
            "chat template, line 1: range: a bound is too large");
  EXPECT_EQ(Rendered("{{ 'a'.center(10000)|length }}").value(), "10000");
  for (const char* const source :
       {"{{ 'a'.center(10001) }}", "{{ '{:10001}'.format(1) }}", "{{ '%10001d' % 1 }}",
        "{{ '%.10001f' % 1 }}", "{{ 'a'|indent(10001) }}", "{{ [1]|tojson(indent=10001) }}"}) {
    EXPECT_NE(ErrorOf(source).find("must be at most 10000"), std::string::npos) << source;
  }
}

TEST(ChatTemplateLimits, IntegersHave128Bits) {
  EXPECT_EQ(*Rendered("{{ 2 ** 126 }}"), "85070591730234615865843651857942052864");
  for (const char* const source :
       {"{{ 2 ** 127 }}", "{{ 2 ** 126 * 2 }}", "{{ 2 ** 126 + 2 ** 126 }}"}) {
    EXPECT_EQ(ErrorOf(source), "chat template, line 1: an integer needs more than 128 bits");
  }
}

// glibc's search is linear where that of std::string would take hours.
TEST(ChatTemplateLimits, SearchIsLinear) {
  const ordered_json context = {{"text", std::string(2000000, 'a')},
                                {"wanted", std::string(1000000, 'a') + "b"}};
  EXPECT_EQ(*Rendered("{{ wanted in text }}{{ text.rfind('b' ~ wanted) }}"
                      "{{ text.split(wanted)|length }}",
                      context),
            "False-11");
}

// A namespace that holds itself, and macros that outlive their scope.
TEST(ChatTemplate, CyclesAreNoLeak) {
  EXPECT_EQ(*Rendered("{% set ns = namespace() %}{% set ns.me = [ns] %}"
                      "{% for i in [1, 2] %}{% macro m() %}{{ i }}{{ loop.index }}{% endmacro %}"
                      "{% set ns.m = m %}{% set ns.loop = loop %}{% endfor %}"
                      "{{ ns.m() }}{{ ns.me[0].m() }}{{ ns.loop.index }}"),
            "22222");
}

}  // namespace
}  // namespace gdn
