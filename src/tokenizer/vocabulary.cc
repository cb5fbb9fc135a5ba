// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/vocabulary.h"

#include "base/str.h"
#include "tokenizer/byte_level.h"

namespace gdn {

Vocabulary::Token& Vocabulary::Slot(int32_t id) {
  if (id >= size()) tokens_.resize(static_cast<size_t>(id) + 1);
  return tokens_[static_cast<size_t>(id)];
}

Result<Vocabulary> Vocabulary::Create(
    const std::vector<std::pair<std::string, int32_t>>& model_tokens) {
  Vocabulary vocabulary;
  vocabulary.ids_.reserve(model_tokens.size());
  int32_t size = 0;
  for (const auto& [name, id] : model_tokens) size = std::max(size, id + 1);
  vocabulary.tokens_.resize(static_cast<size_t>(size));
  for (const auto& [name, id] : model_tokens) {
    Token& token = vocabulary.Slot(id);
    if (token.kind != Kind::kNone) {
      return InvalidArgument(
          StrCat("model.vocab[", Quoted(name), "] is ", id, ", the id of another token"));
    }
    token = {FromByteLevel(name), Kind::kModel, false};
    const auto [entry, inserted] = vocabulary.ids_.emplace(name, id);
    if (!inserted) {
      return InvalidArgument(StrCat("model.vocab has ", Quoted(entry->first), " twice"));
    }
  }
  return vocabulary;
}

Status Vocabulary::Add(const std::string& name, int32_t id, std::string_view spelling,
                       bool special) {
  const auto entry = ids_.find(name);
  if (entry != ids_.end() && entry->second != id) {
    return InvalidArgument(
        StrCat("is ", Quoted(name), " with id ", id, ", but that token has id ", entry->second));
  }
  Token& token = Slot(id);
  if (entry == ids_.end()) {
    if (token.kind != Kind::kNone) {
      return InvalidArgument(
          StrCat("is ", Quoted(name), " with id ", id, ", the id of another token"));
    }
    token = {FromByteLevel(spelling), Kind::kAdded, special};
    ids_.emplace(name, id);
  }
  token.special = special;
  return OkStatus();
}

std::optional<int32_t> Vocabulary::Find(std::string_view name) const {
  const auto entry = ids_.find(name);
  if (entry == ids_.end()) return std::nullopt;
  return entry->second;
}

std::optional<int32_t> Vocabulary::FindModelToken(std::string_view name) const {
  const std::optional<int32_t> id = Find(name);
  if (!id || tokens_[static_cast<size_t>(*id)].kind != Kind::kModel) return std::nullopt;
  return id;
}

std::string_view Vocabulary::Bytes(int32_t id) const {
  return Has(id) ? std::string_view(tokens_[static_cast<size_t>(id)].bytes) : std::string_view();
}

bool Vocabulary::IsSpecial(int32_t id) const {
  return Has(id) && tokens_[static_cast<size_t>(id)].special;
}

}  // namespace gdn
