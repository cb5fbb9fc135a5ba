// SPDX-License-Identifier: Apache-2.0
// Broken invariants: a bug of ours, never a user's input. Prints where and stops the process.
#pragma once

namespace gdn {
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);
}  // namespace gdn

#define GDN_CHECK(condition) \
  ((condition) ? (void)0 : ::gdn::CheckFailed(__FILE__, __LINE__, #condition))

#ifdef NDEBUG
#define GDN_DCHECK(condition) ((void)sizeof(!(condition)))
#else
#define GDN_DCHECK(condition) GDN_CHECK(condition)
#endif
