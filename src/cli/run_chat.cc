// SPDX-License-Identifier: Apache-2.0
#include "cli/run_chat.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

#include "base/str.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/run_output.h"
#include "io/json_file.h"
#include "io/read_file.h"
#include "session/chat_request_json.h"
#include "tokenizer/utf8.h"

namespace gdn {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxInputBytes = size_t{16} << 20;

Json Message(const char* role, std::string_view text) {
  return {{"role", role}, {"content", text}};
}

Status CheckUtf8(std::string_view text, const char* what) {
  const size_t at = FindInvalidUtf8(text);
  if (at == std::string_view::npos) return OkStatus();
  return InvalidArgument(StrCat(what, " is not valid UTF-8 at byte ", at));
}

// A line of stdin without its end; none at the end of the input.
Result<std::optional<std::string>> ReadLine() {
  std::string line;
  for (int c = std::getc(stdin); c != '\n'; c = std::getc(stdin)) {
    if (c == EOF) {
      if (line.empty()) return std::optional<std::string>();
      break;
    }
    if (line.size() == kMaxInputBytes) {
      return InvalidArgument(StrCat("a message is longer than ", kMaxInputBytes, " bytes"));
    }
    line.push_back(static_cast<char>(c));
  }
  GDN_RETURN_IF_ERROR(CheckUtf8(line, "a message"));
  return std::optional(std::move(line));
}

// Text to stdout; reasoning, where it is shown, to stderr, so that stdout is the answer alone.
class ReplyPrinter {
 public:
  explicit ReplyPrinter(const RunOptions& options)
      : show_text_(!options.json && options.params.num_completions == 1),
        terminal_(isatty(STDERR_FILENO) != 0),
        show_reasoning_(show_text_ && (options.chat.reasoning == "show" ||
                                       (options.chat.reasoning == "auto" && terminal_))) {}

  void operator()(const Chunk& chunk) {
    if (show_reasoning_ && !chunk.reasoning.empty()) {
      Switch(true);
      Write(chunk.reasoning, stderr);
    }
    if (show_text_ && !chunk.text.empty()) {
      Switch(false);
      Write(chunk.text, stdout);
    }
    if (chunk.finish != FinishReason::kNone) Switch(false);
  }

 private:
  void Switch(bool to_reasoning) {
    if (to_reasoning == in_reasoning_) return;
    in_reasoning_ = to_reasoning;
    // Dim on a terminal.
    if (terminal_) Write(to_reasoning ? "\033[2m" : "\033[0m", stderr);
    if (!to_reasoning) Write("\n\n", stderr);
  }
  static void Write(std::string_view text, std::FILE* file) {
    std::fwrite(text.data(), 1, text.size(), file);
    std::fflush(file);
  }

