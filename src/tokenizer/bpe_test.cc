// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/bpe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <map>
#include <string>
#include <thread>

#include "base/rng.h"
#include "tokenizer/byte_level.h"

namespace gdn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Merges = std::vector<std::pair<std::string, std::string>>;
using Tokens = std::vector<std::pair<std::string, int32_t>>;

struct Model {
  Vocabulary vocabulary;
  Merges merges;
};

// Merges drawn at random, so that they overlap and depend on each other.
Model RandomModel(Rng& rng, std::string_view letters, int num_merges) {
  Model model;
  Tokens tokens;
  std::vector<std::string> names;
  std::map<std::string, int32_t> ids;
  const auto add = [&](const std::string& name) {
    const auto id = static_cast<int32_t>(names.size());
    if (!ids.emplace(name, id).second) return;
    names.push_back(name);
    tokens.emplace_back(name, id);
  };
  for (const char letter : letters) add(std::string(1, letter));
  for (int i = 0; i < num_merges; ++i) {
    const std::string left = names[rng.NextBelow(names.size())];
    const std::string right = names[rng.NextBelow(names.size())];
    if (left.size() + right.size() > 12) continue;
    model.merges.emplace_back(left, right);
    add(left + right);
  }
  model.vocabulary = *Vocabulary::Create(tokens);
  return model;
}

// The definition, word for word: again and again the first pair of the lowest rank.
std::vector<int32_t> ByDefinition(const Model& model, std::string_view piece) {
  std::map<std::pair<std::string, std::string>, size_t> ranks;
  for (size_t i = 0; i < model.merges.size(); ++i) ranks[model.merges[i]] = i;
  std::vector<std::string> symbols;
  for (const char c : piece) symbols.emplace_back(1, c);
  while (true) {
    size_t best = SIZE_MAX;
    size_t at = 0;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto rank = ranks.find({symbols[i], symbols[i + 1]});
      if (rank != ranks.end() && rank->second < best) {
        best = rank->second;
        at = i;
      }
    }
    if (best == SIZE_MAX) break;
    symbols[at] += symbols[at + 1];
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
  std::vector<int32_t> ids;
  for (const auto& symbol : symbols) ids.push_back(*model.vocabulary.Find(symbol));
  return ids;
}

TEST(Bpe, EqualsTheDefinitionOnRandomModels) {
  constexpr std::string_view kLetters = "abcd";
  Rng rng(3);
  for (int round = 0; round < 300; ++round) {
    const Model model = RandomModel(rng, kLetters, 1 + static_cast<int>(rng.NextBelow(60)));
    const auto bpe = Bpe::Create(model.vocabulary, model.merges, /*ignore_merges=*/false);
    ASSERT_TRUE(bpe.ok()) << bpe.status().message();
    Bpe::Scratch scratch;
    for (int i = 0; i < 20; ++i) {
      std::string piece;
      for (uint64_t n = rng.NextBelow(40); n > 0; --n) piece += kLetters[rng.NextBelow(4)];
      std::vector<int32_t> ids;
      ASSERT_TRUE(bpe->Encode(piece, scratch, ids).ok());
      ASSERT_EQ(ids, ByDefinition(model, piece)) << piece;
      ids.clear();  // now from the cache, where it fits
      ASSERT_TRUE(bpe->Encode(piece, scratch, ids).ok());
      ASSERT_EQ(ids, ByDefinition(model, piece)) << piece;
    }
  }
}

