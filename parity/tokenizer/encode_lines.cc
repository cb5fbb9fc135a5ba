// SPDX-License-Identifier: Apache-2.0
// encode_lines <folder of a tokenizer.json>: reads JSON values one a line and answers each with one
// line of JSON, for compare.py.
//   "text"              -> {"ids": [..], "text": decoded, "skipped": decoded without special
//   tokens}
//   {"plain": "text"}   -> {"ids": [..]} with added tokens as plain text
//   [ids]               -> {"text": .., "skipped": ..}
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "tokenizer/tokenizer.h"

namespace {

using nlohmann::json;

void Decode(const gdn::Tokenizer& tokenizer, const std::vector<int32_t>& ids, json& answer) {
  answer["text"] = tokenizer.Decode(ids, /*skip_special=*/false);
  answer["skipped"] = tokenizer.Decode(ids, /*skip_special=*/true);
}

json Answer(const gdn::Tokenizer& tokenizer, const json& line) {
  json answer;
  if (line.is_array()) {
    Decode(tokenizer, line.get<std::vector<int32_t>>(), answer);
    return answer;
  }
  const bool plain = line.is_object();
  const auto ids = tokenizer.Encode((plain ? line.at("plain") : line).get<std::string>(),
                                    {.parse_special = !plain});
  if (!ids.ok()) return {{"error", ids.status().message()}};
  answer["ids"] = *ids;
  if (!plain) Decode(tokenizer, *ids, answer);
  return answer;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: encode_lines <folder>\n");
    return 2;
  }
  const auto tokenizer = gdn::Tokenizer::Load(argv[1]);
  if (!tokenizer.ok()) {
    std::fprintf(stderr, "%s\n", tokenizer.status().message().c_str());
    return 1;
  }
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << Answer(*tokenizer, json::parse(line)).dump() << '\n';
  }
  return 0;
}
