// SPDX-License-Identifier: Apache-2.0
// The methods of str that make a text of a text.
#include "chat_template/methods_text.h"

#include <algorithm>

#include "base/str.h"
#include "chat_template/attributes.h"
#include "chat_template/convert.h"
#include "chat_template/print.h"
#include "chat_template/text.h"
#include "chat_template/text_search.h"

namespace gdn::jinja {
namespace {

Result<Value> Like(const Value& self, std::string text, Runtime& runtime) {
  return MakeString(std::move(text), runtime.budget, self.string().is_markup);
}

template <bool left, bool right>
Result<Value> Strip(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_RETURN_IF_ERROR(runtime.budget.Scan(self.text().size()));
  if (arguments[0] == nullptr || arguments[0]->is_none()) {
    return Like(self, std::string(StripSpace(self.text(), left, right)), runtime);
  }
  GDN_ASSIGN_OR_RETURN(const std::string_view chars, TextArgument(arguments[0], "chars", ""));
  GDN_RETURN_IF_ERROR(runtime.budget.Spend(chars.size()));
  return Like(self, std::string(StripChars(self.text(), chars, left, right)), runtime);
}

template <std::string (*function)(std::string_view)>
Result<Value> Case(Runtime& runtime, const Value& self, const BoundArguments&) {
  GDN_RETURN_IF_ERROR(runtime.budget.Spend(1 + self.text().size() / 8));
  return Like(self, function(self.text()), runtime);
}

Result<Value> Join(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_ASSIGN_OR_RETURN(const SequencePtr parts, ItemsOf(*arguments[0], runtime.budget));
  const bool is_markup = self.string().is_markup;
  std::string out;
  for (size_t i = 0; i < parts->items.size(); ++i) {
    const Value& part = parts->items[i];
    if (!part.is_string()) {
      return InvalidArgument(StrCat("element ", i, " is a ", TypeName(part), ", must be a str"));
    }
    GDN_RETURN_IF_ERROR(runtime.budget.Spend(1));
    GDN_RETURN_IF_ERROR(runtime.budget.Allocate(self.text().size() + part.text().size()));
    if (i > 0) out += self.text();
    out += is_markup && !part.string().is_markup ? EscapeHtml(part.text()) : part.text();
  }
  return Like(self, std::move(out), runtime);
}

Result<Value> Replace(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_ASSIGN_OR_RETURN(const std::string_view from, TextArgument(arguments[0], "old", ""));
  GDN_ASSIGN_OR_RETURN(std::string_view to, TextArgument(arguments[1], "new", ""));
  GDN_ASSIGN_OR_RETURN(const int64_t count, IntArgument(arguments[2], "count", -1));
  std::string escaped;
  if (self.string().is_markup && !arguments[1]->string().is_markup) {
    escaped = EscapeHtml(to);
    to = escaped;
  }
  GDN_ASSIGN_OR_RETURN(std::string out, ReplaceText(self.text(), from, to, count, runtime.budget));
  return Like(self, std::move(out), runtime);
}

template <bool left, bool right>
Result<Value> Pad(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_ASSIGN_OR_RETURN(const int64_t width, IntArgument(arguments[0], "width", 0));
  GDN_ASSIGN_OR_RETURN(const std::string_view fill, TextArgument(arguments[1], "fillchar", " "));
  if (CountCodePoints(fill) != 1) return InvalidArgument("fillchar must be one character");
  GDN_ASSIGN_OR_RETURN(std::string out,
                       PadText(self.text(), width, fill, left, right, runtime.budget));
  return Like(self, std::move(out), runtime);
}

Result<Value> ZeroFill(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_ASSIGN_OR_RETURN(const int64_t width, IntArgument(arguments[0], "width", 0));
  std::string_view text = self.text();
  std::string sign;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    sign = text.substr(0, 1);
    text.remove_prefix(1);
  }
  const int64_t rest = width - static_cast<int64_t>(sign.size());
  GDN_ASSIGN_OR_RETURN(const std::string padded,
                       PadText(text, rest, "0", /*left=*/true, /*right=*/false, runtime.budget));
  return Like(self, sign + padded, runtime);
}

Result<Value> RemovePrefix(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_ASSIGN_OR_RETURN(const std::string_view prefix, TextArgument(arguments[0], "prefix", ""));
  const bool has = self.text().substr(0, prefix.size()) == prefix;
  return Like(self, self.text().substr(has ? prefix.size() : 0), runtime);
}

Result<Value> RemoveSuffix(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_ASSIGN_OR_RETURN(const std::string_view suffix, TextArgument(arguments[0], "suffix", ""));
  const std::string& text = self.text();
  const bool has = text.size() >= suffix.size() &&
                   text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
  return Like(self, text.substr(0, text.size() - (has ? suffix.size() : 0)), runtime);
}

constexpr Builtin kMethods[] = {
    {"strip", Strip<true, true>, {"chars"}},
    {"lstrip", Strip<true, false>, {"chars"}},
    {"rstrip", Strip<false, true>, {"chars"}},
    {"upper", Case<ToUpper>},
    {"lower", Case<ToLower>},
    {"title", Case<ToTitle>},
    {"capitalize", Case<Capitalize>},
    {"swapcase", Case<SwapCase>},
    {"join", Join, {"iterable"}, 1},
    {"replace", Replace, {"old", "new", "count"}, 2},
    {"center", Pad<true, true>, {"width", "fillchar"}, 1},
    {"ljust", Pad<false, true>, {"width", "fillchar"}, 1},
    {"rjust", Pad<true, false>, {"width", "fillchar"}, 1},
    {"zfill", ZeroFill, {"width"}, 1},
    {"removeprefix", RemovePrefix, {"prefix"}, 1},
    {"removesuffix", RemoveSuffix, {"suffix"}, 1},
    {"format", FormatBraces, {}, 0, /*variadic=*/true},
};

constexpr std::string_view kMissing[] = {"casefold",   "encode",       "expandtabs",
                                         "format_map", "isidentifier", "isprintable",
                                         "istitle",    "maketrans",    "translate"};

}  // namespace