TEST(Bpe, ManyThreadsShareOneModel) {
  Rng rng(4);
  const Model model = RandomModel(rng, "abcd", 60);
  const auto bpe = Bpe::Create(model.vocabulary, model.merges, /*ignore_merges=*/false);
  ASSERT_TRUE(bpe.ok());
  std::vector<int> wrong(4, 0);
  {
    std::vector<std::jthread> threads;
    for (size_t t = 0; t < wrong.size(); ++t) {
      threads.emplace_back([&, t] {
        Rng own(10 + t);
        Bpe::Scratch scratch;
        for (int i = 0; i < 3000; ++i) {
          std::string piece;
          for (uint64_t n = 1 + own.NextBelow(6); n > 0; --n) piece += "abcd"[own.NextBelow(4)];
          std::vector<int32_t> ids;
          const bool ok = bpe->Encode(piece, scratch, ids).ok();
          if (!ok || ids != ByDefinition(model, piece)) ++wrong[t];
        }
      });
    }
  }
  EXPECT_THAT(wrong, ElementsAre(0, 0, 0, 0));
}

TEST(Bpe, ALongPieceIsNotQuadratic) {
  const auto vocabulary = Vocabulary::Create({{"a", 0}, {"aa", 1}, {"aaaa", 2}, {"aaaaaaaa", 3}});
  ASSERT_TRUE(vocabulary.ok());
  const auto bpe = Bpe::Create(*vocabulary, {{"a", "a"}, {"aa", "aa"}, {"aaaa", "aaaa"}}, false);
  ASSERT_TRUE(bpe.ok());
  Bpe::Scratch scratch;
  std::vector<int32_t> ids;
  const std::clock_t start = std::clock();
  ASSERT_TRUE(bpe->Encode(std::string(1000003, 'a'), scratch, ids).ok());
  EXPECT_LT(std::clock() - start, 5 * CLOCKS_PER_SEC);
  ASSERT_EQ(ids.size(), 125002U);
  EXPECT_EQ(ids[0], 3);
  EXPECT_EQ(ids[125000], 1);
  EXPECT_EQ(ids[125001], 0);
}

TEST(Bpe, IgnoreMergesTakesAWholePieceThatIsAToken) {
  const auto vocabulary =
      Vocabulary::Create({{"a", 0}, {"b", 1}, {"ab", 2}, {"\u0120ab", 3}, {"\u0120", 4}});
  ASSERT_TRUE(vocabulary.ok());
  for (const bool ignore_merges : {false, true}) {
    const auto bpe = Bpe::Create(*vocabulary, {{"a", "b"}}, ignore_merges);
    ASSERT_TRUE(bpe.ok());
    Bpe::Scratch scratch;
    std::vector<int32_t> ids;
    ASSERT_TRUE(bpe->Encode(" ab", scratch, ids).ok());
    EXPECT_EQ(ids, ignore_merges ? std::vector<int32_t>{3} : (std::vector<int32_t>{4, 2}));
  }
}

TEST(Bpe, NamesWhatIsMissing) {
  const auto vocabulary = Vocabulary::Create({{"a", 0}, {"b", 1}});
  ASSERT_TRUE(vocabulary.ok());
  for (const auto& merge : Merges{{"a", "b"}, {"a", "x"}, {"y", "b"}}) {
    const auto bpe = Bpe::Create(*vocabulary, {merge}, false);
    ASSERT_FALSE(bpe.ok());
    EXPECT_THAT(bpe.status().message(), HasSubstr("model.merges[0] needs the token"));
  }
  const auto bpe = Bpe::Create(*vocabulary, {}, false);
  ASSERT_TRUE(bpe.ok());
  Bpe::Scratch scratch;
  std::vector<int32_t> ids;
  const Status status = bpe->Encode("abc", scratch, ids);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("byte 99"));
}

TEST(ByteLevel, AlphabetIsAOneToOneMapOfAllBytes) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string bytes(1, static_cast<char>(byte));
    EXPECT_EQ(FromByteLevel(ToByteLevel(bytes)), bytes);
  }
  EXPECT_EQ(ToByteLevel(" \n!\x7F\xAD\xFF"), "\u0120\u010A!\u0121\u0143\u00FF");
  EXPECT_EQ(FromByteLevel("\u0144"), "\u0144");  // outside the alphabet: its own bytes
}

}  // namespace
}  // namespace gdn
