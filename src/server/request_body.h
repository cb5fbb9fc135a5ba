// SPDX-License-Identifier: Apache-2.0
// What the parsers of request bodies share.
#pragma once

#include <optional>
#include <string_view>

#include "server/field_reader.h"
#include "server/generation_request.h"

namespace gdn {

// The body as an object, within bounds of size, depth and number of values.
std::optional<ApiError> ParseBody(std::string_view body, const RequestRules& rules,
                                  nlohmann::ordered_json& out);

// messages, tools, tool_choice and what else makes a conversation.
void ReadConversation(FieldReader& fields, ChatRequest& out);

// The member prompt: a text, texts, ids, or lists of ids.
void ReadPrompts(FieldReader& fields, std::vector<PromptInput>& out);

// The ids of a list; nothing and an error where they are not 32-bit numbers >= 0.
void ReadTokens(FieldReader& fields, const char* name, const nlohmann::ordered_json& list,
                std::vector<int32_t>& out);

}  // namespace gdn
