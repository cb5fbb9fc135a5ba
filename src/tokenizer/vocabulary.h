// SPDX-License-Identifier: Apache-2.0
// The tokens by id and by name: those of the model, which merges build, and the added ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/status.h"

namespace gdn {

class Vocabulary {
 public:
  // Errors name the entry: an id twice, a name twice.
  static Result<Vocabulary> Create(
      const std::vector<std::pair<std::string, int32_t>>& model_tokens);

  // An added token, which decodes to the bytes of spelling. A model token of that name and id only
  // takes the flag; another id for the name, or another name for the id, is an error.
  Status Add(const std::string& name, int32_t id, std::string_view spelling, bool special);

  int32_t size() const { return static_cast<int32_t>(tokens_.size()); }  // largest id + 1
  std::optional<int32_t> Find(std::string_view name) const;
  // Tokens of the model alone.
  std::optional<int32_t> FindModelToken(std::string_view name) const;

  // For an id without a token: no bytes, not special.
  std::string_view Bytes(int32_t id) const;
  bool IsSpecial(int32_t id) const;

 private:
  enum class Kind : uint8_t { kNone, kModel, kAdded };
  struct Token {
    std::string bytes;
    Kind kind = Kind::kNone;
    bool special = false;
  };
  // Lookups by string_view without a temporary string.
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };

  Token& Slot(int32_t id);
  bool Has(int32_t id) const { return id >= 0 && id < size(); }

  std::vector<Token> tokens_;
  std::unordered_map<std::string, int32_t, Hash, std::equal_to<>> ids_;
};

}  // namespace gdn
