// SPDX-License-Identifier: Apache-2.0
// The ordered table of kernels behind an op's public entry.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "backend/exec_context.h"
#include "base/status.h"
#include "base/str.h"

namespace gdn {

// The kernel of a backend that this build may leave out, as in IfBuilt(GDN_IF_VULKAN(run)), or
// null.
constexpr std::nullptr_t IfBuilt() { return nullptr; }
template <class Function>
constexpr Function* IfBuilt(Function* function) {
  return function;
}

// One kernel. Tables list them fastest first, the scalar reference last.
template <class Args>
struct Impl {
  // Kernel id <op>_<form>_<dtype>__<arch>, alive as long as the process; may depend on args.
  const char* (*id)(const Args& args);
  KernelFamily family;
  // Null where the kernel can run args, else the reason why not (a literal).
  const char* (*supports)(const Args& args);
  // Null, and supports perhaps too, for a backend that this build leaves out.
  void (*run)(const ExecContext& ctx, const Args& args);
};

// Runs the first kernel of the table that can. args have been validated. With ctx.impl set, only
// kernels whose id starts with it, or ends in "__" + it, are considered.
template <class Args>
Status RunFirst(const char* op, std::span<const Impl<Args>> table, const ExecContext& ctx,
                const Args& args) {
  const char* reason = "no kernel of that name";
  for (const Impl<Args>& impl : table) {
    if (impl.family != FamilyOf(ctx.device.type) || impl.run == nullptr) continue;
    const std::string_view id = impl.id(args);
    if (!ctx.impl.empty() && !id.starts_with(ctx.impl)) {
      const size_t arch = id.rfind("__");
      if (arch == std::string_view::npos || id.substr(arch + 2) != ctx.impl) continue;
    }
    if (const char* why = impl.supports(args)) {
      reason = why;
      continue;
    }
    if (ctx.kernel_log != nullptr) ctx.kernel_log->Record(op, id.data());
    impl.run(ctx, args);
    return OkStatus();
  }
  return Unsupported(StrCat(op, ": no kernel for ", Name(ctx.device.type),
                            ctx.impl.empty() ? "" : " named ", ctx.impl, ": ", reason));
}

}  // namespace gdn
