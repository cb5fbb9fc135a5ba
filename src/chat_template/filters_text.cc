// SPDX-License-Identifier: Apache-2.0
// Filters that make a text.
#include "base/str.h"
#include "chat_template/attributes.h"
#include "chat_template/convert.h"
#include "chat_template/filters.h"
#include "chat_template/methods_text.h"
#include "chat_template/operators.h"
#include "chat_template/print.h"
#include "chat_template/text.h"

namespace gdn::jinja {
namespace {

// A str or Markup as it is, any other value as its text.
Result<Value> AsText(const Value& value, Budget& budget) {
  if (value.is_string()) return value;
  GDN_ASSIGN_OR_RETURN(std::string text, Str(value, budget));
  return MakeString(std::move(text), budget);
}

// Filters that are a method of str under the same name.
template <const char* name>
Result<Value> Method(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_ASSIGN_OR_RETURN(const Value text, AsText(self, runtime.budget));
  return FindTextMethod(name)->call(runtime, text, arguments);
}

constexpr char kUpper[] = "upper";
constexpr char kLower[] = "lower";
constexpr char kCapitalize[] = "capitalize";
constexpr char kStrip[] = "strip";

// Each word starts with a capital; words end at white space and at - ( { [ <.
Result<Value> Title(Runtime& runtime, const Value& self, const BoundArguments&) {
  GDN_ASSIGN_OR_RETURN(const Value value, AsText(self, runtime.budget));
  const std::string& text = value.text();
  GDN_RETURN_IF_ERROR(runtime.budget.Spend(1 + text.size() / 4));
  std::string out;
  bool starts = true;
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    const char32_t c = NextCodePoint(text, i);
    const std::string_view character = std::string_view(text).substr(begin, i - begin);
    const bool separates = IsSpace(c) || c == '-' || c == '(' || c == '{' || c == '[' || c == '<';
    out += starts ? ToUpper(character) : ToLower(character);
    starts = separates;
  }
  return MakeString(std::move(out), runtime.budget, value.string().is_markup);
}

Result<Value> Replace(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_ASSIGN_OR_RETURN(const std::string text, Str(self, runtime.budget));
  GDN_ASSIGN_OR_RETURN(const std::string from, Str(*arguments[0], runtime.budget));
  GDN_ASSIGN_OR_RETURN(const std::string to, Str(*arguments[1], runtime.budget));
  const bool no_count = arguments[2] == nullptr || arguments[2]->is_none();
  GDN_ASSIGN_OR_RETURN(const int64_t count,
                       IntArgument(no_count ? nullptr : arguments[2], "count", -1));
  GDN_ASSIGN_OR_RETURN(std::string out, ReplaceText(text, from, to, count, runtime.budget));
  return MakeString(std::move(out), runtime.budget);
}

Result<Value> Join(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_ASSIGN_OR_RETURN(const SequencePtr items, ItemsOf(self, runtime.budget));
  std::string separator;
  if (arguments[0] != nullptr)
    GDN_RETURN_IF_ERROR(AppendStr(*arguments[0], runtime.budget, separator));
  std::string out;
  for (size_t i = 0; i < items->items.size(); ++i) {
    GDN_RETURN_IF_ERROR(runtime.budget.Spend(1));
    GDN_RETURN_IF_ERROR(runtime.budget.Allocate(separator.size()));
    if (i > 0) out += separator;
    GDN_ASSIGN_OR_RETURN(const Value item, AttributeOf(items->items[i], arguments[1], runtime));
    GDN_RETURN_IF_ERROR(AppendStr(item, runtime.budget, out));
  }
  return MakeString(std::move(out), runtime.budget);
}

Result<Value> String(Runtime& runtime, const Value& self, const BoundArguments&) {
  return AsText(self, runtime.budget);
}

Result<Value> Safe(Runtime& runtime, const Value& self, const BoundArguments&) {
  GDN_ASSIGN_OR_RETURN(std::string text, Str(self, runtime.budget));
  return MakeString(std::move(text), runtime.budget, /*is_markup=*/true);
}

Result<Value> Escape(Runtime& runtime, const Value& self, const BoundArguments&) {
  if (self.is_string() && self.string().is_markup) return self;
  GDN_ASSIGN_OR_RETURN(const std::string text, Str(self, runtime.budget));
  GDN_RETURN_IF_ERROR(runtime.budget.Allocate(text.size() * 5));
  return MakeString(EscapeHtml(text), runtime.budget, /*is_markup=*/true);
}

Result<Value> Format(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_ASSIGN_OR_RETURN(const Value format, AsText(self, runtime.budget));
  if (!arguments.all.named.empty()) {
    return Status(StatusCode::kUnsupported, "named arguments are not supported");
  }
  GDN_ASSIGN_OR_RETURN(const Value values, MakeTuple(arguments.all.positional, runtime.budget));
  return FormatPercent(format, values, runtime.budget);
}

Result<Value> Indent(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_RETURN_IF_ERROR(CheckDefined(self));
  if (!self.is_string()) {
    return InvalidArgument(StrCat("cannot indent a ", TypeName(self), ", must be a str"));
  }
  std::string indentation;
  if (arguments[0] != nullptr && arguments[0]->is_string()) {
    indentation = arguments[0]->text();
  } else {
    GDN_ASSIGN_OR_RETURN(const int64_t width, IntArgument(arguments[0], "width", 4));
    GDN_ASSIGN_OR_RETURN(indentation,
                         PadText("", width, " ", /*left=*/true, /*right=*/false, runtime.budget));
  }
  GDN_ASSIGN_OR_RETURN(const bool first, BoolArgument(arguments[1], false));
  GDN_ASSIGN_OR_RETURN(const bool blank, BoolArgument(arguments[2], false));
  const std::string text = self.text() + "\n";
  GDN_RETURN_IF_ERROR(runtime.budget.Spend(1 + text.size() / 4));
  GDN_RETURN_IF_ERROR(runtime.budget.Allocate(2 * text.size()));
  std::string out = first ? indentation : "";
  bool is_first = true;
  for (const std::string_view line : SplitLines(text, /*keep_ends=*/false)) {
    if (!is_first) {
      out += "\n";
      GDN_RETURN_IF_ERROR(runtime.budget.Allocate(indentation.size() + 1));
      if (blank || !line.empty()) out += indentation;
    }
    is_first = false;
    out += line;
  }
  return MakeString(std::move(out), runtime.budget, self.string().is_markup);
}

Result<Value> Center(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_ASSIGN_OR_RETURN(const Value text, AsText(self, runtime.budget));
  GDN_ASSIGN_OR_RETURN(const int64_t width, IntArgument(arguments[0], "width", 80));
  GDN_ASSIGN_OR_RETURN(std::string out, PadText(text.text(), width, " ", /*left=*/true,
                                                /*right=*/true, runtime.budget));
  return MakeString(std::move(out), runtime.budget, text.string().is_markup);
}

Status ReadSeparators(const Value& value, Budget& budget, JsonStyle& style) {
  GDN_ASSIGN_OR_RETURN(const SequencePtr pair, ItemsOf(value, budget));
  if (pair->items.size() != 2 || !pair->items[0].is_string() || !pair->items[1].is_string()) {
    return InvalidArgument("separators must be two texts");
  }
  style.has_separators = true;
  style.item_separator = pair->items[0].text();
  style.key_separator = pair->items[1].text();
  return OkStatus();
}

Result<Value> ToJson(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  JsonStyle style;
  GDN_ASSIGN_OR_RETURN(style.ensure_ascii, BoolArgument(arguments[0], false));
  if (arguments[1] != nullptr && arguments[1]->is_string()) {
    style.indent = arguments[1]->text();
  } else if (arguments[1] != nullptr && !arguments[1]->is_none()) {
    GDN_ASSIGN_OR_RETURN(const int64_t width, IntArgument(arguments[1], "indent", 0));
    GDN_ASSIGN_OR_RETURN(style.indent,
                         PadText("", width, " ", /*left=*/true, /*right=*/false, runtime.budget));
  }
  if (arguments[2] != nullptr && !arguments[2]->is_none()) {
    GDN_RETURN_IF_ERROR(ReadSeparators(*arguments[2], runtime.budget, style));
  }
  GDN_ASSIGN_OR_RETURN(style.sort_keys, BoolArgument(arguments[3], false));
  std::string out;
  GDN_RETURN_IF_ERROR(AppendJson(self, style, runtime.budget, out));
  return MakeString(std::move(out), runtime.budget);
}

constexpr Builtin kFilters[] = {
    {"upper", Method<kUpper>},
    {"lower", Method<kLower>},
    {"capitalize", Method<kCapitalize>},
    {"title", Title},
    {"trim", Method<kStrip>, {"chars"}},
    {"replace", Replace, {"old", "new", "count"}, 2},
    {"join", Join, {"d", "attribute"}},
    {"string", String},
    {"safe", Safe},
    {"escape", Escape},
    {"e", Escape},
    {"format", Format, {}, 0, /*variadic=*/true},
    {"indent", Indent, {"width", "first", "blank"}},
    {"center", Center, {"width"}},
    {"tojson", ToJson, {"ensure_ascii", "indent", "separators", "sort_keys"}},
};

}  // namespace

std::span<const Builtin> TextFilters() { return kFilters; }

}  // namespace gdn::jinja
