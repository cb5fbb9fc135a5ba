// SPDX-License-Identifier: Apache-2.0
// JSON as text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace gdn {

// In one line. What is not UTF-8 in its strings, which may be anybody's, is replaced, never thrown
// over.
inline std::string DumpJson(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/false,
                   nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace gdn
