// SPDX-License-Identifier: Apache-2.0
// Ctrl-C: the first one asks the running work to end, a second one ends the process.
#pragma once

namespace gdn {

void InstallInterruptHandler();
bool Interrupted();
// Forgets it; Ctrl-C ends the process again.
void RemoveInterruptHandler();

// A checkpoint that is cut short while it is mapped raises SIGBUS on the next read of it: says so
// in one line and ends with exit code 2.
void InstallMappedFileHandler();

}  // namespace gdn
