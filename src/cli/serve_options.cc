// SPDX-License-Identifier: Apache-2.0
#include "cli/serve_options.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "backend/devices.h"
#include "base/str.h"
#include "base/system_info.h"
#include "cli/common_options.h"
#include "cli/number_option.h"
#include "engine/memory_plan.h"
#include "io/read_file.h"
#include "model/config.h"

namespace gdn {
namespace {

constexpr size_t kMaxKeyFileBytes = size_t{1} << 20;
constexpr double kMaxSeconds = 86'400;
// Of the bodies of all requests that have not been answered, in bodies of the largest size.
constexpr size_t kBodiesAtOnce = 32;

void AddSeconds(CLI::App& command, const char* name, double& value, const std::string& help) {
  AddNumberOption(command, name, value, help + ", in seconds")
      ->check(CLI::Range(0.01, kMaxSeconds))
      ->check([](const std::string& text) {
        // A range lets it through: no comparison with it is true.
        return std::isnan(std::strtod(text.c_str(), nullptr)) ? "want a number of seconds"
                                                              : std::string();
      })
      ->capture_default_str();
}

template <class T>
void AddCount(CLI::App& command, const char* name, T& value, T min, T max, const char* help) {
  AddNumberOption(command, name, value, help)->check(CLI::Range(min, max))->capture_default_str();
}

void AddModelOptions(CLI::App& command, ServeOptions& options) {
  SessionOptions& session = options.session;
  AddModelOption(command, session.model_dir);
  command.add_option("--served-model-name", options.server.service.model_name,
                     "What clients call the model (default: the folder's name)");
  AddDeviceOption(command, options.device);
  AddPrefillOption(command, options.prefill);
  AddGemmOption(command, options.gemm);
  AddThreadsOption(command, session.num_threads);
  AddContextOption(command, session.engine.context_tokens);
  AddMemoryOption(command, session.memory);
  AddCount(command, "--max-seqs", session.engine.max_seqs, int64_t{1}, kMaxSeqs,
           "Completions that run at once");
  command.add_flag_callback(
      "--no-prefix-cache", [&session] { session.engine.num_snapshots = 0; },
      "Compute every prompt from its beginning: no client can tell what others sent");
  command.add_flag("--reuse-decoded", session.engine.reuse_decoded,
                   "Start a conversation's next turn from what was decoded: less work, but last "
                   "bits that depend on it");
}

void AddAccessOptions(CLI::App& command, ServeOptions& options) {
  HttpOptions& http = options.server.http;
  AccessRules& access = options.server.service.access;
  command.add_option("--host", http.host, "Address to listen on")->capture_default_str();
  AddCount(command, "--port", http.port, 0, 65535, "Port; 0: any free one");
  command
      .add_option("--api-key", options.api_keys,
                  "Key that clients have to send; may be given several times")
      ->allow_extra_args(false);
  command.add_option("--api-key-file", options.api_key_file,
                     "File of such keys, one a line: other users cannot see it in a list of "
                     "processes");
  command.add_flag("--no-api-key", options.needs_no_key,
                   "Let everybody in who reaches an address that is not the loopback");
  command
      .add_option("--allow-host", access.hosts,
                  "Name that clients may call the server on the loopback, besides localhost: "
                  "that of a proxy; may be given several times")
      ->allow_extra_args(false);
  command
      .add_option("--cors-origin", access.cors_origins,
                  "Origin whose pages may use the server (https://example.org; \"*\": all); "
                  "may be given several times")
      ->allow_extra_args(false);
}

void AddLimitOptions(CLI::App& command, ServeOptions& options) {
  HttpOptions& http = options.server.http;
  ServiceOptions& service = options.server.service;
  AddCount(command, "--max-waiting", service.max_waiting, int64_t{0}, int64_t{100'000},
           "Completions that wait for their turn; what comes then is refused with 429, "
           "but for a request alone");
  AddCount(command, "--max-n", service.max_completions, int64_t{1}, kMaxCompletions,
           "Completions of one request: its prompts times n");
  AddCount(command, "--max-body", options.max_body_mib, int64_t{1}, int64_t{1024},
           "Largest body of a request, in MiB");
  AddCount(command, "--max-header", options.max_header_kib, int64_t{1}, int64_t{64},
           "Largest headers of a request, in KiB");
  AddCount(command, "--max-connections", http.max_connections, int64_t{1}, int64_t{1'000'000},
           "Connections at once");
  AddSeconds(command, "--request-timeout", options.request_timeout,
             "Longest time for a request to come");
  AddSeconds(command, "--write-timeout", options.write_timeout,
             "Longest time for a client to read nothing of its answer");
  AddSeconds(command, "--idle-timeout", options.idle_timeout,
             "Longest time that a connection is kept without a request");
  AddSeconds(command, "--drain-timeout", options.drain_timeout,
             "After SIGTERM or Ctrl-C, longest time for running requests to end");
}

std::chrono::milliseconds Milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

Status ReadKeys(ServeOptions& options) {
  std::vector<std::string> keys;
  for (const std::string& key : options.api_keys) {
    GDN_ASSIGN_OR_RETURN(std::vector<std::string> parsed, ParseApiKeys(key, "--api-key"));
    keys.insert(keys.end(), parsed.begin(), parsed.end());
  }
  if (!options.api_key_file.empty()) {
    GDN_ASSIGN_OR_RETURN(const std::string text, ReadFile(options.api_key_file, kMaxKeyFileBytes));
    GDN_ASSIGN_OR_RETURN(std::vector<std::string> parsed, ParseApiKeys(text, options.api_key_file));
    keys.insert(keys.end(), parsed.begin(), parsed.end());
  }
  options.server.service.access.keys = ApiKeys(std::move(keys));
  return OkStatus();
}

// The folder's name, however it is written: "models/tiny/" is "tiny".
std::string FolderName(const std::string& dir) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::weakly_canonical(dir, error);
  const std::string name = error ? "" : path.filename().string();
  return name.empty() ? "model" : name;
}

// What no client could ever match.
Status CheckNames(const ServeOptions& options) {
  const AccessRules& access = options.server.service.access;
  for (const std::string& host : access.hosts) {
    if (!host.empty() && host.find_first_of("/: ") == std::string::npos) continue;
    return InvalidArgument(
        StrCat("--allow-host is ", Quoted(host), ", want a host's name alone: example.org"));
  }
  for (const std::string& origin : access.cors_origins) {
    const size_t scheme = origin.find("://");
    // Applications have schemes of their own: app://, chrome-extension://.
    const bool is_origin = scheme != std::string::npos && scheme > 0 &&
                           origin.size() > scheme + 3 && origin.find(' ') == std::string::npos &&
                           origin.find('/', scheme + 3) == std::string::npos;
    if (origin == "*" || is_origin) continue;
    return InvalidArgument(StrCat("--cors-origin is ", Quoted(origin),
                                  ", want \"*\" or scheme and host: https://example.org"));
  }
  if (options.needs_no_key && !access.keys.empty()) {
    return InvalidArgument("--no-api-key stands beside a key, want one of them");
  }
  return OkStatus();
}

}  // namespace

void AddServeOptions(CLI::App& command, ServeOptions& options) {
  options.session.num_threads = NumCores();
  options.session.engine.max_seqs = 16;
  options.session.engine.num_snapshots = kAutoSnapshots;
  AddModelOptions(command, options);
  AddAccessOptions(command, options);
  AddLimitOptions(command, options);
  AddCount(command, "--http-threads", options.server.http.num_threads, 1, 64,
           "Threads that read requests and write answers");
  AddLogLevelOption(command, options.log_level);
  AddSeconds(command, "--log-interval", options.log_interval,
             "How often a line says what is going on, while there is work");
  command.add_flag("--json", options.json, "Print {\"host\", \"port\", \"url\"} on stdout, too");
}

Status CompleteServeOptions(ServeOptions& options) {
  HttpOptions& http = options.server.http;
  ServiceOptions& service = options.server.service;
  // Before anything listens: a wrong folder is no server.
  GDN_RETURN_IF_ERROR(LoadModelConfig(options.session.model_dir).status());
  GDN_RETURN_IF_ERROR(ReadKeys(options));
  GDN_RETURN_IF_ERROR(CheckNames(options));
  GDN_ASSIGN_OR_RETURN(const bool is_loopback, IsLoopback(http.host));
  if (!is_loopback && service.access.keys.empty() && !options.needs_no_key) {
    return InvalidArgument(StrCat("--host is ", Quoted(http.host),
                                  ", which other machines reach: want --api-key-file or --api-key, "
                                  "or --no-api-key to let everybody in"));
  }
  service.access.checks_host = is_loopback;
  service.access.hosts.push_back(http.host);
  if (service.model_name.empty()) service.model_name = FolderName(options.session.model_dir);
  service.max_body_bytes = http.max_body_bytes = static_cast<size_t>(options.max_body_mib) << 20;
  http.max_bodies_bytes = kBodiesAtOnce * http.max_body_bytes;
  http.max_header_bytes = static_cast<size_t>(options.max_header_kib) << 10;
  http.request_timeout = Milliseconds(options.request_timeout);
  http.write_timeout = Milliseconds(options.write_timeout);
  http.idle_timeout = Milliseconds(options.idle_timeout);
  options.session.model.prefill = PrefillModeOf(options.prefill);
  options.session.model.vendor_gemm = options.gemm == "vendor";
  GDN_ASSIGN_OR_RETURN(options.session.model.device, ChooseDevice(options.device));
  return OkStatus();
}

}  // namespace gdn
