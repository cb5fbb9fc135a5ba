// SPDX-License-Identifier: Apache-2.0
#include "cli/report.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/str.h"
#include "cli/commands.h"

namespace gdn {
namespace {

// A prompt is text for a context of at most some 100,000s of tokens; what is longer is a mistake.
constexpr size_t kMaxPromptBytes = size_t{16} << 20;

Result<std::string> ReadStream(std::FILE* stream, const std::string& name) {
  std::string out;
  std::array<char, 4096> buffer;
  while (const size_t count = std::fread(buffer.data(), 1, buffer.size(), stream)) {
    out.append(buffer.data(), count);
    if (out.size() > kMaxPromptBytes) {
      return InvalidArgument(
          StrCat(name, ": prompt is over ", HumanBytes(kMaxPromptBytes), ", want less"));
    }
  }
  if (std::ferror(stream) != 0) {
    return InvalidArgument(StrCat(name, ": cannot be read: ", std::strerror(errno)));
  }
  return out;
}

Result<std::string> ReadPromptFile(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (file == nullptr) {
    return NotFound(StrCat(path, ": cannot be read: ", std::strerror(errno)));
  }
  return ReadStream(file.get(), path);
}

}  // namespace

int Report(const Status& status) {
  // Messages quote files and clients; a line is a line whatever they hold.
  constexpr size_t kMaxBytes = 4096;
  std::string line = status.message().substr(0, kMaxBytes);
  if (line.size() < status.message().size()) line += "...";
  std::ranges::replace_if(
      line, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
  std::fprintf(stderr, "gdn: error: %s\n", line.c_str());
  return status.code() == StatusCode::kInternal ? kExitFailure : kExitBadInput;
}

void AddPromptOptions(CLI::App& command, PromptOptions& options) {
  CLI::Option* text = command.add_option("-p,--prompt", options.text, "The prompt");
  command
      .add_option("-f,--file", options.file,
                  "File with the prompt (default: stdin), taken as it is, last newline included")
      ->excludes(text);
}

Result<std::string> ReadPrompt(const CLI::App& command, const PromptOptions& options) {
  if (command.count("--prompt") > 0) return options.text;
  if (command.count("--file") == 0) return ReadStream(stdin, "stdin");
  return ReadPromptFile(options.file);
}

Result<std::vector<int32_t>> ReadTokenIds(const std::string& path) {
  GDN_ASSIGN_OR_RETURN(const std::string text, ReadPromptFile(path));
  std::vector<int32_t> ids;
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  for (size_t at = 0; at < text.size();) {
    if (is_space(text[at])) {
      ++at;
      continue;
    }
    const auto end = static_cast<size_t>(
        std::find_if(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), is_space) -
        text.begin());
    int32_t id = -1;
    const auto [stop, error] = std::from_chars(text.data() + at, text.data() + end, id);
    if (error != std::errc() || stop != text.data() + end || id < 0) {
      return InvalidArgument(StrCat(path, ": token ", ids.size(), " is ",
                                    Quoted(std::string_view(text).substr(at, end - at)),
                                    ", want an id in decimal"));
    }
    ids.push_back(id);
    at = end;
  }
  return ids;
}

ProgressLine::ProgressLine(std::string label)
    : label_(std::move(label)), enabled_(isatty(STDERR_FILENO) != 0) {}

void ProgressLine::Update(size_t done_bytes, size_t total_bytes) {
  if (!enabled_ || total_bytes == 0) return;
  const int percent = static_cast<int>(done_bytes * 100 / total_bytes);
  if (percent == last_percent_) return;
  last_percent_ = percent;
  shown_ = true;
  std::fprintf(stderr, "\r%s %3d%% of %s", label_.c_str(), percent,
               HumanBytes(total_bytes).c_str());
}

void ProgressLine::Show(const std::string& text) {
  if (!enabled_) return;
  shown_ = true;
  std::fprintf(stderr, "\r\x1b[K%s%s", label_.c_str(), text.c_str());
}

void ProgressLine::Finish() {
  if (!shown_) return;
  std::fprintf(stderr, "\r\x1b[K");
}

}  // namespace gdn
