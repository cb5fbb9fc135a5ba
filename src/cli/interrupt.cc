// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.h"

#include <csignal>

namespace gdn {
namespace {

volatile std::sig_atomic_t g_interrupted = 0;

void OnSignal(int signal_number) {
  g_interrupted = 1;
  std::signal(signal_number, SIG_DFL);
}

}  // namespace

void InstallInterruptHandler() {
  std::signal(SIGINT, OnSignal);
  std::signal(SIGTERM, OnSignal);
}

bool Interrupted() { return g_interrupted != 0; }

}  // namespace gdn
