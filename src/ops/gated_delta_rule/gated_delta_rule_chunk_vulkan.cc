// SPDX-License-Identifier: Apache-2.0
// The chunk form in passes over as many chunks as scratch holds, each of five stages. Between two
// passes the state of a sequence lies in its slot, as it does between two calls.
#include <array>
#include <bit>

#include "backend/vulkan/batch.h"
#include "backend/vulkan/vulkan_backend.h"
#include "ops/gated_delta_rule/gated_delta_rule_device.h"

GDN_VULKAN_SHADER(gated_delta_rule_kkt_vulkan)
GDN_VULKAN_SHADER(gated_delta_rule_solve_vulkan)
GDN_VULKAN_SHADER(gated_delta_rule_wu_vulkan)
GDN_VULKAN_SHADER(gated_delta_rule_state_vulkan)
GDN_VULKAN_SHADER(gated_delta_rule_output_vulkan)

namespace gdn {
namespace {

namespace shaders = vulkan::shaders;
using vulkan::Operand;
using vulkan::Reads;
using vulkan::Writes;

// As chunk.glsl has it.
struct ChunkPush {
  vulkan::Sequences::Push sequences;
  uint32_t first_chunk, num_chunks;
  uint32_t num_value_heads, heads_per_key, k_dim, v_dim;
  float scale;
  uint32_t scratch_base;
  vulkan::HeadsAt q, k, v;
  vulkan::RowsAt log_decay, beta, state;
  uint32_t out_base;
};

// The parts of scratch, for num_chunks of all value heads.
struct ChunkParts {
  Operand cum, p, t, w, u, a_or_h;

  ChunkParts(std::byte* scratch, const DeviceChunkBytes& bytes, int64_t num_tiles) {
    const auto take = [&](size_t tile_bytes) {
      const size_t part_bytes = tile_bytes * static_cast<size_t>(num_tiles);
      const Operand part{scratch, part_bytes};
      scratch += DevicePartBytes(part_bytes);
      return part;
    };
    cum = take(bytes.cum);
    p = take(bytes.p);
    t = take(bytes.t);
    w = take(bytes.w);
    u = take(bytes.u);
    a_or_h = take(bytes.a_or_h);
  }
};

Operand Written(Operand part) {
  part.writes = true;
  return part;
}

uint32_t Tiles(int64_t columns) {
  return static_cast<uint32_t>((columns + kChunkSize - 1) / kChunkSize);
}

class ChunkPass {
 public:
  ChunkPass(vulkan::Stream& stream, const GatedDeltaRuleArgs& args,
            const vulkan::Sequences& sequences, const ChunkPush& push, const ChunkParts& parts)
      : stream_(stream), args_(args), sequences_(sequences), push_(push), parts_(parts) {}

  void Run() const {
    const uint32_t heads = push_.num_value_heads;
    const uint32_t chunks = push_.num_chunks;
    const bool tf32 = args_.v.dtype != DType::kF32 && args_.kkt_operand == KktOperand::kTf32;
    Stage(shaders::gated_delta_rule_kkt_vulkan,
          {Reads(args_.q), Reads(args_.k), Reads(args_.log_decay), Reads(args_.beta),
           Written(parts_.cum), Written(parts_.a_or_h), Written(parts_.p)},
          std::array{tf32 ? 1U : 0U}, {heads, chunks, 2});
    Stage(shaders::gated_delta_rule_solve_vulkan, {parts_.a_or_h, Written(parts_.t)}, {},
          {heads, chunks});
    Stage(shaders::gated_delta_rule_wu_vulkan,
          {Reads(args_.k), Reads(args_.v), Reads(args_.beta), parts_.cum, parts_.t,
           Written(parts_.w), Written(parts_.u)},
          {}, {heads, chunks, Tiles(push_.k_dim) + Tiles(push_.v_dim)});
    RunState();
    Stage(shaders::gated_delta_rule_output_vulkan,
          {Reads(args_.q), parts_.cum, parts_.p, parts_.u, parts_.a_or_h, Writes(args_.out)}, {},
          {heads, chunks, Tiles(push_.v_dim)});
  }

 private:
  void RunState() const {
    constexpr uint32_t kRowsPerGroup = 16;
    const std::array constants = {push_.k_dim, std::bit_ceil(std::max(push_.k_dim, 16U))};
    Stage(shaders::gated_delta_rule_state_vulkan,
          {Reads(args_.k), parts_.cum, parts_.w, Written(parts_.u), Written(parts_.a_or_h),
           Writes(args_.state)},
          constants,
          {(push_.v_dim + kRowsPerGroup - 1) / kRowsPerGroup, push_.num_value_heads,
           sequences_.push().count});
  }

  void Stage(const vulkan::Shader& shader, std::initializer_list<Operand> operands,
             std::span<const uint32_t> constants, const vulkan::Groups& groups) const {
    std::array<Operand, 10> all = {sequences_.cu_seqlens(), sequences_.state_slots(),
                                   sequences_.has_initial_state()};
    std::copy(operands.begin(), operands.end(), all.begin() + 3);
    stream_.Dispatch(shader, args_.v.dtype, std::span(all).first(3 + operands.size()), push_,
                     constants, groups);
  }

  vulkan::Stream& stream_;
  const GatedDeltaRuleArgs& args_;
  const vulkan::Sequences& sequences_;
  const ChunkPush& push_;
  const ChunkParts& parts_;
};

}  // namespace

void RunChunkVulkan(const ExecContext& ctx, const GatedDeltaRuleArgs& args) {
  if (args.v.dim(0) == 0) return;
  const int64_t heads = args.v.dim(1);
  const DeviceChunkBytes bytes(args.v.dtype, args.k.dim(2), args.v.dim(2));
  const int64_t most = ChunksOfAPass(ctx, bytes, heads);
  std::byte* scratch = ctx.scratch.Take(DeviceScratchBytes(bytes, heads, most));
  const ChunkParts parts(scratch, bytes, heads * most);
  vulkan::Stream& stream = vulkan::StreamOf(ctx);
  const vulkan::Sequences sequences(stream, args.cu_seqlens, args.state_slots,
                                    args.has_initial_state);
  ChunkPush push = {.sequences = sequences.push(),
                    .num_value_heads = static_cast<uint32_t>(heads),
                    .heads_per_key = static_cast<uint32_t>(heads / args.k.dim(1)),
                    .k_dim = static_cast<uint32_t>(args.k.dim(2)),
                    .v_dim = static_cast<uint32_t>(args.v.dim(2)),
                    .scale = args.scale,
                    .scratch_base = stream.Base(scratch, 1),
                    .q = {stream, args.q},
                    .k = {stream, args.k},
                    .v = {stream, args.v},
                    .log_decay = {stream, args.log_decay},
                    .beta = {stream, args.beta},
                    .state = {stream, args.state},
                    .out_base = stream.Base(args.out)};
  const int64_t num_chunks = vulkan::CountSegments(args.cu_seqlens, kChunkSize);
  for (int64_t first = 0; first < num_chunks; first += most) {
    push.first_chunk = static_cast<uint32_t>(first);
    push.num_chunks = static_cast<uint32_t>(std::min(most, num_chunks - first));
    ChunkPass(stream, args, sequences, push, parts).Run();
  }
}

}  // namespace gdn
