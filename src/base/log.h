// SPDX-License-Identifier: Apache-2.0
// Log lines on stderr. Results never go through here.
#pragma once

#include <optional>
#include <string_view>

namespace gdn {

enum class LogLevel { kError, kWarning, kInfo, kDebug };

// "error", "warning", "info", "debug"; nothing for another word.
std::optional<LogLevel> ParseLogLevel(std::string_view name);

// Lines above this level are dropped. Starts at kWarning.
void SetLogLevel(LogLevel level);
bool LogEnabled(LogLevel level);

// One line; safe from several threads.
void Log(LogLevel level, std::string_view message);

}  // namespace gdn
