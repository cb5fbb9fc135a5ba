// SPDX-License-Identifier: Apache-2.0
// What gdn run --chat is asked: its options, and the conversation that they name.
#pragma once

#include <string_view>

#include "base/status.h"
#include "cli/run_options.h"
#include "session/chat_format.h"

namespace CLI {
class App;
}

namespace gdn {

// Of a message that is read from anywhere.
inline constexpr size_t kMaxMessageBytes = size_t{16} << 20;

void AddChatOptions(CLI::App& command, ChatOptions& options);

// Reads what the options name, before the model is loaded: the conversation so far.
Result<ChatRequest> ReadConversation(const CLI::App& command, const RunOptions& options);

// True where the model is to speak next.
bool WaitsForReply(const ChatRequest& conversation);

nlohmann::ordered_json ChatMessage(const char* role, std::string_view text);
// what: the text's name, for the message.
Status CheckUtf8(std::string_view text, const char* what);

}  // namespace gdn
