// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "backend/vulkan/batch.h"
#include "backend/vulkan/vulkan_backend.h"
#include "ops/gdn_prep/gdn_prep_ref.h"

GDN_VULKAN_SHADER(gdn_prep_vulkan)

namespace gdn {

void RunGdnPrepVulkan(const ExecContext& ctx, const GdnPrepArgs& args) {
  constexpr int64_t kRowsPerGroup = 16;
  constexpr int64_t kGatesPerGroup = vulkan::kGroupSize;
  const int64_t num_tokens = args.q.dim(0);
  const int64_t num_rows = 2 * num_tokens * args.q.dim(1);
  const int64_t num_gates = num_tokens * args.a.dim(1);
  const int64_t row_groups = (num_rows + kRowsPerGroup - 1) / kRowsPerGroup;
  const int64_t gate_groups = (num_gates + kGatesPerGroup - 1) / kGatesPerGroup;
  vulkan::Stream& stream = vulkan::StreamOf(ctx);
  const struct {
    uint32_t num_tokens, num_heads, k_dim, num_value_heads, num_row_groups;
    vulkan::HeadsAt q, k;
    vulkan::RowsAt a, b;
    uint32_t a_log_base, dt_bias_base;
    uint32_t q_out_base, k_out_base, log_decay_base, beta_base;
  } push = {.num_tokens = static_cast<uint32_t>(num_tokens),
            .num_heads = static_cast<uint32_t>(args.q.dim(1)),
            .k_dim = static_cast<uint32_t>(args.q.dim(2)),
            .num_value_heads = static_cast<uint32_t>(args.a.dim(1)),
            .num_row_groups = static_cast<uint32_t>(row_groups),
            .q = {stream, args.q},
            .k = {stream, args.k},
            .a = {stream, args.a},
            .b = {stream, args.b},
            .a_log_base = stream.Base(args.a_log),
            .dt_bias_base = stream.Base(args.dt_bias),
            .q_out_base = stream.Base(args.q_out),
            .k_out_base = stream.Base(args.k_out),
            .log_decay_base = stream.Base(args.log_decay),
            .beta_base = stream.Base(args.beta)};
  const std::array operands = {vulkan::Reads(args.q),          vulkan::Reads(args.k),
                               vulkan::Reads(args.a),          vulkan::Reads(args.b),
                               vulkan::Reads(args.a_log),      vulkan::Reads(args.dt_bias),
                               vulkan::Writes(args.q_out),     vulkan::Writes(args.k_out),
                               vulkan::Writes(args.log_decay), vulkan::Writes(args.beta)};
  const bool is_decode = args.form == GdnForm::kDecode;
  const std::array<uint32_t, 2> constants = {
      is_decode ? 1U : 0U, is_decode && args.decode_beta == DecodeBeta::kRounded ? 1U : 0U};
  stream.Dispatch(vulkan::shaders::gdn_prep_vulkan, args.q.dtype, operands, push, constants,
                  vulkan::RowGroups(row_groups + gate_groups));
}

}  // namespace gdn
