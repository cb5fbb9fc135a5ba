// SPDX-License-Identifier: Apache-2.0
// Any bytes as a stream of a server, cut into pieces: the first byte says how, and of which kind.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "bench_serve/answer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const size_t piece = 1 + data[0] / 2;
  int ends = 0;
  gdn::AnswerReader reader(data[0] % 2 == 1, [&ends](gdn::AnswerReader&) { ++ends; });
  reader.OnHead(200);
  for (size_t at = 0; at < bytes.size(); at += piece) reader.OnBody(bytes.substr(at, piece));
  reader.OnEnd(gdn::OkStatus());
  const gdn::Answer& answer = reader.answer();
  GDN_CHECK(ends == 1);
  GDN_CHECK(answer.output_tokens >= 0 && answer.prompt_tokens >= 0 && answer.cached_tokens >= 0);
  GDN_CHECK(answer.error.find('\n') == std::string::npos);
  // Whole or in pieces, it is the same stream.
  gdn::AnswerReader whole(data[0] % 2 == 1, [](gdn::AnswerReader&) {});
  whole.OnHead(200);
  whole.OnBody(bytes);
  whole.OnEnd(gdn::OkStatus());
  GDN_CHECK(whole.answer().token_times.size() == answer.token_times.size());
  GDN_CHECK(whole.answer().error == answer.error);
  return 0;
}
