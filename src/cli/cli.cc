// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <string>

#include "base/str.h"
#include "base/version.h"
#include "cli/commands.h"
#include "cli/report.h"

namespace gdn {

namespace {

// CLI11 answers an unknown word with "a subcommand is required", which does not help.
Status CheckCommandName(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return OkStatus();
  std::string names;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == argv[1]) return OkStatus();
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  return InvalidArgument(StrCat("command is ", Quoted(argv[1]), ", want one of ", names));
}

// Results that nobody could read are no success.
bool FlushStdout() {
  std::cout.flush();
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
}

}  // namespace

int RunCli(int argc, char** argv) {
  CLI::App app("Inference for gated-delta-net language models.", "gdn");
  app.set_version_flag("--version", VersionString(), "Print version, commit and backends");
  app.require_subcommand(1);
  int exit_code = kExitOk;
  AddRunCommand(app, exit_code);
  AddTokenizeCommand(app, exit_code);
  AddInspectCommand(app, exit_code);
  AddDevicesCommand(app, exit_code);
  AddParityCommand(app, exit_code);
  GDN_IF_SERVER(AddServeCommand(app, exit_code);)
  AddBenchCommand(app, exit_code);
  AddBenchOpCommand(app, exit_code);
  GDN_IF_SERVER(AddBenchServeCommand(app, exit_code);)
  const Status named = CheckCommandName(app, argc, argv);
  if (!named.ok()) return Report(named);
  // Libraries below may throw; nothing may leave main but an exit code.
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) {
      return Report(InvalidArgument(std::string(error.what()) + " (--help says more)"));
    }
    app.exit(error);  // --help, --version
  } catch (const std::bad_alloc&) {
    return Report(OutOfMemory("out of memory"));
  } catch (const std::exception& error) {
    return Report(Internal(error.what()));
  }
  if (!FlushStdout()) {
    return Report(InvalidArgument(StrCat("stdout cannot be written: ", std::strerror(errno))));
  }
  return exit_code;
}

}  // namespace gdn
