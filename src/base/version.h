// SPDX-License-Identifier: Apache-2.0
// Which program this is. The texts are made by the build (cmake/gdn_version.cmake).
#pragma once

namespace gdn {

// "gdn 0.1.0 (commit abcdef1) backends: cpu, vulkan"
const char* VersionString();

// Seven hex digits, or "unknown" where the sources came without their history.
const char* CommitHash();

}  // namespace gdn
