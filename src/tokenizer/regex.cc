// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/regex.h"

#include <time.h>

#include <array>
#include <chrono>
#include <utility>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/str.h"
#include "tokenizer/regex_translate.h"
#include "tokenizer/utf8.h"

namespace gdn {
namespace {

constexpr size_t kMaxPatternBytes = 65536;
constexpr size_t kMaxJitStackBytes = size_t{8} << 20;
constexpr uint32_t kHeapLimitKib = 65536;
constexpr uint32_t kDepthLimit = 100000;

// PCRE2 stops after so many backtracks, but some patterns walk the whole text between two of them.
// So the first try gets few, and each next one twice as many as long as processor time is
// left: a costly pattern overruns its time by a small factor at most. The limit holds for each
// place where a match may start, hence few of those a call in a long text.
constexpr uint32_t kFirstMatchLimit = 1000;
constexpr uint32_t kLastMatchLimit = UINT32_MAX / 2;
constexpr size_t kLongTextBytes = 65536;
constexpr size_t kStartsPerCall = 16;
constexpr int kCallsPerClock = 8;
constexpr std::chrono::milliseconds kClockInterval{20};
constexpr double kSecondsPerText = 0.25;
constexpr double kSecondsPerByte = 2e-6;

// Processor time of this thread: a busy machine must not turn a good text into an error.
double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Free {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  void operator()(pcre2_compile_context* context) const { pcre2_compile_context_free(context); }
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
  void operator()(pcre2_jit_stack* stack) const { pcre2_jit_stack_free(stack); }
};

std::string ErrorText(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

}  // namespace

struct MatchScratch::Impl {
  std::unique_ptr<pcre2_match_context, Free> context{pcre2_match_context_create(nullptr)};
  std::unique_ptr<pcre2_match_data, Free> data{pcre2_match_data_create(1, nullptr)};
  std::unique_ptr<pcre2_jit_stack, Free> stack;
  double end_seconds = 0;
  int calls_to_clock = kCallsPerClock;
  std::chrono::steady_clock::time_point last_look = std::chrono::steady_clock::now();

  bool OutOfTime() const { return ThreadSeconds() > end_seconds; }

  // To be asked after each call. The processor time takes a system call, the other clock does not.
  bool OutOfTimeAfterCall() {
    if (--calls_to_clock > 0) return false;
    calls_to_clock = kCallsPerClock;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_look < kClockInterval) return false;
    last_look = now;
    return OutOfTime();
  }
};

MatchScratch::MatchScratch(size_t text_bytes) : impl_(std::make_unique<Impl>()) {
  impl_->end_seconds =
      ThreadSeconds() + kSecondsPerText + kSecondsPerByte * static_cast<double>(text_bytes);
  pcre2_set_heap_limit(impl_->context.get(), kHeapLimitKib);
  pcre2_set_depth_limit(impl_->context.get(), kDepthLimit);
}

MatchScratch::~MatchScratch() = default;

struct Regex::Impl {
  std::unique_ptr<pcre2_code, Free> code;

  // The first match that starts in [start, start + starts), as PCRE2's return code.
  int Match(std::string_view text, size_t start, size_t starts, MatchScratch::Impl& scratch) const;
};

int Regex::Impl::Match(std::string_view text, size_t start, size_t starts,
                       MatchScratch::Impl& scratch) const {
  pcre2_set_offset_limit(scratch.context.get(), start + starts - 1);
  for (uint32_t limit = kFirstMatchLimit;;) {
    pcre2_set_match_limit(scratch.context.get(), limit);
    const int result =
        pcre2_match(code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), start,
                    PCRE2_NO_UTF_CHECK, scratch.data.get(), scratch.context.get());
    if (result == PCRE2_ERROR_JIT_STACKLIMIT && scratch.stack == nullptr) {
      // The 32 KiB of the machine stack that PCRE2 takes by itself were too small.
      scratch.stack.reset(pcre2_jit_stack_create(32768, kMaxJitStackBytes, nullptr));
      if (scratch.stack == nullptr) return PCRE2_ERROR_NOMEMORY;
      pcre2_jit_stack_assign(scratch.context.get(), nullptr, scratch.stack.get());
    } else if (result == PCRE2_ERROR_MATCHLIMIT && limit < kLastMatchLimit &&
               !scratch.OutOfTime()) {
      limit *= 2;
    } else {
      return result;
    }
  }
}

Regex::Regex(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

Result<Regex> Regex::Build(std::string_view pattern, uint32_t options) {
  const std::unique_ptr<pcre2_compile_context, Free> context(pcre2_compile_context_create(nullptr));
  if (context == nullptr) return OutOfMemory("pattern: no memory to compile it");
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  int error = 0;
  size_t offset = 0;
  auto impl = std::make_unique<Impl>();
  impl->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                 options | PCRE2_UTF | PCRE2_USE_OFFSET_LIMIT, &error, &offset,
                                 context.get()));
  if (impl->code == nullptr) {
    return InvalidArgument(StrCat("does not compile: ", ErrorText(error)));
  }
  // Where there is no JIT, or it lacks memory, the same matches are found more slowly.
  (void)pcre2_jit_compile(impl->code.get(), PCRE2_JIT_COMPLETE);
  return Regex(std::move(impl));
}

Result<Regex> Regex::Compile(std::string_view pattern) {
  if (pattern.size() > kMaxPatternBytes) {
    return InvalidArgument(
        StrCat("has ", pattern.size(), " bytes, must have at most ", kMaxPatternBytes));
  }
  GDN_ASSIGN_OR_RETURN(const std::string translated, TranslateRegex(pattern));
  return Build(translated, PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NO_AUTO_CAPTURE);
}

Result<Regex> Regex::CompileLiteral(std::string_view text) {
  if (text.size() > kMaxPatternBytes) {
    return InvalidArgument(
        StrCat("has ", text.size(), " bytes, must have at most ", kMaxPatternBytes));
  }
  return Build(text, PCRE2_LITERAL);
}

Status Regex::FindAll(std::string_view text, MatchScratch& scratch,
                      FunctionRef<void(size_t begin, size_t end)> on_match) const {
  MatchScratch::Impl& work = *scratch.impl_;
  if (work.context == nullptr || work.data == nullptr) {
    return OutOfMemory("pattern: no memory to match");
  }
  const size_t starts = text.size() > kLongTextBytes ? 1 : kStartsPerCall;
  size_t start = 0;
  size_t last_end = std::string_view::npos;
  while (start <= text.size()) {
    const int result = impl_->Match(text, start, starts, work);
    if (result == PCRE2_ERROR_NOMATCH) {
      start += starts;
      while (start < text.size() && (static_cast<uint8_t>(text[start]) & 0xC0) == 0x80) ++start;
    } else if (result < 0) {
      return InvalidArgument(
          StrCat("pattern: gave up on a text of ", text.size(), " bytes: ", ErrorText(result)));
    } else {
      const size_t* const range = pcre2_get_ovector_pointer(work.data.get());
      const size_t begin = range[0];
      const size_t end = range[1];
      if (begin == end && end == last_end) {
        if (end == text.size()) break;
        start = end + static_cast<size_t>(NextUtf8(text.substr(end)).length_bytes);
      } else {
        on_match(begin, end);
        start = last_end = end;
      }
    }
    if (work.OutOfTimeAfterCall()) {
      return InvalidArgument(
          StrCat("pattern: gave up on a text of ", text.size(), " bytes: it takes too long"));
    }
  }
  return OkStatus();
}

}  // namespace gdn
