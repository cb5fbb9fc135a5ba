// SPDX-License-Identifier: Apache-2.0
// Options that several commands have, and the words that they take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "model/model.h"
#include "tensor/dtype.h"

namespace CLI {
class App;
}

namespace gdn {

void AddThreadsOption(CLI::App& command, int& num_threads);
void AddModelOption(CLI::App& command, std::string& dir);
// -c,--ctx; 0: DefaultContext() of the engine.
void AddContextOption(CLI::App& command, int64_t& tokens);
void AddMemoryOption(CLI::App& command, std::string& limit);
void AddLogLevelOption(CLI::App& command, std::string& word);
void AddDeviceOption(CLI::App& command, std::string& word);
// --prefill auto, chunk or recurrent.
void AddPrefillOption(CLI::App& command, std::string& word);
// --gemm own or vendor.
void AddGemmOption(CLI::App& command, std::string& word);
// --dtype bf16, f16 or f32.
void AddDTypeOption(CLI::App& command, std::string& word, const std::string& help);

// Options of the commands that measure.
struct MeasureOptions {
  int repetitions = 5;
  int num_threads = 1;
  size_t buffer_mib = 0;  // of MachineProbe

  size_t buffer_bytes() const { return buffer_mib << 20; }
};
// Sets num_threads to all cores.
void AddMeasureOptions(CLI::App& command, MeasureOptions& options);

// Of words that the option's check has let through.
void SetLogLevelOf(const std::string& word);
PrefillMode PrefillModeOf(const std::string& word);
DType DTypeOfWord(const std::string& word);

}  // namespace gdn
