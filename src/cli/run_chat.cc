// SPDX-License-Identifier: Apache-2.0
#include "cli/run_chat.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/str.h"
#include "cli/chat_options.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/run_output.h"

namespace gdn {
namespace {

using Json = nlohmann::ordered_json;

// A line of stdin without its end; none at the end of the input.
Result<std::optional<std::string>> ReadLine() {
  std::string line;
  for (int c = std::getc(stdin); c != '\n'; c = std::getc(stdin)) {
    if (c == EOF) {
      if (std::ferror(stdin) != 0) {
        return InvalidArgument(StrCat("stdin: cannot be read: ", std::strerror(errno)));
      }
      if (line.empty()) return std::optional<std::string>();
      break;
    }
    if (line.size() == kMaxMessageBytes) {
      return InvalidArgument(StrCat("a message is longer than ", kMaxMessageBytes, " bytes"));
    }
    line.push_back(static_cast<char>(c));
  }
  if (line.ends_with('\r')) line.pop_back();
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

// A reply that was cut does not look it.
void SayHowItEnded(const RunOptions& options, const Session& session, const Completion& reply) {
  if (reply.finish != FinishReason::kLength) return;
  const auto length = static_cast<int64_t>(reply.tokens.size());
  const bool by_option = length >= options.params.max_new_tokens;
  std::fprintf(
      stderr, "gdn: the reply was cut after %lld tokens: %s%s\n", static_cast<long long>(length),
      by_option
          ? "--predict allows no more"
          : StrCat("the context of ", session.limits().max_positions, " tokens (--ctx) is full")
                .c_str(),
      reply.text.empty() && !reply.reasoning.empty() ? "; all of it is reasoning (--reasoning show)"
                                                     : "");
}

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
  if (!options.json) SayHowItEnded(options, session, first);
  if (with_table && !options.json)
    PrintTable(session, stream->prompt_tokens().size(), *completions);
  Json reply = ChatMessage("assistant", first.text);
  if (!first.reasoning.empty()) reply["reasoning_content"] = first.reasoning;
  if (conversation.continue_final_message) {
    const Json& begun = conversation.messages.back()["content"];
    if (begun.is_string()) reply["content"] = begun.get<std::string>() + first.text;
    conversation.messages.erase(conversation.messages.size() - 1);
    conversation.continue_final_message = false;
  }
  conversation.messages.push_back(std::move(reply));
  return first.finish != FinishReason::kCancelled;
}

// What of a conversation there was before its first line.
void StartAgain(const ChatRequest& start, ChatRequest& conversation) {
  conversation = start;
  std::fprintf(stderr, "(a new conversation)\n");
}

// What the model could not be asked was not said.
Result<bool> Ask(const RunOptions& options, std::string_view text, ChatRequest& conversation,
                 Session& session) {
  conversation.messages.push_back(ChatMessage("user", text));
  const size_t length = conversation.messages.size();
  Result<bool> finished = Reply(options, options.verbose, conversation, session);
  if (!finished.ok()) conversation.messages.erase(length - 1);
  return finished;
}

// A reply to each line of stdin. A terminal is told what went wrong and goes on; a pipe ends.
Status Converse(const RunOptions& options, const ChatRequest& start, Session& session,
                int& exit_code) {
  const bool terminal = isatty(STDIN_FILENO) != 0;
  if (terminal) std::fprintf(stderr, "(/clear begins a new conversation, Ctrl-D ends)\n");
  ChatRequest conversation = start;
  for (;;) {
    if (terminal) std::fprintf(stderr, "> ");
    const Result<std::optional<std::string>> line = ReadLine();
    if (line.ok() && !line->has_value()) return OkStatus();
    if (line.ok() && (*line)->empty()) continue;
    if (line.ok() && terminal && **line == "/clear") {
      StartAgain(start, conversation);
      continue;
    }
    const Result<bool> finished =
        line.ok() ? Ask(options, **line, conversation, session) : Result<bool>(line.status());
    if (!finished.ok() && !terminal) return finished.status();
    if (!finished.ok()) {
      Report(finished.status());
    } else if (!*finished && !terminal) {
      exit_code = kExitInterrupted;
      return OkStatus();
    }
  }
}

}  // namespace

Status RunChat(const RunOptions& options, ChatRequest conversation, Session& session,
               int& exit_code) {
  if (!WaitsForReply(conversation)) return Converse(options, conversation, session, exit_code);
  GDN_ASSIGN_OR_RETURN(const bool finished,
                       Reply(options, /*with_table=*/true, conversation, session));
  if (!finished) exit_code = kExitInterrupted;
  return OkStatus();
}

}  // namespace gdn
