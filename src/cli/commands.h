// SPDX-License-Identifier: Apache-2.0
// The subcommands of gdn. Each adds itself to the application; its callback returns an exit code
// through `exit_code`: 0 success, 2 bad input, 1 an internal failure, 130 interrupted.
#pragma once

namespace CLI {
class App;
}

namespace gdn {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitBadInput = 2;
inline constexpr int kExitInterrupted = 130;

void AddRunCommand(CLI::App& app, int& exit_code);
void AddServeCommand(CLI::App& app, int& exit_code);  // where the build has a server
void AddTokenizeCommand(CLI::App& app, int& exit_code);
void AddInspectCommand(CLI::App& app, int& exit_code);
void AddDevicesCommand(CLI::App& app, int& exit_code);
void AddParityCommand(CLI::App& app, int& exit_code);
void AddBenchCommand(CLI::App& app, int& exit_code);
void AddBenchOpCommand(CLI::App& app, int& exit_code);
void AddBenchServeCommand(CLI::App& app, int& exit_code);

// Parses the command line and runs a subcommand. Returns the exit code of the process.
int RunCli(int argc, char** argv);

}  // namespace gdn
