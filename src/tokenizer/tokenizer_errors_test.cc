// SPDX-License-Identifier: Apache-2.0
// What a wrong tokenizer.json is told: one line that names the file and the field.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "tokenizer/test_tokenizer_json.h"
#include "tokenizer/tokenizer.h"

namespace gdn {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

void ExpectError(const std::string& text, const std::string& want) {
  const auto tokenizer = Tokenizer::Parse(text, "f.json");
  ASSERT_FALSE(tokenizer.ok()) << want;
  EXPECT_THAT(tokenizer.status().message(), StartsWith("f.json: "));
  EXPECT_THAT(tokenizer.status().message(), HasSubstr(want));
  EXPECT_THAT(tokenizer.status().message(), Not(HasSubstr("\n")));
}

struct Case {
  const char* want;
  std::function<void(json&)> change;
};
void PrintTo(const Case& entry, std::ostream* out) { *out << entry.want; }

class TokenizerErrors : public testing::TestWithParam<Case> {};

TEST_P(TokenizerErrors, NameTheField) {
  json file = TokenizerJsonOf({{"a", "b"}});
  ASSERT_TRUE(Tokenizer::Parse(file.dump(), "f.json").ok());
  GetParam().change(file);
  ExpectError(file.dump(), GetParam().want);
}

const std::vector<Case> kCases = {
    {"model is null, must be an object", [](json& f) { f.erase("model"); }},
    {"model.vocab is missing", [](json& f) { f["model"].erase("vocab"); }},
    {"model.vocab is missing", [](json& f) { f["model"]["vocab"] = 7; }},
    {"model.vocab is missing", [](json& f) { f["model"]["vocab"] = json::array({1}); }},
    {"model.merges is missing", [](json& f) { f["model"]["merges"] = json::object(); }},
    {"model.type is \"Unigram\", must be BPE", [](json& f) { f["model"]["type"] = "Unigram"; }},
    {"model.type is 3, must be BPE", [](json& f) { f["model"]["type"] = 3; }},
    {"model.vocab[\"x1\"] is 4194304, must be",
     [](json& f) { f["model"]["vocab"]["x1"] = 1 << 22; }},
    {"model.vocab[\"x1\"] is -1, must be", [](json& f) { f["model"]["vocab"]["x1"] = -1; }},
    {"model.vocab[\"x1\"] is a float", [](json& f) { f["model"]["vocab"]["x1"] = 1e300; }},
    {"model.vocab[\"x1\"] is a string", [](json& f) { f["model"]["vocab"]["x1"] = "1"; }},
    {"model.vocab[\"x1\"] is an object",
     [](json& f) { f["model"]["vocab"]["x1"] = json::object(); }},
    {"model.vocab[\"x1\"] is an array", [](json& f) { f["model"]["vocab"]["x1"] = json::array(); }},
    {"is 97, the id of another token", [](json& f) { f["model"]["vocab"]["x1"] = 97; }},
    {"model.merges[1] needs the token \"ax\"",
     [](json& f) { f["model"]["merges"].push_back("a x"); }},
    {"model.merges[1] is \"ab\", must be two",
     [](json& f) { f["model"]["merges"].push_back("ab"); }},
    {"model.merges[1] is \"a b c\"", [](json& f) { f["model"]["merges"].push_back("a b c"); }},
    {"model.merges[1] has a number", [](json& f) { f["model"]["merges"].push_back(1); }},
    {"model.merges[1] has a number",
     [](json& f) {
       f["model"]["merges"].push_back({"a", 1});
     }},
    {"model.merges[1] is not two",
     [](json& f) { f["model"]["merges"].push_back(json::array({"a"})); }},
    {"model.merges[1] has more than 2",
     [](json& f) {
       f["model"]["merges"].push_back({"a", "b", "c"});
     }},
    {"model.dropout is 0.1, must be null", [](json& f) { f["model"]["dropout"] = 0.1; }},
    {"model.byte_fallback is true", [](json& f) { f["model"]["byte_fallback"] = true; }},
    {"model.ignore_merges is 1, must be true or false",
     [](json& f) { f["model"]["ignore_merges"] = 1; }},
    {"model.end_of_word_suffix is \"</w>\"",
     [](json& f) { f["model"]["end_of_word_suffix"] = "</w>"; }},
    {"normalizer.type is \"Lowercase\", must be NFC",
     [](json& f) {
       f["normalizer"] = {{"type", "Lowercase"}};
     }},
    {"normalizer.type is null", [](json& f) { f["normalizer"] = 3; }},
    {"normalizer.normalizers is null, must be a list",
     [](json& f) {
       f["normalizer"] = {{"type", "Sequence"}};
     }},
    {"normalizer.normalizers[0].type is \"NFKC\"",
     [](json& f) {
       f["normalizer"] = {{"type", "Sequence"}, {"normalizers", {{{"type", "NFKC"}}}}};
     }},
    {"pre_tokenizer has no ByteLevel", [](json& f) { f["pre_tokenizer"] = nullptr; }},
    {"pre_tokenizer has no ByteLevel",
     [](json& f) { f["pre_tokenizer"] = SequenceJson({SplitJson("a")}); }},
    {"pre_tokenizer.type is \"Metaspace\"",
     [](json& f) {
       f["pre_tokenizer"] = {{"type", "Metaspace"}};
     }},
    {"pre_tokenizer.pretokenizers[1].type is \"Split\", must be nothing after",
     [](json& f) {
       f["pre_tokenizer"] = SequenceJson({ByteLevelJson(), SplitJson("a")});
     }},
    {"pre_tokenizer.pretokenizers[0].pattern does not compile",
     [](json& f) {
       f["pre_tokenizer"] = SequenceJson({SplitJson("("), ByteLevelJson()});
     }},
    {"pre_tokenizer.pretokenizers[0].pattern has the escape \"\\\\w\"",
     [](json& f) {
       f["pre_tokenizer"] = SequenceJson({SplitJson("\\w"), ByteLevelJson()});
     }},
    {"pre_tokenizer.pretokenizers[0].pattern is \"x\", must be",
     [](json& f) { f["pre_tokenizer"]["pretokenizers"][0]["pattern"] = "x"; }},
    {"pre_tokenizer.pretokenizers[0].behavior is \"Nope\"",
     [](json& f) { f["pre_tokenizer"]["pretokenizers"][0]["behavior"] = "Nope"; }},
    {"pre_tokenizer.pretokenizers[0].invert is \"no\"",
     [](json& f) { f["pre_tokenizer"]["pretokenizers"][0]["invert"] = "no"; }},
    {"pre_tokenizer.add_prefix_space is null",
     [](json& f) {
       f["pre_tokenizer"] = {{"type", "ByteLevel"}};
     }},
    {"decoder is missing, must be ByteLevel", [](json& f) { f.erase("decoder"); }},
    {"decoder.type is \"Fuse\"",
     [](json& f) {
       f["decoder"] = {{"type", "Fuse"}};
     }},
    {"post_processor.type is \"BertProcessing\"",
     [](json& f) {
       f["post_processor"] = {{"type", "BertProcessing"}};
     }},
    {"post_processor.single is null, must be a list",
     [](json& f) {
       f["post_processor"] = {{"type", "TemplateProcessing"}};
     }},
    {"post_processor.single has no Sequence A",
     [](json& f) {
       f["post_processor"] = {{"type", "TemplateProcessing"}, {"single", json::array()}};
     }},
    {"post_processor.single[0] is object, must be",
     [](json& f) {
       f["post_processor"] = {{"type", "TemplateProcessing"},
                              {"single", {{{"Sequence", {{"id", "B"}}}}}}};
     }},
    {"post_processor.special_tokens[\"<s>\"].ids is null",
     [](json& f) {
       f["post_processor"] = {{"type", "TemplateProcessing"},
                              {"single", {{{"SpecialToken", {{"id", "<s>"}}}}}}};
     }},
    {"post_processor has the id 999, the vocabulary ends at 256",
     [](json& f) {
       f["post_processor"] = {
           {"type", "TemplateProcessing"},
           {"single", {{{"SpecialToken", {{"id", "<s>"}}}}, {{"Sequence", {{"id", "A"}}}}}},
           {"special_tokens", {{"<s>", {{"ids", {999}}}}}}};
     }},
    {"added_tokens is object, must be a list", [](json& f) { f["added_tokens"] = json::object(); }},
    {"added_tokens[0].content is null", [](json& f) { f["added_tokens"] = json::array({5}); }},
    {"added_tokens[0].content has 0 bytes",
     [](json& f) { f["added_tokens"] = {AddedTokenJson(300, "")}; }},
    {"added_tokens[0].content has 600 bytes",
     [](json& f) { f["added_tokens"] = {AddedTokenJson(300, std::string(600, 'x'))}; }},
    {"added_tokens[0].id is 2000000000",
     [](json& f) { f["added_tokens"] = {AddedTokenJson(2000000000, "x1")}; }},
    {"added_tokens[0].special is \"yes\"",
     [](json& f) {
       f["added_tokens"] = {AddedTokenJson(300, "x1")};
       f["added_tokens"][0]["special"] = "yes";
     }},
    {"added_tokens[0] is \"x1\" with id 97, the id of another token",
     [](json& f) { f["added_tokens"] = {AddedTokenJson(97, "x1")}; }},
    {"added_tokens[0] is \"ab\" with id 300, but that token has id 256",
     [](json& f) { f["added_tokens"] = {AddedTokenJson(300, "ab")}; }},
};

INSTANTIATE_TEST_SUITE_P(Fields, TokenizerErrors, testing::ValuesIn(kCases),
                         [](const auto& entry) { return "case" + std::to_string(entry.index); });

TEST(TokenizerErrors, TextThatIsNotTheJsonItShouldBe) {
  ExpectError("", "is not valid JSON at byte");
  ExpectError("{\"model\": ", "is not valid JSON at byte");
  ExpectError("{\"a\": \"\xFF\"}", "is not valid JSON at byte");
  ExpectError("3", "is not a JSON object");
  ExpectError("[]", "is not a JSON object");
  ExpectError(R"({"a": 1, "a": 2})", "has the key \"a\" twice");
  ExpectError(R"({"model": {"vocab": {}, "vocab": {}}})", "model.vocab is there twice");
  ExpectError(R"({"model": {"merges": [], "merges": []}})", "model.merges is there twice");
}

TEST(TokenizerErrors, HostileSizes) {
  ExpectError(std::string(1000000, '['), "is nested deeper than 64");
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "{\"a\":";
  ExpectError(deep, "is nested deeper than 64");
  std::string wide = "[0";
  for (int i = 0; i < 3000000; ++i) wide += ",0";
  ExpectError(wide + "]", "has more than 2097152 values");
  ExpectError(R"({"model": {"vocab": {"a": 99999999999999999999999}}})", "is a float");
}

TEST(TokenizerErrors, NamesATokenTwiceInTheVocabulary) {
  std::string text = TokenizerJsonOf().dump();
  const std::string::size_type at = text.find("\"vocab\":{") + 9;
  text.insert(at, "\"a\":999,");
  ExpectError(text, "model.vocab has \"a\" twice");
}

}  // namespace
}  // namespace gdn
