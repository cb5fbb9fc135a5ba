// SPDX-License-Identifier: Apache-2.0
// Ctrl-C: the first one asks the running work to end, a second one ends the process.
#pragma once

namespace gdn {

void InstallInterruptHandler();
bool Interrupted();

}  // namespace gdn
