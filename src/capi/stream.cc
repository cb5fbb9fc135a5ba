// SPDX-License-Identifier: Apache-2.0
// Streams of the C interface.
#include <chrono>

#include "capi/boundary.h"
#include "capi/handles.h"

namespace gdn::capi {
namespace {

gdn_finish FinishOf(FinishReason reason) {
  switch (reason) {
    case FinishReason::kNone:
      return GDN_FINISH_NONE;
    case FinishReason::kStop:
      return GDN_FINISH_STOP;
    case FinishReason::kLength:
      return GDN_FINISH_LENGTH;
    case FinishReason::kCancelled:
      return GDN_FINISH_CANCELLED;
    case FinishReason::kError:
      break;
  }
  return GDN_FINISH_ERROR;
}

// The view of the stream's chunk.
void Show(gdn_stream& stream) {
  const Chunk& chunk = *stream.chunk;
  stream.top_logits.clear();
  for (const TokenLogit& top : chunk.top_logits) {
    stream.top_logits.push_back({.token = top.token, .logit = top.logit});
  }
  const std::chrono::duration<double, std::milli> elapsed = chunk.time - stream.stream->submitted();
  stream.view = {.struct_size = sizeof(gdn_chunk),
                 .completion = static_cast<int32_t>(chunk.completion),
                 .token = chunk.token,
                 .finish = FinishOf(chunk.finish),
                 .error_status = CodeOf(chunk.error.code()),
                 .error = chunk.error.message().c_str(),
                 .text = chunk.text.c_str(),
                 .text_bytes = chunk.text.size(),
                 .reasoning = chunk.reasoning.c_str(),
                 .reasoning_bytes = chunk.reasoning.size(),
                 .log_prob = chunk.log_prob.value_or(0),
                 .top_logits = stream.top_logits.data(),
                 .num_top_logits = stream.top_logits.size(),
                 .num_cached_tokens = chunk.num_cached_tokens,
                 .elapsed_ms = elapsed.count()};
}

// outcome: what the function returns where there is no error.
Status Next(gdn_stream* stream, int32_t timeout_ms, const gdn_chunk** out, gdn_status& outcome) {
  GDN_RETURN_IF_ERROR(NotNull("gdn_next", "out", out));
  *out = nullptr;
  GDN_RETURN_IF_ERROR(NotNull("gdn_next", "stream", stream));
  Stream& from = *stream->stream;
  stream->chunk =
      timeout_ms < 0 ? from.Next() : from.NextFor(std::chrono::milliseconds(timeout_ms));
  if (!stream->chunk.has_value()) {
    outcome = from.ended() ? GDN_END : GDN_TIMEOUT;
    return OkStatus();
  }
  Show(*stream);
  *out = &stream->view;
  return OkStatus();
}

Status Cancel(gdn_stream* stream) {
  GDN_RETURN_IF_ERROR(NotNull("gdn_cancel", "stream", stream));
  stream->stream->Cancel();
  return OkStatus();
}

Status PromptTokens(const gdn_stream* stream, const int32_t** tokens, size_t* num_tokens) {
  GDN_RETURN_IF_ERROR(NotNull("gdn_stream_prompt_tokens", "stream", stream));
  GDN_RETURN_IF_ERROR(NotNull("gdn_stream_prompt_tokens", "tokens", tokens));
  GDN_RETURN_IF_ERROR(NotNull("gdn_stream_prompt_tokens", "num_tokens", num_tokens));
  *tokens = stream->stream->prompt_tokens().data();
  *num_tokens = stream->stream->prompt_tokens().size();
  return OkStatus();
}

}  // namespace
}  // namespace gdn::capi

gdn_status gdn_next(gdn_stream* stream, int32_t timeout_ms, const gdn_chunk** out) {
  gdn_status outcome = GDN_OK;
  const gdn_status error =
      gdn::capi::Guard([&] { return gdn::capi::Next(stream, timeout_ms, out, outcome); });
  return error == GDN_OK ? outcome : error;
}

gdn_status gdn_cancel(gdn_stream* stream) {
  return gdn::capi::Guard([&] { return gdn::capi::Cancel(stream); });
}

void gdn_stream_free(gdn_stream* stream) { delete stream; }

gdn_status gdn_stream_prompt_tokens(const gdn_stream* stream, const int32_t** tokens,
                                    size_t* num_tokens) {
  return gdn::capi::Guard([&] { return gdn::capi::PromptTokens(stream, tokens, num_tokens); });
}
