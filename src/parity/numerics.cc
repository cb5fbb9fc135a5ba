// SPDX-License-Identifier: Apache-2.0
#include "parity/numerics.h"

#include <algorithm>

#include "base/str.h"

namespace gdn {
namespace {

constexpr std::string_view kDrop = "drop:";

Ablation WithoutRounding() {
  Ablation out;
  for (const RoundingPoint& point : RoundingPoints()) {
    if (point.is_rounding) point.drop(out);
  }
  out.kkt = KktMode::kIeee;
  out.round_o = false;
  return out;
}

}  // namespace

Result<Numerics> ParseNumerics(std::string_view name) {
  using Kind = Numerics::Kind;
  Numerics out{.name = std::string(name)};
  if (name == "reference") return out;
  if (name == "recurrence_f32" || name == "recurrence_f64") {
    out.kind = name == "recurrence_f32" ? Kind::kRecurrenceF32 : Kind::kRecurrenceF64;
    return out;
  }
  out.kind = Kind::kChunk;
  if (name == "chunk") return out;
  if (name == "chunk_unrounded") {
    out.ablation = WithoutRounding();
    return out;
  }
  std::string names;
  for (const RoundingPoint& point : RoundingPoints()) {
    if (name.starts_with(kDrop) && name.substr(kDrop.size()) == point.name) {
      point.drop(out.ablation);
      return out;
    }
    names += StrCat(", ", kDrop, point.name);
  }
  return InvalidArgument(StrCat("numerics is ", Quoted(name),
                                ", want one of reference, recurrence_f32, recurrence_f64, chunk, "
                                "chunk_unrounded",
                                names));
}

std::vector<float> Evaluate(const Numerics& numerics, const ExecContext& ctx,
                            const GatedDeltaRuleArgs& args) {
  GDN_CHECK(numerics.kind != Numerics::Kind::kReference);
  if (numerics.kind == Numerics::Kind::kChunk) return ComputeChunkRef(args, numerics.ablation);
  if (numerics.kind == Numerics::Kind::kRecurrenceF64) {
    const RecurrenceF64 result = ComputeRecurrenceF64(args);
    std::ranges::transform(result.state, args.state.As<float>(),
                           [](double x) { return static_cast<float>(x); });
    return {result.out.begin(), result.out.end()};
  }
  // In f32 throughout: the inputs widened, so that nothing is rounded to D on the way.
  const auto widen = [](const ConstTensor& tensor) {
    std::vector<float> out(static_cast<size_t>(tensor.shape.NumElements()));
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] =
          DispatchFloat(tensor.dtype, [&](auto t) { return ToF32(tensor.As<decltype(t)>()[i]); });
    }
    return out;
  };
  const std::vector<float> q = widen(args.q);
  const std::vector<float> k = widen(args.k);
  const std::vector<float> v = widen(args.v);
  std::vector<float> out(v.size());
  GatedDeltaRuleArgs wide = args;
  wide.q = ConstTensor(q.data(), args.q.shape);
  wide.k = ConstTensor(k.data(), args.k.shape);
  wide.v = ConstTensor(v.data(), args.v.shape);
  wide.out = Tensor(out.data(), args.v.shape);
  RunRecurrentRef(ctx, wide);
  return out;
}

}  // namespace gdn
