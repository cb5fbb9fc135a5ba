// SPDX-License-Identifier: Apache-2.0
#include "io/json_file.h"

#include <algorithm>
#include <exception>

#include "base/str.h"
#include "io/ordered_json_builder.h"
#include "io/read_file.h"

namespace gdn {
namespace {

// Counts brackets and separators outside strings, in text that may be anything: each value but
// the root follows one of '[', '{', ',' or ':'.
Status CheckLimits(std::string_view text, const std::string& file_name, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return InvalidArgument(StrCat(file_name, ": has ", HumanBytes(text.size()),
                                  " of JSON, must have at most ", HumanBytes(limits.max_bytes)));
  }
  // The parser takes a NUL for the end of the text and would not see what follows.
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return InvalidArgument(StrCat(file_name, ": JSON holds a NUL at byte ", nul, ", want none"));
  }
  int depth = 0;
  size_t values = 1;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        if (text[i] == '\\') ++i;
      }
    } else if (c == '[' || c == '{') {
      ++values;
      if (++depth > limits.max_depth) {
        return InvalidArgument(StrCat(file_name, ": JSON at byte ", i, " is nested deeper than ",
                                      limits.max_depth, " levels"));
      }
    } else if (c == ']' || c == '}') {
      depth = std::max(depth - 1, 0);
    } else if (c == ',' || c == ':') {
      ++values;
    }
    if (values > limits.max_values) {
      return InvalidArgument(
          StrCat(file_name, ": JSON has more than ", limits.max_values, " values"));
    }
  }
  return OkStatus();
}

// Runs a parser that may throw.
template <class Json, class Parse>
Result<Json> Guarded(std::string_view text, const std::string& file_name, const Parse& parse) {
  try {
    return parse();
  } catch (const nlohmann::json::parse_error& error) {
    const bool is_cut = error.byte > text.size();
    return InvalidArgument(StrCat(file_name, ": is not JSON at byte ",
                                  std::min(error.byte, text.size()), " of ", text.size(),
                                  is_cut ? ": it ends too early" : ""));
  } catch (const nlohmann::json::out_of_range& /*error*/) {
    return InvalidArgument(
        StrCat(file_name, ": holds a number that is too large, want it below 1.8e308"));
  } catch (const std::exception& error) {
    return InvalidArgument(StrCat(file_name, ": JSON cannot be read: ", Quoted(error.what(), 200)));
  }
}

}  // namespace

Result<nlohmann::json> ParseJson(std::string_view text, const std::string& file_name,
                                 const JsonLimits& limits) {
  GDN_RETURN_IF_ERROR(CheckLimits(text, file_name, limits));
  return Guarded<nlohmann::json>(text, file_name, [&] { return nlohmann::json::parse(text); });
}

Result<nlohmann::ordered_json> ParseOrderedJson(std::string_view text, const std::string& file_name,
                                                const JsonLimits& limits) {
  GDN_RETURN_IF_ERROR(CheckLimits(text, file_name, limits));
  return Guarded<nlohmann::ordered_json>(text, file_name, [&] {
    OrderedJsonBuilder builder;
    nlohmann::ordered_json::sax_parse(text, &builder);
    return builder.TakeRoot();
  });
}

Result<nlohmann::json> ReadJsonFile(const std::string& path, const JsonLimits& limits) {
  GDN_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, limits.max_bytes));
  return ParseJson(text, path, limits);
}

}  // namespace gdn
