// SPDX-License-Identifier: Apache-2.0
// JSON from files that nobody vouches for.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/status.h"

namespace gdn {

// What a text may ask of us before it is parsed: the depth bounds the recursion of whoever walks
// the tree, the values bound its memory (a tree takes some 100 bytes a value).
struct JsonLimits {
  size_t max_bytes = size_t{16} << 20;
  int max_depth = 64;
  size_t max_values = size_t{1} << 22;
};

// Of keys that repeat, the last one counts. file_name is for messages.
// Errors: kInvalidArgument, naming the file and the byte.
Result<nlohmann::json> ParseJson(std::string_view text, const std::string& file_name,
                                 const JsonLimits& limits = {});

// The same, with the members of objects in the order of the text. Of a key that repeats, the first
// place and the last value count. Linear in the text, which nlohmann's own parser of ordered
// objects is not.
Result<nlohmann::ordered_json> ParseOrderedJson(std::string_view text, const std::string& file_name,
                                                const JsonLimits& limits = {});

// ParseJson of a file; its name in messages is the path. kNotFound where there is none.
Result<nlohmann::json> ReadJsonFile(const std::string& path, const JsonLimits& limits = {});

}  // namespace gdn
