// SPDX-License-Identifier: Apache-2.0
#include "ops/causal_conv1d/causal_conv1d_ref.h"

#include <array>
#include <cmath>
#include <type_traits>

#include "ops/common/scalar_math.h"

namespace gdn {
namespace {

constexpr size_t kMaxTaps = 4;

// One channel of one sequence. The window holds the last taps inputs, oldest first.
template <class T>
void Channel(const CausalConv1dArgs& args, size_t n, int64_t c) {
  const auto taps = static_cast<size_t>(args.weight.dim(1));
  const T* weight = args.weight.Row<T>(c);
  T* state = args.state.Row<T>(args.state_slots[n]) + c;
  const int64_t channels = args.x.dim(1);
  std::array<T, kMaxTaps> window{};
  if (args.has_initial_state[n] != 0) {
    for (size_t j = 0; j + 1 < taps; ++j) window[j + 1] = state[static_cast<int64_t>(j) * channels];
  }
  for (int64_t t = args.cu_seqlens[n]; t < args.cu_seqlens[n + 1]; ++t) {
    for (size_t j = 0; j + 1 < taps; ++j) window[j] = window[j + 1];
    window[taps - 1] = args.x.Row<T>(t)[c];
    float sum = 0;
    for (size_t j = 0; j < taps; ++j) {
      const float tap = ToF32(window[j]);
      const float w = ToF32(weight[j]);
      if constexpr (std::is_same_v<T, float>) {
        sum = std::fma(tap, w, sum);
      } else {
        sum += args.product == ConvProduct::kRounded ? RoundTo<T>(tap * w) : tap * w;
      }
    }
    args.out.Row<T>(t)[c] = FromF32<T>(SiluF32(sum));
  }
  for (size_t j = 0; j + 1 < taps; ++j) state[static_cast<int64_t>(j) * channels] = window[j + 1];
}

}  // namespace

void RunCausalConv1dRef(const ExecContext& /*ctx*/, const CausalConv1dArgs& args) {
  DispatchFloat(args.x.dtype, [&](auto tag) {
    using T = decltype(tag);
    for (size_t n = 0; n < args.state_slots.size(); ++n) {
      if (args.cu_seqlens[n] == args.cu_seqlens[n + 1]) continue;
      for (int64_t c = 0; c < args.x.dim(1); ++c) {
        if (args.state_slots[n] > 0) {
          Channel<T>(args, n, c);
          continue;
        }
        for (int64_t t = args.cu_seqlens[n]; t < args.cu_seqlens[n + 1]; ++t) {
          args.out.Row<T>(t)[c] = T{};
        }
      }
    }
  });
}

}  // namespace gdn
