// SPDX-License-Identifier: Apache-2.0
#include "server/server.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>

#include "ops/gated_delta_rule/gated_delta_rule.h"

namespace gdn {

Result<std::unique_ptr<Server>> Server::Start(const ServerOptions& options) {
  std::unique_ptr<Server> server(new Server(options.service));
  GDN_ASSIGN_OR_RETURN(server->http_, HttpServer::Start(options.http, server->service_));
  server->service_.SetHttpServer(*server->http_);
  return server;
}

// First no handler and no connection works any more. Then the session, whose streams call their
// readers a last time; those leave with the connections.
Server::~Server() {
  if (http_ != nullptr) http_->Stop();
  session_.reset();
  http_.reset();
}

void Server::SetSession(std::unique_ptr<Session> session) {
  session_ = std::move(session);
  service_.SetSession(*session_);
}

void Server::Drain() {
  service_.Drain();
  http_->Drain();
}

bool Server::IsIdle() const {
  return service_.num_unfinished() == 0 && http_->num_unanswered() == 0;
}

Status WarmUp(Session& session) {
  // Both forms of the rule: more than a chunk of prompt, then a step of decode.
  const int64_t room = session.limits().max_positions - 2;
  const int64_t tokens = std::min<int64_t>(kChunkSize + 1, room);
  if (tokens < 1) return OkStatus();
  GDN_ASSIGN_OR_RETURN(const std::unique_ptr<Stream> stream,
                       session.SubmitTokens(std::vector<int32_t>(static_cast<size_t>(tokens), 0),
                                            {.max_new_tokens = 2, .stop_at_eos = false}));
  GDN_RETURN_IF_ERROR(Collect(
                          *stream, [](const Chunk&) {}, [] { return true; })
                          .status());
  session.ClearPrefixCache();
  // The last chunk leaves before the step's books are closed.
  const auto is_done = [&session] {
    const EngineStats stats = session.stats();
    return stats.num_running == 0 && stats.num_snapshots == 0;
  };
  while (!is_done()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return OkStatus();
}

std::string ActivityLine(const EngineStats& before, const EngineStats& now, double seconds,
                         const RunLimits& limits) {
  const auto since = [](int64_t end, int64_t start) { return static_cast<double>(end - start); };
  const double prompt_tokens = since(now.num_prompt_tokens, before.num_prompt_tokens);
  const double cached_tokens = since(now.num_cached_tokens, before.num_cached_tokens);
  const double new_tokens = since(now.num_new_tokens, before.num_new_tokens);
  std::array<char, 256> line{};
  const int size = std::snprintf(
      line.data(), line.size(),
      "prompt %.1f tokens/s, generation %.1f tokens/s, running %lld, waiting %lld, KV cache "
      "%.1f%%, "
      "prefix cache hits %.1f%%",
      (prompt_tokens - cached_tokens) / seconds, new_tokens / seconds,
      static_cast<long long>(now.num_running), static_cast<long long>(now.num_waiting),
      100 * CacheUsage(now, limits), prompt_tokens > 0 ? 100 * cached_tokens / prompt_tokens : 0);
  return {line.data(), static_cast<size_t>(size)};
}

}  // namespace gdn
