// SPDX-License-Identifier: Apache-2.0
// gdn run --chat, and several completions of a prompt.
#include <sstream>

#include "cli_testing.h"

namespace gdn {
namespace {

const std::string kChat = "run -m " + kTiny + " --chat --temp 0 -n 20 ";

std::vector<Json> Lines(const std::string& text) {
  std::vector<Json> out;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) out.push_back(Json::parse(line));
  return out;
}

std::string WriteFile(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
  return path.string();
}

TEST_F(Cli, AReplyIsTheContinuationOfTheRenderedConversation) {
  const Outcome chat = Gdn(kChat + "--system 'Be brief.' -p 'Who was he?' --json");
  ASSERT_EQ(chat.exit_code, 0) << chat.err;
  const std::string prompt = WriteFile(dir_ / "prompt",
                                       "<|im_start|>system\nBe brief.<|im_end|>\n"
                                       "<|im_start|>user\nWho was he?<|im_end|>\n"
                                       "<|im_start|>assistant\n");
  const Outcome run = Gdn("run -m " + kTiny + " --temp 0 -n 20 --json -f " + prompt);
  EXPECT_EQ(Json::parse(chat.out)["prompt_tokens"], Json::parse(run.out)["prompt_tokens"]);
  EXPECT_EQ(Json::parse(chat.out)["tokens"], Json::parse(run.out)["tokens"]);
  const Outcome text = Gdn(kChat + "--system 'Be brief.' -p 'Who was he?'");
  EXPECT_EQ(text.out, Json::parse(chat.out)["text"].get<std::string>() + "\n");
}

TEST_F(Cli, EachLineOfStdinIsAMessageOfOneConversation) {
  const std::string lines = WriteFile(dir_ / "lines", "Who was he?\n\nand then?\n");
  const Outcome chat = Gdn(kChat + "--json <" + lines);
  ASSERT_EQ(chat.exit_code, 0) << chat.err;
  const std::vector<Json> replies = Lines(chat.out);
  ASSERT_EQ(replies.size(), 2U);
  const Json conversation = {{{"role", "user"}, {"content", "Who was he?"}},
                             {{"role", "assistant"}, {"content", replies[0]["text"]}},
                             {{"role", "user"}, {"content", "and then?"}}};
  const std::string file = WriteFile(dir_ / "messages.json", conversation.dump());
  const Outcome second = Gdn(kChat + "--json --messages " + file);
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_EQ(Json::parse(second.out)["prompt_tokens"], replies[1]["prompt_tokens"]);
  EXPECT_EQ(Json::parse(second.out)["tokens"], replies[1]["tokens"]);
  const Outcome text = Gdn(kChat + "<" + lines);
  EXPECT_EQ(text.out, replies[0]["text"].get<std::string>() + "\n" +
                          replies[1]["text"].get<std::string>() + "\n");
}

TEST_F(Cli, ALongConversationIsNotComputedTwice) {
  std::string question = "And";
  for (int i = 0; i < 60; ++i) question += " it came to pass in those days";
  const std::string lines = WriteFile(dir_ / "lines", question + "\nand then?\n");
  const std::vector<Json> replies = Lines(Gdn(kChat + "--json <" + lines).out);
  ASSERT_EQ(replies.size(), 2U);
  EXPECT_EQ(replies[0]["cached_tokens"], 0);
  const size_t known = replies[0]["prompt_tokens"].size();
  EXPECT_GE(replies[1]["cached_tokens"], known / 64 * 64);
  // The reply's tokens are new to the next turn, unless their states are used again.
  const std::string longer = "run -m " + kTiny + " --chat --temp 0 -n 200 --min-tokens 200 --json ";
  const Json read_again = Lines(Gdn(longer + "<" + lines).out)[1];
  const Json reused = Lines(Gdn(longer + "--reuse-decoded <" + lines).out)[1];
  EXPECT_LT(read_again["cached_tokens"], known);
  EXPECT_GT(reused["cached_tokens"], known);
}

TEST_F(Cli, TheReplyMayBeBegun) {
  const Outcome begun = Gdn(kChat + "-p 'Who was he?' --assistant 'Behold' --json");
  ASSERT_EQ(begun.exit_code, 0) << begun.err;
  const Json conversation = {{"messages",
                              {{{"role", "user"}, {"content", "Who was he?"}},
                               {{"role", "assistant"}, {"content", "Behold"}}}},
                             {"continue_final_message", true}};
  const std::string file = WriteFile(dir_ / "messages.json", conversation.dump());
  const Outcome same = Gdn(kChat + "--json --messages " + file);
  EXPECT_EQ(Json::parse(begun.out)["tokens"], Json::parse(same.out)["tokens"]);
}

TEST_F(Cli, ReasoningIsKeptFromTheText) {
  const std::string model = CopyOfTiny();
  WriteFile(std::filesystem::path(model) / "chat_template.jinja",
            "{{ messages[0].content }}{% if think is defined %}</think>{% else %}<think>\n"
            "{% endif %}");
  const std::string chat = "run -m " + model + " --chat --temp 0 -n 20 -p 'And he said' ";
  const Json inside = Json::parse(Gdn(chat + "--json").out);
  EXPECT_EQ(inside["text"], "");
  EXPECT_NE(inside["reasoning"], "");
  const Outcome hidden = Gdn(chat + "--reasoning hide");
  EXPECT_EQ(hidden.out, "\n");
  const Outcome shown = Gdn(chat + "--reasoning show");
  EXPECT_EQ(shown.out, "\n");
  EXPECT_NE(shown.err.find(inside["reasoning"].get<std::string>()), std::string::npos);
  const Json none = Json::parse(Gdn(chat + "--json --chat-template-kwargs '{\"think\": 1}'").out);
  EXPECT_FALSE(none.contains("reasoning"));
  EXPECT_NE(none["text"], "");
}

TEST_F(Cli, CompletionsOfOnePrompt) {
  const std::string run = "run -m " + kTiny + " -p 'And he' -n 12 --temp 1 ";
  const Outcome three = Gdn(run + "--seed 5 --completions 3 --json");
  ASSERT_EQ(three.exit_code, 0) << three.err;
  const Json completions = Json::parse(three.out)["completions"];
  ASSERT_EQ(completions.size(), 3U);
  for (int i = 0; i < 3; ++i) {
    const Outcome alone = Gdn(run + "--json --seed " + std::to_string(5 + i));
    EXPECT_EQ(completions[i]["tokens"], Json::parse(alone.out)["tokens"]) << i;
  }
  const Outcome text = Gdn(run + "--seed 5 --completions 3");
  EXPECT_TRUE(text.out.starts_with("[1]\n" + completions[0]["text"].get<std::string>() + "\n[2]"))
      << text.out;
}

TEST_F(Cli, RefusesBadConversations) {
  ExpectBadInput("run -m " + kTiny + " --system x -p a", {"--system", "--chat"});
  ExpectBadInput(kChat + "--assistant x </dev/null", {"--assistant", "--prompt"});
  ExpectBadInput(kChat + "--completions 2 </dev/null", {"--completions"});
  ExpectBadInput(kChat + "-p a --chat-template-kwargs 3", {"--chat-template-kwargs", "object"});
  ExpectBadInput(kChat + "-p a --chat-template-kwargs '{'", {"--chat-template-kwargs"});
  ExpectBadInput(kChat + "--messages " + WriteFile(dir_ / "a.json", "[{}]"), {"a.json", "role"});
  ExpectBadInput(kChat + "--messages " + (dir_ / "none.json").string(), {"none.json"});
  ExpectBadInput(
      kChat + "--messages " + WriteFile(dir_ / "b.json", R"([{"role": "tool", "content": "x"}])"),
      {"the roles are"});
  ExpectBadInput(kChat + "-p \"$(printf '\\377')\"", {"UTF-8"});
  ExpectBadInput("run -m " + kTiny + " --chat --ids " + kTiny + "/config.json", {"--ids"});
  const std::string model = CopyOfTiny();
  WriteFile(std::filesystem::path(model) / "chat_template.jinja", "{% if %}");
  ExpectBadInput("run --chat -p a -m " + model, {"chat_template.jinja", "line 1"});
}

TEST_F(Cli, SaysThatAReplyWasCut) {
  const Outcome by_option = Gdn(kChat + "-p 'Who was he?'");
  EXPECT_NE(by_option.err.find("cut after 20 tokens: --predict"), std::string::npos)
      << by_option.err;
  const Outcome by_context = Gdn("run -m " + kTiny + " --chat -p a -c 64 --min-tokens 90 --temp 0");
  EXPECT_NE(by_context.err.find("the context of 64 tokens"), std::string::npos) << by_context.err;
}

TEST_F(Cli, MemoryIsPlannedWithinALimit) {
  const Json free = Json::parse(Gdn(kChat + "-p 'Who was he?' --json").out);
  const Json tight = Json::parse(Gdn(kChat + "-p 'Who was he?' --json --memory 20MiB").out);
  EXPECT_EQ(free["tokens"], tight["tokens"]);
  ExpectBadInput(kChat + "-p a --memory 2MiB", {"needs", "weights 3.79 MiB", "2.00 MiB"});
  ExpectBadInput(kChat + "-p a --memory lots", {"lots", "8GiB"});
  ExpectBadInput(kChat + "-p a --memory 200%", {"200%", "100%"});
}

TEST_F(Cli, EndsWithAnEmptyConversation) {
  const Outcome outcome = Gdn(kChat + "</dev/null");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "");
}

}  // namespace
}  // namespace gdn
