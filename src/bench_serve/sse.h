// SPDX-License-Identifier: Apache-2.0
// Server-sent events (WHATWG HTML, "Server-sent events"), as far as data goes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/function_ref.h"
#include "base/status.h"

namespace gdn {

class SseParser {
 public:
  static constexpr size_t kMaxEventBytes = size_t{16} << 20;

  // The data of each event that these bytes complete; its lines are joined by '\n'. Lines end with
  // LF, CR LF or CR, wherever the pieces are cut. Errors: kInvalidArgument, an event too long.
  Status Feed(std::string_view bytes, FunctionRef<void(std::string_view)> on_data);

 private:
  void EndLine(FunctionRef<void(std::string_view)> on_data);

  std::string line_;
  std::string data_;
  bool has_data_ = false;
  bool after_cr_ = false;
  bool first_line_ = true;
};

}  // namespace gdn
