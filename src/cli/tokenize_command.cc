// SPDX-License-Identifier: Apache-2.0
// gdn tokenize: text to ids, or ids back to text.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/str.h"
#include "cli/commands.h"
#include "cli/report.h"
#include "tokenizer/tokenizer.h"

namespace gdn {
namespace {

using Json = nlohmann::ordered_json;

struct TokenizeOptions {
  std::string model_dir;
  PromptOptions prompt;
  std::vector<int32_t> decode;
  bool plain = false;
  bool json = false;
};

Status Decode(const Tokenizer& tokenizer, const TokenizeOptions& options) {
  for (const int32_t id : options.decode) {
    if (id < 0 || id >= tokenizer.vocab_size()) {
      return InvalidArgument(StrCat("token is ", id, ", want 0 to ", tokenizer.vocab_size() - 1));
    }
  }
  const std::string text = tokenizer.Decode(options.decode, /*skip_special=*/false);
  if (options.json) {
    std::printf("%s\n", Json{{"text", text}}.dump().c_str());
  } else {
    std::printf("%s\n", text.c_str());
  }
  return OkStatus();
}

void PrintTable(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  for (const int32_t id : ids) {
    std::string bytes;
    tokenizer.AppendTokenBytes(id, /*skip_special=*/false, bytes);
    std::printf("%7d %s\n", id, Quoted(bytes).c_str());
  }
}

// Written as it goes: as a tree, the pieces of a long text would take a hundred times its size.
void PrintJson(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  const char* separator = "";
  std::printf("{\"tokens\":[");
  for (const int32_t id : ids) {
    std::printf("%s%d", separator, id);
    separator = ",";
  }
  separator = "";
  std::printf("],\"pieces\":[");
  for (const int32_t id : ids) {
    std::string bytes;
    tokenizer.AppendTokenBytes(id, /*skip_special=*/false, bytes);
    // A piece may be part of a character: such bytes are replaced, the ids tell all.
    const std::string piece = Json(bytes).dump(-1, ' ', false, Json::error_handler_t::replace);
    std::printf("%s%s", separator, piece.c_str());
    separator = ",";
  }
  std::printf("]}\n");
}

Status Tokenize(const CLI::App& command, const TokenizeOptions& options) {
  GDN_ASSIGN_OR_RETURN(const Tokenizer tokenizer, Tokenizer::Load(options.model_dir));
  if (command.count("--decode") > 0) return Decode(tokenizer, options);
  GDN_ASSIGN_OR_RETURN(const std::string text, ReadPrompt(command, options.prompt));
  GDN_ASSIGN_OR_RETURN(const std::vector<int32_t> ids,
                       tokenizer.Encode(text, {.parse_special = !options.plain}));
  options.json ? PrintJson(tokenizer, ids) : PrintTable(tokenizer, ids);
  return OkStatus();
}

}  // namespace

void AddTokenizeCommand(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("tokenize", "Turn text into token ids, or ids into text");
  const auto options = std::make_shared<TokenizeOptions>();
  command->add_option("-m,--model", options->model_dir, "Checkpoint folder")->required();
  AddPromptOptions(*command, options->prompt);
  command->add_option("--decode", options->decode, "Token ids to turn into text");
  command->add_flag("--plain", options->plain, "Take the names of special tokens as plain text");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([command, options, &exit_code] {
    const Status status = Tokenize(*command, *options);
    if (!status.ok()) exit_code = Report(status);
  });
}

}  // namespace gdn
