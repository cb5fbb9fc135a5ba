// SPDX-License-Identifier: Apache-2.0
// gdn serve: a model for clients of OpenAI's interface, until a signal ends it.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/common_options.h"
#include "cli/interrupt.h"
#include "cli/report.h"
#include "cli/run_output.h"
#include "cli/serve_options.h"

namespace gdn {
namespace {

using Clock = std::chrono::steady_clock;

// How often the main thread looks whether something is to be done.
constexpr std::chrono::milliseconds kPoll(50);

// Of this thread and those that it starts: signals then wait for NextSignal.
void BlockSignals(sigset_t& signals) {
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

// Whether one came within kPoll.
bool NextSignal(const sigset_t& signals) {
  const timespec wait{.tv_sec = 0, .tv_nsec = std::chrono::nanoseconds(kPoll).count()};
  return sigtimedwait(&signals, nullptr, &wait) > 0;
}

// A connection is a descriptor, and many systems let a program have 1024 unless it asks.
void AllowConnections(int64_t connections) {
  constexpr rlim_t kOthers = 256;  // files, threads' own, those that are refused
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = std::min(limit.rlim_max, static_cast<rlim_t>(connections) + kOthers);
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  setrlimit(RLIMIT_NOFILE, &limit);
}

void PrintAddress(const ServeOptions& options, int port) {
  const std::string& host = options.server.http.host;
  const bool is_v6 = host.find(':') != std::string::npos;
  const std::string url = StrCat("http://", is_v6 ? "[" : "", host, is_v6 ? "]" : "", ":", port);
  std::fprintf(stderr, "listening on %s\n", url.c_str());
  if (!options.json) return;
  const nlohmann::ordered_json line = {{"host", host}, {"port", port}, {"url", url}};
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

Result<std::unique_ptr<Session>> LoadSession(const ServeOptions& options, Server& server) {
  const auto progress = [&server](size_t done, size_t total) {
    if (total > 0) server.SetLoaded(static_cast<double>(done) / static_cast<double>(total));
  };
  GDN_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, Session::Load(options.session, progress));
  GDN_RETURN_IF_ERROR(WarmUp(*session));
  return session;
}

// Says once in a while what the server does, where it does something.
class ActivityLog {
 public:
  ActivityLog(const Server& server, const RunLimits& limits, double interval_seconds)
      : server_(server), limits_(limits), interval_(interval_seconds) {}

  void Look() {
    const Clock::time_point now = Clock::now();
    const std::chrono::duration<double> passed = now - last_;
    if (passed < interval_) return;
    const EngineStats stats = server_.stats();
    const bool is_busy = stats.num_running + stats.num_waiting > 0;
    if (is_busy || stats.num_new_tokens > before_.num_new_tokens) {
      Log(LogLevel::kInfo, ActivityLine(before_, stats, passed.count(), limits_));
    }
    before_ = stats;
    last_ = now;
  }

 private:
  const Server& server_;
  RunLimits limits_;
  std::chrono::duration<double> interval_;
  Clock::time_point last_ = Clock::now();
  EngineStats before_;
};

// Until every answer has been written, a second signal, or the time is over. True for the first.
bool Drain(const ServeOptions& options, Server& server, const sigset_t& signals) {
  server.Drain();
  const Clock::time_point start = Clock::now();
  const std::chrono::duration<double> limit(options.drain_timeout);
  while (!server.IsIdle()) {
    if (NextSignal(signals) || Clock::now() - start > limit) return false;
  }
  return true;
}

Status Serve(ServeOptions& options) {
  SetLogLevelOf(options.log_level);
  GDN_RETURN_IF_ERROR(CompleteServeOptions(options));
  sigset_t signals;
  BlockSignals(signals);
  InstallMappedFileHandler();
  AllowConnections(options.server.http.max_connections);
  GDN_ASSIGN_OR_RETURN(const std::unique_ptr<Server> server, Server::Start(options.server));
  PrintAddress(options, server->port());

  auto loading = std::async(std::launch::async, LoadSession, std::cref(options), std::ref(*server));
  while (loading.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    // Nobody waits for an answer yet, and nothing stops a load: the process may go as it stands.
    if (NextSignal(signals)) std::_Exit(kExitOk);
  }
  GDN_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, loading.get());
  if (LogEnabled(LogLevel::kInfo)) PrintKernels(*session);
  Log(LogLevel::kInfo, StrCat("loaded ", options.server.service.model_name, " in ",
                              static_cast<int64_t>(session->load_ms()), " ms"));
  ActivityLog activity(*server, session->limits(), options.log_interval);
  server->SetSession(std::move(session));

  while (!NextSignal(signals)) activity.Look();
  Log(LogLevel::kInfo, "stopping: running requests may end, a second signal cuts them");
  if (!Drain(options, *server, signals)) {
    Log(LogLevel::kWarning, "stopped with requests that had not ended");
    std::_Exit(kExitInterrupted);  // a step of the engine may take seconds
  }
  return OkStatus();
}

}  // namespace

void AddServeCommand(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("serve", "Answer clients of OpenAI's interface");
  const auto options = std::make_shared<ServeOptions>();
  AddServeOptions(*command, *options);
  command->callback([options, &exit_code] {
    const Status status = Serve(*options);
    if (!status.ok()) exit_code = Report(status);
  });
}

}  // namespace gdn
