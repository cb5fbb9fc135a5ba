// SPDX-License-Identifier: Apache-2.0
// How the rows of a measurement are printed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace gdn {

struct TableOptions {
  std::string format = "md";  // md, json or csv
  bool json = false;          // the same as format json
};
void AddTableOptions(CLI::App& command, TableOptions& options);

// rows: an array of flat objects with the same keys. md: those keys of the first row that are in
// md_keys, numbers rounded; json: the array; csv: a line of keys, then all values in full.
std::string FormatTable(const nlohmann::ordered_json& rows, const std::vector<std::string>& md_keys,
                        const TableOptions& options);

// 3 significant digits or more, never an exponent: "0.0123", "4.56", "1234.5".
std::string RoundedNumber(double value);

}  // namespace gdn
