// SPDX-License-Identifier: Apache-2.0
// The methods of str that cut a text into a list.
#include <algorithm>

#include "base/str.h"
#include "chat_template/methods_text.h"
#include "chat_template/text.h"
#include "chat_template/text_search.h"

namespace gdn::jinja {
namespace {

// Offsets of the occurrences that do not overlap, from the left; max_count < 0 is no bound.
Result<std::vector<size_t>> Occurrences(std::string_view text, std::string_view separator,
                                        int64_t max_count, Budget& budget) {
  std::vector<size_t> found;
  size_t at = 0;
  while (max_count < 0 || static_cast<int64_t>(found.size()) < max_count) {
    at = FindText(text, separator, at);
    if (at == std::string_view::npos) break;
    GDN_RETURN_IF_ERROR(budget.Spend(1));
    found.push_back(at);
    at += separator.size();
  }
  return found;
}

std::vector<std::string_view> Cut(std::string_view text, const std::vector<size_t>& at,
                                  size_t separator_bytes) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  for (const size_t end : at) {
    parts.push_back(text.substr(begin, end - begin));
    begin = end + separator_bytes;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

Result<std::string_view> Separator(const Value* value, std::string_view name) {
  GDN_ASSIGN_OR_RETURN(const std::string_view separator, TextArgument(value, name, ""));
  if (separator.empty()) return InvalidArgument("the separator is empty");
  return separator;
}

Result<Value> Split(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  const std::string& text = self.text();
  GDN_RETURN_IF_ERROR(runtime.budget.Scan(text.size()));
  GDN_ASSIGN_OR_RETURN(const int64_t count, IntArgument(arguments[1], "maxsplit", -1));
  if (arguments[0] == nullptr || arguments[0]->is_none()) {
    GDN_RETURN_IF_ERROR(runtime.budget.Spend(text.size() / 2));
    return ListOfTexts(SplitSpace(text, count), self, runtime);
  }
  GDN_ASSIGN_OR_RETURN(const std::string_view separator, Separator(arguments[0], "sep"));
  GDN_ASSIGN_OR_RETURN(const std::vector<size_t> at,
                       Occurrences(text, separator, count, runtime.budget));
  return ListOfTexts(Cut(text, at, separator.size()), self, runtime);
}

// Occurrences from the right: those of the reversed texts.
Result<std::vector<size_t>> OccurrencesFromRight(std::string_view text, std::string_view separator,
                                                 int64_t max_count, Budget& budget) {
  const std::string reversed(text.rbegin(), text.rend());
  const std::string wanted(separator.rbegin(), separator.rend());
  GDN_ASSIGN_OR_RETURN(std::vector<size_t> at, Occurrences(reversed, wanted, max_count, budget));
  for (size_t& offset : at) offset = text.size() - offset - separator.size();
  std::reverse(at.begin(), at.end());
  return at;
}

Result<Value> SplitFromRight(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  const std::string& text = self.text();
  GDN_RETURN_IF_ERROR(runtime.budget.Scan(text.size()));
  GDN_ASSIGN_OR_RETURN(const int64_t count, IntArgument(arguments[1], "maxsplit", -1));
  if (arguments[0] == nullptr || arguments[0]->is_none()) {
    GDN_RETURN_IF_ERROR(runtime.budget.Spend(text.size() / 2));
    return ListOfTexts(SplitSpaceFromRight(text, count), self, runtime);
  }
  GDN_ASSIGN_OR_RETURN(const std::string_view separator, Separator(arguments[0], "sep"));
  GDN_RETURN_IF_ERROR(runtime.budget.Allocate(text.size()));
  GDN_ASSIGN_OR_RETURN(const std::vector<size_t> at,
                       OccurrencesFromRight(text, separator, count, runtime.budget));
  return ListOfTexts(Cut(text, at, separator.size()), self, runtime);
}

Result<Value> Lines(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  GDN_RETURN_IF_ERROR(runtime.budget.Spend(1 + self.text().size() / 2));
  GDN_ASSIGN_OR_RETURN(const bool keep_ends, BoolArgument(arguments[0], false));
  return ListOfTexts(SplitLines(self.text(), keep_ends), self, runtime);
}

template <bool from_right>
Result<Value> Partition(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  const std::string_view text = self.text();
  GDN_RETURN_IF_ERROR(runtime.budget.Scan(text.size()));
  GDN_RETURN_IF_ERROR(runtime.budget.Allocate(text.size()));
  GDN_ASSIGN_OR_RETURN(const std::string_view separator, Separator(arguments[0], "sep"));
  const size_t at = from_right ? FindLastText(text, separator) : FindText(text, separator, 0);
  std::vector<std::string_view> parts = {text, "", ""};
  if (at != std::string_view::npos) {
    parts = {text.substr(0, at), separator, text.substr(at + separator.size())};
  } else if (from_right) {
    std::swap(parts[0], parts[2]);
  }
  GDN_ASSIGN_OR_RETURN(const Value list, ListOfTexts(parts, self, runtime));
  return Value(Tuple{*list.sequence()});
}

constexpr Builtin kMethods[] = {
    {"split", Split, {"sep", "maxsplit"}},       {"rsplit", SplitFromRight, {"sep", "maxsplit"}},
    {"splitlines", Lines, {"keepends"}},         {"partition", Partition<false>, {"sep"}, 1},
    {"rpartition", Partition<true>, {"sep"}, 1},
};

}  // namespace

const Builtin* FindSplitMethod(std::string_view name) {
  for (const Builtin& method : kMethods) {
    if (method.name == name) return &method;
  }
  return nullptr;
}

}  // namespace gdn::jinja
