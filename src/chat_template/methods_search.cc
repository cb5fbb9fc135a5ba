// SPDX-License-Identifier: Apache-2.0
// The methods of str that answer a question about it.
#include <algorithm>

#include "base/str.h"
#include "chat_template/methods_text.h"
#include "chat_template/text.h"
#include "chat_template/text_search.h"

namespace gdn::jinja {
namespace {

// text[start:stop] of the arguments `first` and `first` + 1.
struct Window {
  std::string_view text;
  size_t begin_bytes;
  bool is_empty;  // start lies behind the end: not even the empty text is found
};

Result<Window> WindowOf(Runtime& runtime, const Value& self, const BoundArguments& arguments,
                        size_t first) {
  const std::string_view text = self.text();
  GDN_RETURN_IF_ERROR(runtime.budget.Scan(text.size()));
  if (arguments[first] == nullptr && arguments[first + 1] == nullptr) {
    return Window{text, 0, false};
  }
  const auto size = static_cast<int64_t>(CountCodePoints(text));
  const auto bound = [&](const Value* value, std::string_view name,
                         int64_t fallback) -> Result<int64_t> {
    if (value != nullptr && value->is_none()) return fallback;
    GDN_ASSIGN_OR_RETURN(const int64_t index, IntArgument(value, name, fallback));
    return index < 0 ? std::max<int64_t>(index + size, 0) : index;
  };
  GDN_ASSIGN_OR_RETURN(const int64_t start, bound(arguments[first], "start", 0));
  GDN_ASSIGN_OR_RETURN(int64_t stop, bound(arguments[first + 1], "end", size));
  stop = std::min(stop, size);
  if (start > stop) return Window{{}, 0, true};
  const size_t begin = ByteOffset(text, static_cast<size_t>(start));
  const size_t end = ByteOffset(text, static_cast<size_t>(stop));
  return Window{text.substr(begin, end - begin), begin, false};
}

template <bool at_start>
Result<Value> Affix(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_ASSIGN_OR_RETURN(const Window window, WindowOf(runtime, self, arguments, 1));
  const auto matches = [&](std::string_view affix) {
    if (window.is_empty || affix.size() > window.text.size()) return false;
    return window.text.substr(at_start ? 0 : window.text.size() - affix.size(), affix.size()) ==
           affix;
  };
  if (!arguments[0]->Is(Value::Kind::kTuple)) {
    GDN_ASSIGN_OR_RETURN(const std::string_view affix, TextArgument(arguments[0], "prefix", ""));
    return Value(matches(affix));
  }
  for (const Value& item : (*arguments[0]->sequence())->items) {
    GDN_RETURN_IF_ERROR(runtime.budget.Scan(window.text.size()));
    GDN_ASSIGN_OR_RETURN(const std::string_view affix, TextArgument(&item, "prefix", ""));
    if (matches(affix)) return Value(true);
  }
  return Value(false);
}

template <bool from_right, bool must_find>
Result<Value> Find(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_ASSIGN_OR_RETURN(const std::string_view wanted, TextArgument(arguments[0], "sub", ""));
  GDN_ASSIGN_OR_RETURN(const Window window, WindowOf(runtime, self, arguments, 1));
  if (from_right) GDN_RETURN_IF_ERROR(runtime.budget.Allocate(window.text.size()));
  const size_t at = window.is_empty ? std::string_view::npos
                    : from_right    ? FindLastText(window.text, wanted)
                                    : FindText(window.text, wanted, 0);
  if (at != std::string_view::npos) {
    return Value(CountCodePoints(std::string_view(self.text()).substr(0, window.begin_bytes + at)));
  }
  if (must_find) return InvalidArgument("the text is not found");
  return Value(-1);
}

Result<Value> Count(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_ASSIGN_OR_RETURN(const std::string_view wanted, TextArgument(arguments[0], "sub", ""));
  GDN_ASSIGN_OR_RETURN(const Window window, WindowOf(runtime, self, arguments, 1));
  if (window.is_empty) return Value(0);
  if (wanted.empty()) return Value(CountCodePoints(window.text) + 1);
  int64_t count = 0;
  for (size_t at = 0;; at += wanted.size(), ++count) {
    at = FindText(window.text, wanted, at);
    if (at == std::string_view::npos) return Value(count);
    GDN_RETURN_IF_ERROR(runtime.budget.Spend(1));
  }
}

template <bool (*function)(std::string_view)>
Result<Value> Is(Runtime& runtime, const Value& self, const BoundArguments&) {
  GDN_RETURN_IF_ERROR(runtime.budget.Spend(1 + self.text().size() / 8));
  return Value(function(self.text()));
}

bool IsSpaceText(std::string_view text) {
  return !text.empty() && StripSpace(text, /*left=*/true, /*right=*/false).empty();
}

bool IsAsciiText(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsLetterOrDigit(char c) { return IsLetter(c) || IsDigit(c); }

// Whether the text is not empty and of such characters alone. There are no tables for others than
// those of ASCII.
template <bool (*function)(char)>
Result<Value> IsAll(Runtime& runtime, const Value& self, const BoundArguments&) {
  const std::string& text = self.text();
  GDN_RETURN_IF_ERROR(runtime.budget.Scan(text.size()));
  if (!self.string().is_ascii) {
    return Status(StatusCode::kUnsupported, "text beyond ASCII is not supported");
  }
  return Value(!text.empty() && std::all_of(text.begin(), text.end(), function));
}

constexpr Builtin kMethods[] = {
    {"startswith", Affix<true>, {"prefix", "start", "end"}, 1},
    {"endswith", Affix<false>, {"suffix", "start", "end"}, 1},
    {"find", Find<false, false>, {"sub", "start", "end"}, 1},
    {"rfind", Find<true, false>, {"sub", "start", "end"}, 1},
    {"index", Find<false, true>, {"sub", "start", "end"}, 1},
    {"rindex", Find<true, true>, {"sub", "start", "end"}, 1},
    {"count", Count, {"sub", "start", "end"}, 1},
    {"islower", Is<IsLowerText>},
    {"isupper", Is<IsUpperText>},
    {"isspace", Is<IsSpaceText>},
    {"isdigit", IsAll<IsDigit>},
    {"isdecimal", IsAll<IsDigit>},
    {"isnumeric", IsAll<IsDigit>},
    {"isalpha", IsAll<IsLetter>},
    {"isalnum", IsAll<IsLetterOrDigit>},
    {"isascii", Is<IsAsciiText>},
};

}  // namespace

const Builtin* FindSearchMethod(std::string_view name) {
  for (const Builtin& method : kMethods) {
    if (method.name == name) return &method;
  }
  return nullptr;
}

}  // namespace gdn::jinja
