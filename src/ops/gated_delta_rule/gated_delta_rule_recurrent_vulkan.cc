// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "backend/vulkan/batch.h"
#include "backend/vulkan/vulkan_backend.h"
#include "ops/gated_delta_rule/gated_delta_rule_device.h"

GDN_VULKAN_SHADER(gated_delta_rule_recurrent_vulkan)

namespace gdn {

void RunRecurrentVulkan(const ExecContext& ctx, const GatedDeltaRuleArgs& args) {
  constexpr int64_t kRowsPerGroup = 16;
  if (args.v.dim(0) == 0) return;
  vulkan::Stream& stream = vulkan::StreamOf(ctx);
  const vulkan::Sequences sequences(stream, args.cu_seqlens, args.state_slots,
                                    args.has_initial_state);
  const struct {
    vulkan::Sequences::Push sequences;
    uint32_t heads_per_key, v_dim;
    float scale;
    vulkan::HeadsAt q, k, v;
    vulkan::RowsAt log_decay, beta, state;
    uint32_t out_base;
  } push = {.sequences = sequences.push(),
            .heads_per_key = static_cast<uint32_t>(args.v.dim(1) / args.k.dim(1)),
            .v_dim = static_cast<uint32_t>(args.v.dim(2)),
            .scale = args.scale,
            .q = {stream, args.q},
            .k = {stream, args.k},
            .v = {stream, args.v},
            .log_decay = {stream, args.log_decay},
            .beta = {stream, args.beta},
            .state = {stream, args.state},
            .out_base = stream.Base(args.out)};
  const std::array operands = {sequences.cu_seqlens(),        sequences.state_slots(),
                               sequences.has_initial_state(), vulkan::Reads(args.q),
                               vulkan::Reads(args.k),         vulkan::Reads(args.v),
                               vulkan::Reads(args.log_decay), vulkan::Reads(args.beta),
                               vulkan::Writes(args.state),    vulkan::Writes(args.out)};
  const std::array<uint32_t, 3> constants = {static_cast<uint32_t>(args.k.dim(2)),
                                             args.k.dtype == DType::kF32 ? 1U : 0U,
                                             args.state.dtype == DType::kF32 ? 1U : 0U};
  const vulkan::Groups groups = {
      .x = static_cast<uint32_t>((args.v.dim(2) + kRowsPerGroup - 1) / kRowsPerGroup),
      .y = static_cast<uint32_t>(args.v.dim(1)),
      .z = sequences.push().count};
  stream.Dispatch(vulkan::shaders::gated_delta_rule_recurrent_vulkan, args.v.dtype, operands, push,
                  constants, groups);
}

}  // namespace gdn
