// SPDX-License-Identifier: Apache-2.0
// Makes an ordered_json of the events of nlohmann's parser. Its own builder searches the object for
// every new key.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace gdn {

class OrderedJsonBuilder final : public nlohmann::json_sax<nlohmann::ordered_json> {
 public:
  using Json = nlohmann::ordered_json;

  Json TakeRoot() { return std::move(root_); }

  bool null() override { return Add(nullptr); }
  bool boolean(bool value) override { return Add(value); }
  bool number_integer(Json::number_integer_t value) override { return Add(value); }
  bool number_unsigned(Json::number_unsigned_t value) override { return Add(value); }
  bool number_float(Json::number_float_t value, const std::string&) override { return Add(value); }
  bool string(std::string& value) override { return Add(std::move(value)); }
  bool binary(Json::binary_t& value) override { return Add(std::move(value)); }
  bool key(std::string& name) override;
  bool start_object(size_t size) override;
  bool end_object() override;
  bool start_array(size_t size) override;
  bool end_array() override;
  // Throws the error, as the parser without a builder does.
  bool parse_error(size_t position, const std::string& token,
                   const nlohmann::detail::exception& error) override;

 private:
  bool Add(Json value);
  Json* Append(Json value);

  Json root_;
  std::vector<Json*> open_;  // the containers around the current place
  std::string key_;
};

}  // namespace gdn
