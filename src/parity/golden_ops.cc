// SPDX-License-Identifier: Apache-2.0
#include "parity/golden_ops.h"

#include <cstring>
#include <limits>
#include <utility>

#include "base/copy_bytes.h"
#include "base/half.h"
#include "base/str.h"

namespace gdn {

Result<OwnedTensor> NewTensor(DType dtype, const Shape& shape, MemorySource& memory) {
  return OwnedTensor::Allocate(dtype, shape, "a tensor of a golden case", memory);
}

Result<OwnedTensor> CopyOf(const ConstTensor& tensor, MemorySource& memory) {
  GDN_ASSIGN_OR_RETURN(OwnedTensor out, NewTensor(tensor.dtype, tensor.shape, memory));
  const auto bytes = static_cast<size_t>(tensor.shape.NumElements()) * SizeOf(tensor.dtype);
  CopyBytes(out.view.data, tensor.data, bytes);
  return out;
}

Result<OwnedTensor> ToF32(const ConstTensor& tensor, MemorySource& memory) {
  GDN_ASSIGN_OR_RETURN(OwnedTensor out, NewTensor(DType::kF32, tensor.shape, memory));
  for (int64_t i = 0; i < tensor.shape.NumElements(); ++i) {
    out.view.As<float>()[i] =
        DispatchFloat(tensor.dtype, [&](auto t) { return ToF32(tensor.As<decltype(t)>()[i]); });
  }
  return out;
}

void AddOutput(Outputs& outputs, const char* name, OwnedTensor tensor) {
  outputs.push_back({.name = name, .golden = name, .tensor = std::move(tensor)});
}

Result<std::vector<uint8_t>> WithInitialState(const GoldenCase& golden, size_t num_seqs) {
  const auto found = golden.args().find("with_initial_state");
  if (found == golden.args().end() || found->is_null()) {
    return std::vector<uint8_t>(num_seqs, golden.Has("state_in") ? 1 : 0);
  }
  if (found->is_boolean()) {
    return std::vector<uint8_t>(num_seqs, found->get<bool>() ? 1 : 0);
  }
  std::vector<uint8_t> out;
  for (const auto& entry : *found) {
    if (entry.is_boolean()) out.push_back(entry.get<bool>() ? 1 : 0);
  }
  if (!found->is_array() || out.size() != num_seqs || found->size() != num_seqs) {
    return golden.Error(
        StrCat("args.with_initial_state is no bool and no list of ", num_seqs, " of them"));
  }
  return out;
}

Result<OwnedTensor> PoolFrom(const ConstTensor& state, DType dtype, MemorySource& memory) {
  Shape shape{state.dim(0) + 1};
  for (int axis = 1; axis < state.shape.rank(); ++axis) shape.Append(state.dim(axis));
  GDN_ASSIGN_OR_RETURN(OwnedTensor pool, NewTensor(dtype, shape, memory));
  const int64_t slot_size = pool.view.stride(0);
  for (int64_t i = 0; i < pool.view.shape.NumElements(); ++i) {
    const float value = i < slot_size ? std::numeric_limits<float>::quiet_NaN()
                                      : DispatchFloat(state.dtype, [&](auto t) {
                                          return ToF32(state.As<decltype(t)>()[i - slot_size]);
                                        });
    DispatchFloat(dtype,
                  [&](auto t) { pool.view.As<decltype(t)>()[i] = FromF32<decltype(t)>(value); });
  }
  return pool;
}

Result<float> ScaleOf(const GoldenCase& golden) {
  GDN_ASSIGN_OR_RETURN(const double scale, golden.NumberArg("scale"));
  return static_cast<float>(scale);
}

Result<size_t> WordOf(const GoldenCase& golden, const char* arg,
                      std::initializer_list<const char*> words) {
  GDN_ASSIGN_OR_RETURN(const std::string word, golden.WordArg(arg, *words.begin()));
  std::string list;
  for (size_t i = 0; i < words.size(); ++i) {
    if (word == words.begin()[i]) return i;
    list += StrCat(i == 0 ? "" : ", ", words.begin()[i]);
  }
  return golden.Error(StrCat("args.", arg, " is ", Quoted(word), ", want one of ", list));
}

}  // namespace gdn
