// SPDX-License-Identifier: Apache-2.0
// For compare.py: each line of stdin is {"source": template, "request": members of PromptRequest};
// each line of stdout {"text": prompt} or {"error": message}.
#include <iostream>
#include <string>

#include "chat_template/prompt.h"
#include "chat_template/prompt_testing.h"
#include "io/json_file.h"

namespace gdn {
namespace {

Result<std::string> Answer(const std::string& line) {
  GDN_ASSIGN_OR_RETURN(const nlohmann::ordered_json input, ParseOrderedJson(line, "stdin"));
  GDN_ASSIGN_OR_RETURN(const ChatTemplate chat_template,
                       ChatTemplate::Parse(input.at("source").get_ref<const std::string&>()));
  return BuildPrompt(chat_template, RequestOf(input.at("request")), AtTestTime());
}

}  // namespace
}  // namespace gdn

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const auto answer = gdn::Answer(line);
    nlohmann::json out;
    if (answer.ok()) {
      out["text"] = *answer;
    } else {
      out["error"] = answer.status().message();
    }
    std::cout << out.dump() << '\n';
  }
}
