// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_options.h"

#include <charconv>
#include <utility>

#include "backend/devices.h"
#include "base/str.h"
#include "cli/interrupt.h"
#include "cli/report.h"

namespace gdn {
namespace {

constexpr int64_t kMaxTokens = int64_t{1} << 22;

}  // namespace

Result<std::vector<int64_t>> BenchCounts(const char* option,
                                         const std::vector<std::string>& words) {
  std::vector<int64_t> out;
  for (const std::string& word : words) {
    int64_t number = -1;
    const char* end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, number);
    if (error != std::errc() || stop != end || number < 0 || number > kMaxTokens) {
      return InvalidArgument(
          StrCat(option, " is ", Quoted(word), ", want numbers from 0 to ", kMaxTokens));
    }
    out.push_back(number);
  }
  return out;
}

Result<ModelConfig> BenchConfig(BenchOptions& options) {
  GDN_RETURN_IF_ERROR(ChooseDevice(options.device).status());
  if (options.model.config_file.empty() && options.only_with_config) {
    return InvalidArgument("--dtype and --seed are of random weights: they want --config");
  }
  options.model.dtype = DTypeOfWord(options.dtype);
  return ConfigOf(options.model);
}

Result<LoadedModel> LoadForBench(const BenchOptions& options, const ModelConfig& config,
                                 const RunLimits& limits, LayerTimes* times) {
  GDN_ASSIGN_OR_RETURN(const Device device, ChooseDevice(options.device));
  const ModelOptions model_options{.device = device,
                                   .prefill = PrefillModeOf(options.prefill),
                                   .vendor_gemm = options.gemm == "vendor",
                                   .layer_times = times};
  InstallMappedFileHandler();
  LoadedModel out{.pool = std::make_unique<ThreadPool>(options.measure.num_threads)};
  ProgressLine progress("loading");
  Result<std::unique_ptr<Model>> model =
      LoadChoice(options.model, config, limits, model_options, *out.pool,
                 [&](size_t done, size_t total) { progress.Update(done, total); });
  progress.Finish();
  GDN_RETURN_IF_ERROR(model.status());
  out.model = std::move(*model);
  return out;
}

}  // namespace gdn
