// SPDX-License-Identifier: Apache-2.0
// gdn serve as a program: who may be let in, and how it ends.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "cli_testing.h"
#include "server/http_client_testing.h"

namespace gdn {
namespace {

class ServeCli : public Cli {
 protected:
  // Starts it in the background, and waits until it has loaded.
  void Start(std::vector<std::string> options) {
    std::vector<std::string> words = {GDN_BINARY, "serve", "-m", kTiny, "--port", "0", "--json"};
    words.insert(words.end(), options.begin(), options.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const std::string out = (dir_ / "out").string();
    const std::string err = (dir_ / "err").string();
    pid_ = fork();
    if (pid_ == 0) {
      if (std::freopen(out.c_str(), "w", stdout) == nullptr) _exit(100);
      if (std::freopen(err.c_str(), "w", stderr) == nullptr) _exit(100);
      execv(GDN_BINARY, arguments.data());
      _exit(100);
    }
    std::string line;
    while (!line.ends_with('\n')) {
      ASSERT_EQ(waitpid(pid_, nullptr, WNOHANG), 0) << Errors();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      line = Slurp(out);
    }
    port_ = Json::parse(line)["port"];
    while (Ask(port_, GetText("/health")).status != 200) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  void TearDown() override {
    if (pid_ > 0) kill(pid_, SIGKILL);
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
    Cli::TearDown();
  }
  // The exit code; -1 where it does not end within some seconds.
  int ExitCode() {
    for (int i = 0; i < 1000; ++i) {
      int status = 0;
      if (waitpid(pid_, &status, WNOHANG) == pid_) {
        pid_ = 0;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return -1;
  }
  std::string Errors() const { return Slurp(dir_ / "err"); }

  static std::string LongRequest() {
    return PostText("/v1/completions",
                    R"({"prompt": "a", "max_tokens": 2000, "ignore_eos": true, "stream": true})");
  }

  pid_t pid_ = 0;
  int port_ = 0;
};

TEST_F(ServeCli, RefusesWhatItCannotServe) {
  const std::string serve = "serve -m " + kTiny + " ";
  ExpectBadInput(serve + "--host 0.0.0.0", {"--host", "0.0.0.0", "--api-key-file", "--no-api-key"});
  ExpectBadInput(serve + "--host example.org", {"host is \"example.org\""});
  ExpectBadInput(serve + "--port 70000", {"--port"});
  ExpectBadInput(serve + "--api-key-file /no/such/file", {"/no/such/file"});
  ExpectBadInput(serve + "--api-key ''", {"--api-key"});
  ExpectBadInput(serve + "--max-n 0", {"--max-n"});
  ExpectBadInput(serve + "--api-key x --no-api-key", {"--no-api-key"});
  ExpectBadInput(serve + "--cors-origin example.org", {"--cors-origin", "https://example.org"});
  ExpectBadInput(serve + "--cors-origin https://example.org/", {"--cors-origin"});
  ExpectBadInput(serve + "--allow-host http://x", {"--allow-host", "http://x"});
  ExpectBadInput(serve + "--idle-timeout nan", {"--idle-timeout"});
  ExpectBadInput("serve -m /no/such/folder", {"/no/such/folder"});
}

TEST_F(ServeCli, LetsRunningRequestsEnd) {
  Start({"--api-key", "secret"});
  EXPECT_EQ(Ask(port_, LongRequest()).status, 401);
  const std::string request =
      PostText("/v1/completions", R"({"prompt": "a", "max_tokens": 300, "ignore_eos": true})",
               "Authorization: Bearer secret\r\n");
  TestClient client(port_);
  client.Send(request);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  kill(pid_, SIGTERM);
  const TestResponse response = client.Read();
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.json()["usage"]["completion_tokens"], 300);
  EXPECT_EQ(ExitCode(), 0);
  EXPECT_NE(Errors().find("listening on http://127.0.0.1:"), std::string::npos);
  EXPECT_NE(Errors().find("gated_delta_rule_chunk "), std::string::npos);
}

TEST_F(ServeCli, ASecondSignalStopsAtOnce) {
  Start({});
  TestClient client(port_);
  client.Send(LongRequest());
  EXPECT_NE(client.ReadSome(), "");
  kill(pid_, SIGTERM);
  while (Errors().find("stopping") == std::string::npos) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  kill(pid_, SIGTERM);
  EXPECT_EQ(ExitCode(), 130);
  EXPECT_NE(Errors().find("stopped with requests that had not ended"), std::string::npos);
}

TEST_F(ServeCli, DrainingEndsWithItsTime) {
  Start({"--drain-timeout", "0.1"});
  TestClient client(port_);
  client.Send(LongRequest());
  EXPECT_NE(client.ReadSome(), "");
  kill(pid_, SIGINT);
  EXPECT_EQ(ExitCode(), 130);
  EXPECT_NE(Errors().find("stopped with requests that had not ended"), std::string::npos);
}

TEST_F(ServeCli, SaysWhatItDoes) {
  Start({"--log-interval", "0.1", "--served-model-name", "a/b"});
  EXPECT_EQ(Ask(port_, GetText("/v1/models/a%2Fb")).status, 200);
  TestClient client(port_);
  client.Send(LongRequest());
  EXPECT_EQ(client.Read().status, 200);
  EXPECT_NE(Errors().find("generation "), std::string::npos);
  kill(pid_, SIGTERM);
  EXPECT_EQ(ExitCode(), 0);
}

}  // namespace
}  // namespace gdn
