// SPDX-License-Identifier: Apache-2.0
#include "server/unsupported_fields.h"

#include <array>
#include <string>

#include "base/str.h"

namespace gdn {
namespace {

using Json = nlohmann::ordered_json;

struct Refused {
  const char* name;
  const char* neutral;  // JSON of the value that asks for nothing; null, false and [] always do
};

constexpr std::array kRefused = {
    Refused{"function_call", R"("none")"},
    Refused{"functions", "[]"},
    Refused{"modalities", R"(["text"])"},
    Refused{"audio", "null"},
    Refused{"prediction", "null"},
    Refused{"reasoning_effort", "null"},
    Refused{"verbosity", "null"},
    Refused{"web_search_options", "null"},
    Refused{"best_of", "1"},
    Refused{"suffix", R"("")"},
    Refused{"echo", "false"},
    Refused{"prompt_logprobs", "null"},
    Refused{"prompt_embeds", "null"},
    Refused{"use_beam_search", "false"},
    Refused{"length_penalty", "1"},
    Refused{"bad_words", "[]"},
    Refused{"allowed_token_ids", "[]"},
    Refused{"include_stop_str_in_output", "false"},
    Refused{"skip_special_tokens", "true"},
    Refused{"include_reasoning", "true"},
    Refused{"truncate_prompt_tokens", "null"},
    Refused{"return_tokens_as_token_ids", "false"},
    Refused{"return_token_ids", "false"},
    Refused{"chat_template", "null"},
    Refused{"guided_json", "null"},
    Refused{"guided_regex", "null"},
    Refused{"guided_choice", "null"},
    Refused{"guided_grammar", "null"},
    Refused{"structured_outputs", "null"},
    Refused{"grammar", "null"},
    Refused{"json_schema", "null"},
    Refused{"logits_processors", "[]"},
};

bool AsksForNothing(const Json& value, const char* neutral) {
  const bool is_empty_list = value.is_array() && value.empty();
  const Json other = Json::parse(neutral);
  // false asks for nothing only where true would ask for something.
  const bool is_off = value == Json(false) && other != Json(true);
  return is_empty_list || is_off || value == other;
}

}  // namespace

void RefuseUnsupported(FieldReader& fields) {
  for (const Refused& field : kRefused) {
    const Json* value = fields.Find(field.name);
    if (value == nullptr || AsksForNothing(*value, field.neutral)) continue;
    fields.Fail(field.name, StrCat(field.name, " is ", Describe(*value),
                                   ", which this server does not support: leave it out"));
  }
  if (const Json* format = fields.Find("response_format")) {
    const auto type = format->is_object() ? format->find("type") : format->end();
    if (!format->is_object() || type == format->end() || *type != "text") {
      fields.Fail("response_format",
                  "response_format is not supported but for {\"type\": \"text\"}: leave it out");
    }
  }
}

}  // namespace gdn
