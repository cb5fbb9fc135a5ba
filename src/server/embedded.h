// SPDX-License-Identifier: Apache-2.0
// Files of this folder that the program carries (cmake/gdn_embed.cmake makes their source).
#pragma once

#include <string_view>

namespace gdn::embedded {

extern const std::string_view kIndexHtml;    // page/index.html
extern const std::string_view kOpenapiJson;  // openapi.json

}  // namespace gdn::embedded
