// SPDX-License-Identifier: Apache-2.0
// What commands share: errors, options of several commands, prompts, progress.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace CLI {
class App;
}

namespace gdn {

// Prints "gdn: error: ..." on stderr, one line, and returns the exit code for it.
int Report(const Status& status);

// -p TEXT, -f FILE, or stdin when neither is given.
struct PromptOptions {
  std::string text;
  std::string file;
  bool has_text = false;
};
void AddPromptOptions(CLI::App& command, PromptOptions& options);
Result<std::string> ReadPrompt(const CLI::App& command, const PromptOptions& options);

// A file of token ids in decimal, separated by white space.
Result<std::vector<int32_t>> ReadTokenIds(const std::string& path);

// One line on stderr that is rewritten as the work goes on; nothing where stderr is no terminal.
class ProgressLine {
 public:
  explicit ProgressLine(std::string label);
  void Update(size_t done_bytes, size_t total_bytes);
  // The label, then text.
  void Show(const std::string& text);
  // Removes the line.
  void Finish();

 private:
  std::string label_;
  bool enabled_;
  int last_percent_ = -1;
  bool shown_ = false;
};

}  // namespace gdn
