// SPDX-License-Identifier: Apache-2.0
// Sessions of the C interface.
#include "backend/devices.h"
#include "base/system_info.h"
#include "base/version.h"
#include "capi/boundary.h"
#include "capi/handles.h"
#include "engine/memory_plan.h"

namespace gdn::capi {

template <>
struct FirstVersion<gdn_load_params> {
  static constexpr size_t kBytes = offsetof(gdn_load_params, progress_user) + sizeof(void*);
};

template <>
struct FirstVersion<gdn_stats> {
  static constexpr size_t kBytes = offsetof(gdn_stats, num_new_tokens) + sizeof(int64_t);
};

// Padding at the end would hide the next version's field from the size.
static_assert(FirstVersion<gdn_load_params>::kBytes == sizeof(gdn_load_params));
static_assert(FirstVersion<gdn_stats>::kBytes == sizeof(gdn_stats));

namespace {

constexpr int32_t kMaxThreads = 1024;
constexpr int32_t kMaxSequences = 1024;
constexpr int64_t kMaxSnapshots = 4096;
constexpr int64_t kMaxTokens = int64_t{1} << 40;

gdn_load_params DefaultLoadParams() {
  gdn_load_params out = {};
  out.struct_size = sizeof(out);
  out.max_sequences = 8;
  out.prefix_snapshots = kAutoSnapshots;
  return out;
}

Result<PrefillMode> PrefillModeOf(const char* word) {
  const std::string_view name = word == nullptr ? "auto" : word;
  if (name == "auto") return PrefillMode::kAuto;
  if (name == "chunk") return PrefillMode::kChunk;
  if (name == "recurrent") return PrefillMode::kRecurrent;
  return InvalidArgument(StrCat("prefill is ", Quoted(name), ", want auto, chunk or recurrent"));
}

Result<SessionOptions> OptionsOf(const char* dir, const gdn_load_params& params) {
  GDN_RETURN_IF_ERROR(InRange("threads", params.threads, 0, kMaxThreads));
  GDN_RETURN_IF_ERROR(InRange("max_sequences", params.max_sequences, 1, kMaxSequences));
  GDN_RETURN_IF_ERROR(InRange("context_tokens", params.context_tokens, 0, kMaxTokens));
  GDN_RETURN_IF_ERROR(InRange("kv_tokens", params.kv_tokens, 0, kMaxTokens));
  GDN_RETURN_IF_ERROR(
      InRange("prefix_snapshots", params.prefix_snapshots, kAutoSnapshots, kMaxSnapshots));
  SessionOptions out;
  out.model_dir = dir;
  out.num_threads = params.threads == 0 ? std::min(NumCores(), kMaxThreads) : params.threads;
  GDN_ASSIGN_OR_RETURN(out.model.device,
                       ChooseDevice(params.device == nullptr ? "auto" : params.device));
  GDN_ASSIGN_OR_RETURN(out.model.prefill, PrefillModeOf(params.prefill));
  out.engine.context_tokens = params.context_tokens;
  out.engine.max_seqs = params.max_sequences;
  out.engine.num_snapshots = params.prefix_snapshots;
  out.engine.kv_tokens = params.kv_tokens;
  if (params.memory != nullptr) out.memory = params.memory;
  return out;
}

Status Load(const char* dir, const gdn_load_params* given, gdn_session** out) {
  GDN_RETURN_IF_ERROR(NotNull("gdn_load", "out", out));
  *out = nullptr;
  GDN_RETURN_IF_ERROR(NotNull("gdn_load", "dir", dir));
  gdn_load_params params = DefaultLoadParams();
  if (given != nullptr) {
    GDN_RETURN_IF_ERROR(CheckStructSize<gdn_load_params>("gdn_load", given->struct_size));
    ReadStruct(*given, params);
  }
  GDN_ASSIGN_OR_RETURN(const SessionOptions options, OptionsOf(dir, params));
  auto handle = std::make_unique<gdn_session>();
  GDN_ASSIGN_OR_RETURN(handle->session, Session::Load(options, [&](size_t done, size_t total) {
                         if (params.progress == nullptr) return;
                         params.progress(params.progress_user, done, total);
                       }));
  *out = handle.release();
  return OkStatus();
}

Status GetStats(const gdn_session* session, gdn_stats* stats) {
  GDN_RETURN_IF_ERROR(NotNull("gdn_get_stats", "session", session));
  GDN_RETURN_IF_ERROR(NotNull("gdn_get_stats", "stats", stats));
  const size_t struct_size = stats->struct_size;
  GDN_RETURN_IF_ERROR(CheckStructSize<gdn_stats>("gdn_get_stats", struct_size));
  const Session& from = *session->session;
  const EngineStats engine = from.stats();
  WriteStruct({.load_ms = from.load_ms(),
               .context_tokens = from.limits().max_positions,
               .num_running = engine.num_running,
               .num_waiting = engine.num_waiting,
               .num_free_sequences = engine.num_free_slots,
               .num_free_blocks = engine.num_free_blocks,
               .num_snapshots = engine.num_snapshots,
               .num_preemptions = engine.num_preemptions,
               .num_prompt_tokens = engine.num_prompt_tokens,
               .num_cached_tokens = engine.num_cached_tokens,
               .num_new_tokens = engine.num_new_tokens},
              struct_size, stats);
  return OkStatus();
}

Status InitLoadParams(gdn_load_params* params, size_t struct_size) {
  GDN_RETURN_IF_ERROR(NotNull("gdn_load_params_init", "params", params));
  GDN_RETURN_IF_ERROR(CheckStructSize<gdn_load_params>("gdn_load_params_init", struct_size));
  WriteStruct(DefaultLoadParams(), struct_size, params);
  return OkStatus();
}

}  // namespace
}  // namespace gdn::capi

uint32_t gdn_api_version() { return GDN_API_VERSION; }

const char* gdn_version() { return gdn::VersionString(); }

gdn_status gdn_load_params_init(gdn_load_params* params, size_t struct_size) {
  return gdn::capi::Guard([&] { return gdn::capi::InitLoadParams(params, struct_size); });
}

gdn_status gdn_load(const char* dir, const gdn_load_params* params, gdn_session** out) {
  return gdn::capi::Guard([&] { return gdn::capi::Load(dir, params, out); });
}

void gdn_free(gdn_session* session) { delete session; }

gdn_status gdn_get_stats(const gdn_session* session, gdn_stats* stats) {
  return gdn::capi::Guard([&] { return gdn::capi::GetStats(session, stats); });
}
