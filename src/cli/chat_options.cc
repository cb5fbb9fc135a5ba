// SPDX-License-Identifier: Apache-2.0
#include "cli/chat_options.h"

#include <CLI/CLI.hpp>
#include <string>
#include <utility>

#include "base/str.h"
#include "io/json_file.h"
#include "io/read_file.h"
#include "session/chat_request_json.h"
#include "tokenizer/utf8.h"

namespace gdn {

nlohmann::ordered_json ChatMessage(const char* role, std::string_view text) {
  return {{"role", role}, {"content", text}};
}

Status CheckUtf8(std::string_view text, const char* what) {
  const size_t at = FindInvalidUtf8(text);
  if (at == std::string_view::npos) return OkStatus();
  return InvalidArgument(StrCat(what, " is not valid UTF-8 at byte ", at));
}

// True where the model is to speak next.
bool WaitsForReply(const ChatRequest& conversation) {
  if (conversation.messages.empty()) return false;
  if (conversation.continue_final_message) return true;
  const nlohmann::ordered_json& last = conversation.messages.back();
  const auto role = last.find("role");
  return role != last.end() && *role != "system" && *role != "assistant";
}

void AddChatOptions(CLI::App& command, ChatOptions& options) {
  CLI::Option* chat = command.add_flag(
      "--chat", options.enabled,
      "Reply to messages, in the checkpoint's chat template: to --prompt, --file or --messages, "
      "or to each line of stdin");
  chat->excludes("--ids");
  command.add_option("--system", options.system, "With --chat: the system message")->needs(chat);
  command
      .add_option(
          "--messages", options.messages_file,
          "With --chat: JSON file with a conversation, a list of messages or an object with "
          "messages, tools, documents, chat_template_kwargs, continue_final_message; where its "
          "last message is the assistant's, lines of stdin go on with it")
      ->needs(chat)
      ->excludes("--prompt")
      ->excludes("--file")
      ->excludes("--system");
  command
      .add_option("--assistant", options.assistant,
                  "With --chat: beginning of the reply to --prompt, --file or --messages")
      ->needs(chat);
  command
      .add_option("--chat-template-kwargs", options.template_kwargs,
                  "With --chat: JSON object with variables of the template, such as "
                  "{\"enable_thinking\": false}")
      ->needs(chat);
  command
      .add_flag("--reuse-decoded", options.reuse_decoded,
                "With --chat: go on from the states that a reply was generated with, instead of "
                "reading it again as a prompt; changes bits, and finds nothing where the template "
                "does not write a reply as it was generated, as with reasoning")
      ->needs(chat);
  command
      .add_option("--reasoning", options.reasoning,
                  "With --chat: show reasoning on stderr, hide it, or auto: show it on a terminal; "
                  "of several completions it is in --json alone")
      ->needs(chat)
      ->check(CLI::IsMember({"auto", "show", "hide"}))
      ->capture_default_str();
}

Result<ChatRequest> ReadConversation(const CLI::App& command, const RunOptions& options) {
  const ChatOptions& chat = options.chat;
  ChatRequest out;
  out.messages = nlohmann::ordered_json::array();
  if (command.count("--messages") > 0) {
    GDN_ASSIGN_OR_RETURN(const std::string text, ReadFile(chat.messages_file, kMaxMessageBytes));
    GDN_ASSIGN_OR_RETURN(out, ParseChatRequest(text, chat.messages_file));
  }
  if (command.count("--system") > 0) {
    GDN_RETURN_IF_ERROR(CheckUtf8(chat.system, "--system"));
    out.messages.push_back(ChatMessage("system", chat.system));
  }
  if (command.count("--prompt") + command.count("--file") > 0) {
    GDN_ASSIGN_OR_RETURN(const std::string prompt, ReadPrompt(command, options.prompt));
    GDN_RETURN_IF_ERROR(CheckUtf8(prompt, "prompt"));
    out.messages.push_back(ChatMessage("user", prompt));
  }
  if (command.count("--assistant") > 0) {
    GDN_RETURN_IF_ERROR(CheckUtf8(chat.assistant, "--assistant"));
    if (!WaitsForReply(out) || out.continue_final_message) {
      return InvalidArgument(
          "--assistant begins the reply to a message: it wants --prompt, --file "
          "or --messages whose last message is not the assistant's own");
    }
    out.messages.push_back(ChatMessage("assistant", chat.assistant));
    out.continue_final_message = true;
  }
  if (command.count("--chat-template-kwargs") > 0) {
    GDN_ASSIGN_OR_RETURN(nlohmann::ordered_json variables,
                         ParseOrderedJson(chat.template_kwargs, "--chat-template-kwargs"));
    if (!variables.is_object()) {
      return InvalidArgument("--chat-template-kwargs must be a JSON object");
    }
    out.variables = std::move(variables);
  }
  if (!WaitsForReply(out)) {
    if (options.params.num_completions > 1) {
      return InvalidArgument(
          "--completions wants one message to reply to, in --prompt, --file or "
          "--messages");
    }
  }
  return out;
}

}  // namespace gdn
