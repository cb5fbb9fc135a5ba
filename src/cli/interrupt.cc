// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.h"

#include <unistd.h>

#include <csignal>
#include <string_view>

#include "cli/commands.h"

namespace gdn {
namespace {

volatile std::sig_atomic_t g_interrupted = 0;

void OnSignal(int signal_number) {
  g_interrupted = 1;
  std::signal(signal_number, SIG_DFL);
}

void OnBusError(int /*signal_number*/) {
  constexpr std::string_view kMessage =
      "gdn: error: a file of the checkpoint was cut short while it was read\n";
  if (write(STDERR_FILENO, kMessage.data(), kMessage.size()) < 0) _exit(kExitFailure);
  _exit(kExitBadInput);
}

}  // namespace

void InstallInterruptHandler() {
  std::signal(SIGINT, OnSignal);
  std::signal(SIGTERM, OnSignal);
}

void RemoveInterruptHandler() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  g_interrupted = 0;
}

void InstallMappedFileHandler() { std::signal(SIGBUS, OnBusError); }

bool Interrupted() { return g_interrupted != 0; }

}  // namespace gdn
