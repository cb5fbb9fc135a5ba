// SPDX-License-Identifier: Apache-2.0
#include "session/sampling_defaults.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "io/json_file.h"
#include "model/config_json.h"

namespace gdn {

SamplingParams SamplingDefaults::Params() const {
  return {.temperature = temperature,
          .top_k = top_k,
          .top_p = top_p,
          .min_p = min_p,
          .repetition_penalty = repetition_penalty};
}

Result<SamplingDefaults> LoadSamplingDefaults(const std::string& dir) {
  SamplingDefaults out;
  const std::string path = dir + "/generation_config.json";
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return out;
  GDN_ASSIGN_OR_RETURN(const nlohmann::json json, ReadJsonFile(path));
  if (!json.is_object()) return InvalidArgument(path + ": must be an object");
  JsonReader reader(json, path + ": ");
  const auto number = [&](const char* key, float otherwise, double min, double max) {
    return static_cast<float>(reader.Number(key, otherwise, min, max));
  };
  constexpr double kMost = 1e6;
  constexpr double kLeast = 1e-6;
  out.temperature = number("temperature", out.temperature, 0, kMost);
  // -1 is off for some writers.
  out.top_k = std::max(0, static_cast<int32_t>(reader.Int("top_k", out.top_k, -1,
                                                          std::numeric_limits<int32_t>::max())));
  out.top_p = number("top_p", out.top_p, kLeast, 1);
  out.min_p = number("min_p", out.min_p, 0, 1);
  out.repetition_penalty = number("repetition_penalty", out.repetition_penalty, kLeast, kMost);
  GDN_RETURN_IF_ERROR(reader.status());
  return out;
}

}  // namespace gdn
