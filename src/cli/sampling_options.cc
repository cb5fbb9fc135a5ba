// SPDX-License-Identifier: Apache-2.0
#include "cli/sampling_options.h"

#include <CLI/CLI.hpp>
#include <charconv>

#include "base/str.h"
#include "cli/number_option.h"

namespace gdn {
namespace {

// The whole of text is a number.
template <class T>
bool ParseNumber(std::string_view text, T& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

void AddSamplingOptions(CLI::App& command, SamplingParams& sampling,
                        std::vector<std::string>& logit_bias) {
  // Their defaults are the checkpoint's: TakeDefaults.
  AddNumberOption(command, "--temp", sampling.temperature,
                  "Temperature; 0 takes the likeliest token (default of this and the next three, "
                  "and of --repetition-penalty: the checkpoint's, else 0.8, 40, 0.95, 0, 1)");
  AddNumberOption(command, "--top-k", sampling.top_k, "Sample from the K likeliest tokens; 0: all");
  AddNumberOption(command, "--top-p", sampling.top_p,
                  "Sample from the likeliest tokens of this probability");
  AddNumberOption(command, "--min-p", sampling.min_p,
                  "Drop tokens below this share of the likeliest one");
  AddNumberOption(command, "--seed", sampling.seed, "The same seed gives the same text")
      ->capture_default_str();
  AddNumberOption(command, "--repetition-penalty", sampling.repetition_penalty,
                  "Divides the logits of tokens that are there already, in the prompt too; 1: off");
  AddNumberOption(command, "--frequency-penalty", sampling.frequency_penalty,
                  "Taken off a token's logit each time that it has been generated; 0: off")
      ->capture_default_str();
  AddNumberOption(command, "--presence-penalty", sampling.presence_penalty,
                  "Taken off a token's logit once it has been generated; 0: off")
      ->capture_default_str();
  command
      .add_option("--logit-bias", logit_bias,
                  "ID=BIAS, added to a token's logit; may be given several times")
      ->allow_extra_args(false);
}

void TakeDefaults(const CLI::App& command, const SamplingDefaults& defaults,
                  SamplingParams& sampling) {
  const auto take = [&](const char* name, auto value, auto& to) {
    if (command.count(name) == 0) to = value;
  };
  take("--temp", defaults.temperature, sampling.temperature);
  take("--top-k", defaults.top_k, sampling.top_k);
  take("--top-p", defaults.top_p, sampling.top_p);
  take("--min-p", defaults.min_p, sampling.min_p);
  take("--repetition-penalty", defaults.repetition_penalty, sampling.repetition_penalty);
}

Result<std::vector<TokenBias>> ParseLogitBias(const std::vector<std::string>& words) {
  std::vector<TokenBias> out;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    TokenBias entry;
    if (equals == std::string::npos ||
        !ParseNumber(std::string_view(word).substr(0, equals), entry.token) ||
        !ParseNumber(std::string_view(word).substr(equals + 1), entry.bias)) {
      return InvalidArgument(
          StrCat("--logit-bias is ", Quoted(word), ", want ID=BIAS, a token id and a number"));
    }
    out.push_back(entry);
  }
  return out;
}

}  // namespace gdn
