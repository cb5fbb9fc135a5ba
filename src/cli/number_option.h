// SPDX-License-Identifier: Apache-2.0
// Options that are numbers.
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <string>

#include "base/str.h"

namespace gdn {

// CLI11 takes an empty value for 0 and wraps what is too large: the text must be a T, all of it.
template <class T>
CLI::Option* AddNumberOption(CLI::App& command, const std::string& name, T& value,
                             const std::string& help) {
  const auto check = [](std::string& text) -> std::string {
    T number{};
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc() && stop == end) return "";
    return StrCat(Quoted(text), " is not a number that this option takes");
  };
  return command.add_option(name, value, help)->check(CLI::Validator(check, ""));
}

}  // namespace gdn
