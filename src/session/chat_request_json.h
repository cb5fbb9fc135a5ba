// SPDX-License-Identifier: Apache-2.0
// Conversations as clients and files write them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/status.h"
#include "session/chat_format.h"

namespace gdn {

// A list of messages, or an object with messages and, each only where it is wanted, tools,
// documents, chat_template_kwargs and continue_final_message. A message is an object with a role,
// and what else its template reads. name is for messages of errors.
// Errors: kInvalidArgument, naming the member, what it is and what it must be.
Result<ChatRequest> ParseChatRequest(std::string_view json, const std::string& name);

// Whether this is a list of objects that have a role each. Errors: as above.
Status CheckMessages(const nlohmann::ordered_json& messages, const std::string& name);

}  // namespace gdn
