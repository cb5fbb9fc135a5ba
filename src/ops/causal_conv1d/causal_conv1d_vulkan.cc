// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "backend/vulkan/batch.h"
#include "backend/vulkan/vulkan_backend.h"
#include "ops/causal_conv1d/causal_conv1d_ref.h"

GDN_VULKAN_SHADER(causal_conv1d_vulkan)

namespace gdn {
namespace {

// Tokens of an invocation: few, so that a prompt of some hundred tokens fills a device, and many
// next to the taps that two segments both read.
constexpr int64_t kSegment = 16;

}  // namespace

void RunCausalConv1dVulkan(const ExecContext& ctx, const CausalConv1dArgs& args) {
  if (args.x.dim(0) == 0) return;
  vulkan::Stream& stream = vulkan::StreamOf(ctx);
  const vulkan::Sequences sequences(stream, args.cu_seqlens, args.state_slots,
                                    args.has_initial_state);
  const struct {
    vulkan::Sequences::Push sequences;
    uint32_t channels;
    vulkan::RowsAt x;
    uint32_t weight_base;
    vulkan::RowsAt state;
    uint32_t out_base;
  } push = {.sequences = sequences.push(),
            .channels = static_cast<uint32_t>(args.x.dim(1)),
            .x = {stream, args.x},
            .weight_base = stream.Base(args.weight),
            .state = {stream, args.state},
            .out_base = stream.Base(args.out)};
  const std::array operands = {sequences.cu_seqlens(),        sequences.state_slots(),
                               sequences.has_initial_state(), vulkan::Reads(args.x),
                               vulkan::Reads(args.weight),    vulkan::Writes(args.state),
                               vulkan::Writes(args.out)};
  const bool rounds = args.x.dtype != DType::kF32 && args.product == ConvProduct::kRounded;
  const std::array<uint32_t, 3> constants = {static_cast<uint32_t>(args.weight.dim(1)),
                                             rounds ? 1U : 0U, static_cast<uint32_t>(kSegment)};
  const vulkan::Groups groups = {
      .x = (push.channels + vulkan::kGroupSize - 1) / vulkan::kGroupSize,
      .y = static_cast<uint32_t>(vulkan::CountSegments(args.cu_seqlens, kSegment))};
  stream.Dispatch(vulkan::shaders::causal_conv1d_vulkan, args.x.dtype, operands, push, constants,
                  groups);
}

const char* CausalConv1dVulkanSupports(const CausalConv1dArgs& args) {
  constexpr int64_t kMostGroups = 65535;  // along an axis, on every device
  if (vulkan::CountSegments(args.cu_seqlens, kSegment) > kMostGroups) {
    return "the batch has more than 65535 segments of 16 tokens";
  }
  return nullptr;
}

}  // namespace gdn
