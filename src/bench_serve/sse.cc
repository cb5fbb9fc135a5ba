// SPDX-License-Identifier: Apache-2.0
#include "bench_serve/sse.h"

#include <algorithm>

#include "base/str.h"

namespace gdn {

Status SseParser::Feed(std::string_view bytes, FunctionRef<void(std::string_view)> on_data) {
  for (const char c : bytes) {
    const bool completes_crlf = after_cr_ && c == '\n';
    after_cr_ = c == '\r';
    if (completes_crlf) continue;
    if (c == '\n' || c == '\r') {
      EndLine(on_data);
      continue;
    }
    if (line_.size() + data_.size() >= kMaxEventBytes) {
      return InvalidArgument(
          StrCat("an event is over ", HumanBytes(kMaxEventBytes), ", want less"));
    }
    line_ += c;
  }
  return OkStatus();
}

void SseParser::EndLine(FunctionRef<void(std::string_view)> on_data) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  constexpr std::string_view kField = "data";
  std::string_view line = line_;
  if (first_line_ && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  first_line_ = false;
  if (line.empty()) {
    if (has_data_) on_data(data_);
    data_.clear();
    has_data_ = false;
  } else if (line.starts_with(kField) && (line.size() == kField.size() || line[4] == ':')) {
    line.remove_prefix(std::min(line.size(), kField.size() + 1));
    if (line.starts_with(' ')) line.remove_prefix(1);
    if (has_data_) data_ += '\n';
    data_ += line;
    has_data_ = true;
  }
  line_.clear();
}

}  // namespace gdn
