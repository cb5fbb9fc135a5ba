// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_table.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

namespace gdn {
namespace {

using Json = nlohmann::ordered_json;

std::string Dump(const Json& json) {
  // Names come from files and options: what is not UTF-8 is replaced, never thrown over.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string MarkdownCell(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return RoundedNumber(value.get<double>());
  return value.is_null() ? "" : Dump(value);
}

std::string CsvCell(const Json& value) {
  if (!value.is_string()) return value.is_null() ? "" : Dump(value);
  std::string out = "\"";
  for (const char c : value.get<std::string>()) out.append(c == '"' ? 2 : 1, c);
  return out + "\"";
}

std::string Markdown(const Json& rows, const std::vector<std::string>& keys) {
  std::vector<std::vector<std::string>> cells = {keys};
  for (const Json& row : rows) {
    std::vector<std::string>& line = cells.emplace_back();
    for (const std::string& key : keys) line.push_back(MarkdownCell(row.value(key, Json())));
  }
  std::vector<size_t> widths(keys.size());
  for (const auto& line : cells) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string out;
  for (size_t n = 0; n < cells.size(); ++n) {
    for (size_t i = 0; i < keys.size(); ++i) {
      const bool text = rows.empty() || rows[0].value(keys[i], Json()).is_string();
      const std::string pad(widths[i] - cells[n][i].size(), ' ');
      out += "| " + (text ? cells[n][i] + pad : pad + cells[n][i]) + " ";
    }
    out += "|\n";
    if (n > 0) continue;
    for (size_t i = 0; i < keys.size(); ++i) {
      const bool text = rows.empty() || rows[0].value(keys[i], Json()).is_string();
      out += "|" + std::string(widths[i] + 1, '-') + (text ? "-" : ":");
    }
    out += "|\n";
  }
  return out;
}

std::string Csv(const Json& rows) {
  std::string out;
  if (rows.empty()) return out;
  const auto append = [&out](const std::string& cell) {
    if (!out.empty() && out.back() != '\n') out += ',';
    out += cell;
  };
  for (const auto& [key, value] : rows[0].items()) append(key);
  out += '\n';
  for (const Json& row : rows) {
    for (const auto& [key, value] : rows[0].items()) append(CsvCell(row.value(key, Json())));
    out += '\n';
  }
  return out;
}

}  // namespace

std::string RoundedNumber(double value) {
  const double size = std::abs(value);
  const int decimals = size == 0 || size >= 1000 ? 1 : size >= 1 ? 2 : 4;
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

void AddTableOptions(CLI::App& command, TableOptions& options) {
  command.add_option("-o,--output", options.format, "md, json or csv")
      ->check(CLI::IsMember({"md", "json", "csv"}))
      ->capture_default_str();
  command.add_flag("--json", options.json, "The same as -o json: one JSON array");
}

std::string FormatTable(const Json& rows, const std::vector<std::string>& md_keys,
                        const TableOptions& options) {
  if (options.json || options.format == "json") return Dump(rows) + "\n";
  return options.format == "csv" ? Csv(rows) : Markdown(rows, md_keys);
}

}  // namespace gdn