  bool show_text_;
  bool terminal_;
  bool show_reasoning_;
  bool in_reasoning_ = false;
};

// One reply; the conversation goes on after it. False where the user ended it.
Result<bool> Reply(const RunOptions& options, bool with_table, ChatRequest& conversation,
                   Session& session) {
  GDN_ASSIGN_OR_RETURN(const std::unique_ptr<Stream> stream,
                       session.SubmitChat(conversation, options.params));
  InstallInterruptHandler();
  ReplyPrinter printer(options);
  const auto on_chunk = [&](const Chunk& chunk) { printer(chunk); };
  Result<std::vector<Completion>> completions =
      Collect(*stream, on_chunk, [] { return !Interrupted(); });
  RemoveInterruptHandler();
  GDN_RETURN_IF_ERROR(completions.status());
  const Completion& first = completions->front();
  if (options.json) {
    PrintJson(session, stream->prompt_tokens(), *completions,
              Name(options.session.model.device.type));
  } else {
    PrintTexts(*completions);
  }
  if (with_table && !options.json)
    PrintTable(session, stream->prompt_tokens().size(), *completions);
  Json reply = Message("assistant", first.text);
  if (!first.reasoning.empty()) reply["reasoning_content"] = first.reasoning;
  if (conversation.continue_final_message) {
    Json& begun = conversation.messages.back();
    reply["content"] = begun["content"].get<std::string>() + first.text;
    conversation.messages.erase(conversation.messages.size() - 1);
    conversation.continue_final_message = false;
  }
  conversation.messages.push_back(std::move(reply));
  return first.finish != FinishReason::kCancelled;
}

// True where the model is to speak next.
bool WaitsForReply(const ChatRequest& conversation) {
  if (conversation.messages.empty()) return false;
  if (conversation.continue_final_message) return true;
  const Json& last = conversation.messages.back();
  const auto role = last.find("role");
  return role != last.end() && *role != "system" && *role != "assistant";
}

Status Converse(const RunOptions& options, ChatRequest conversation, Session& session) {
  const bool terminal = isatty(STDIN_FILENO) != 0;
  for (;;) {
    if (terminal) std::fprintf(stderr, "> ");
    Result<std::optional<std::string>> line = ReadLine();
    Status status = line.status();
    if (status.ok() && !line->has_value()) return OkStatus();
    if (status.ok()) {
      if ((*line)->empty()) continue;
      conversation.messages.push_back(Message("user", **line));
      const size_t length = conversation.messages.size();
      status = Reply(options, options.verbose, conversation, session).status();
      // What the model could not be asked was not said.
      if (!status.ok()) conversation.messages.erase(length - 1);
    }
    if (status.ok()) continue;
    if (!terminal) return status;
    Report(status);
  }
}

}  // namespace

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
          "messages, tools, documents, chat_template_kwargs")
      ->needs(chat)
      ->excludes("--prompt")
      ->excludes("--file")
      ->excludes("--system");
  command
      .add_option("--assistant", options.assistant, "With --chat: beginning of the (first) reply")
      ->needs(chat);
  command
      .add_option("--chat-template-kwargs", options.template_kwargs,
                  "With --chat: JSON object with variables of the template, such as "
                  "{\"enable_thinking\": false}")
      ->needs(chat);
  command
      .add_flag("--reuse-decoded", options.reuse_decoded,
                "With --chat: go on from the states that a reply was generated with, instead of "
                "reading it again as a prompt; changes bits")
      ->needs(chat);
  command
      .add_option("--reasoning", options.reasoning,
                  "With --chat: show reasoning on stderr, hide it, or auto: show it on a terminal")
      ->needs(chat)
      ->check(CLI::IsMember({"auto", "show", "hide"}))
      ->capture_default_str();
}

Result<ChatRequest> ReadConversation(const CLI::App& command, const RunOptions& options) {
  const ChatOptions& chat = options.chat;
  ChatRequest out;
  out.messages = Json::array();
  if (command.count("--messages") > 0) {
    GDN_ASSIGN_OR_RETURN(const std::string text, ReadFile(chat.messages_file, kMaxInputBytes));
    GDN_ASSIGN_OR_RETURN(out, ParseChatRequest(text, chat.messages_file));
  }
  if (command.count("--system") > 0) {
    GDN_RETURN_IF_ERROR(CheckUtf8(chat.system, "--system"));
    out.messages.push_back(Message("system", chat.system));
  }
  if (command.count("--prompt") + command.count("--file") > 0) {
    GDN_ASSIGN_OR_RETURN(const std::string prompt, ReadPrompt(command, options.prompt));
    GDN_RETURN_IF_ERROR(CheckUtf8(prompt, "prompt"));
    out.messages.push_back(Message("user", prompt));
  }
  if (command.count("--assistant") > 0) {
    GDN_RETURN_IF_ERROR(CheckUtf8(chat.assistant, "--assistant"));
    if (!WaitsForReply(out) || out.continue_final_message) {
      return InvalidArgument(
          "--assistant begins the reply to a message: it wants --prompt, --file "
          "or --messages whose last message is not the assistant's own");
    }
    out.messages.push_back(Message("assistant", chat.assistant));
    out.continue_final_message = true;
  }
  if (command.count("--chat-template-kwargs") > 0) {
    GDN_ASSIGN_OR_RETURN(Json variables,
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

Status RunChat(const RunOptions& options, ChatRequest conversation, Session& session,
               int& exit_code) {
  if (!WaitsForReply(conversation)) return Converse(options, std::move(conversation), session);
  GDN_ASSIGN_OR_RETURN(const bool finished,
                       Reply(options, /*with_table=*/true, conversation, session));
  if (!finished) exit_code = kExitInterrupted;
  return OkStatus();
}

}  // namespace gdn