Result<Value> ListOfTexts(const std::vector<std::string_view>& parts, const Value& like,
                          Runtime& runtime) {
  GDN_RETURN_IF_ERROR(runtime.budget.Spend(parts.size()));
  std::vector<Value> items;
  for (const std::string_view part : parts) {
    GDN_ASSIGN_OR_RETURN(Value value, Like(like, std::string(part), runtime));
    items.push_back(std::move(value));
  }
  return MakeList(std::move(items), runtime.budget);
}

Result<std::string> ReplaceText(std::string_view text, std::string_view from, std::string_view to,
                                int64_t count, Budget& budget) {
  GDN_RETURN_IF_ERROR(budget.Scan(text.size()));
  GDN_RETURN_IF_ERROR(budget.Allocate(text.size()));
  std::string out;
  size_t at = 0;
  while (count != 0) {
    const size_t found = FindText(text, from, at);
    if (found == std::string_view::npos) break;
    GDN_RETURN_IF_ERROR(budget.Spend(1));
    GDN_RETURN_IF_ERROR(budget.Allocate(to.size()));
    out.append(text.substr(at, found - at)).append(to);
    at = found + from.size();
    --count;
    if (!from.empty()) continue;
    // The empty text is found once before each character, and at the end.
    if (at == text.size()) return out;
    size_t next = at;
    NextCodePoint(text, next);
    out.append(text.substr(at, next - at));
    at = next;
  }
  return out.append(text.substr(at));
}

Result<std::string> PadText(std::string_view text, int64_t width, std::string_view fill, bool left,
                            bool right, Budget& budget) {
  if (width > kMaxWidth) return InvalidArgument(StrCat("width must be at most ", kMaxWidth));
  GDN_RETURN_IF_ERROR(budget.Scan(text.size()));
  const auto size = static_cast<int64_t>(CountCodePoints(text));
  const int64_t missing = std::max<int64_t>(width - size, 0);
  GDN_RETURN_IF_ERROR(budget.Allocate(static_cast<uint64_t>(missing) * fill.size() + text.size()));
  // Python puts the odd one on the left where the width is odd.
  const int64_t before = !left ? 0 : !right ? missing : missing / 2 + (missing & width & 1);
  std::string out;
  for (int64_t i = 0; i < before; ++i) out += fill;
  out += text;
  for (int64_t i = before; i < missing; ++i) out += fill;
  return out;
}

const Builtin* FindTextMethod(std::string_view name) {
  for (const Builtin& method : kMethods) {
    if (method.name == name) return &method;
  }
  const Builtin* const method = FindSplitMethod(name);
  return method != nullptr ? method : FindSearchMethod(name);
}

bool IsMissingTextMethod(std::string_view name) {
  return std::find(std::begin(kMissing), std::end(kMissing), name) != std::end(kMissing);
}

}  // namespace gdn::jinja
