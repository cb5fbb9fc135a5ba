// SPDX-License-Identifier: Apache-2.0
#include "model/qwen3_5/random_weights.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/str.h"

namespace gdn::qwen3_5 {
namespace {

constexpr size_t kMaxKeptBytes = size_t{64} << 20;

// Element by element: dtypes may differ.
void CopyValues(const ConstTensor& from, const Tensor& to) {
  DispatchFloat(from.dtype, [&]<class From>(From) {
    DispatchFloat(to.dtype, [&]<class To>(To) {
      for (int64_t i = 0; i < from.shape.NumElements(); ++i) {
        to.As<To>()[i] = FromF32<To>(ToF32(from.As<From>()[i]));
      }
    });
  });
}

}  // namespace

std::string PrefixOf(const ModelConfig& config) {
  const bool wrapper = config.architecture == "Qwen3_5ForConditionalGeneration";
  return wrapper ? "model.language_model." : "model.";
}

ValueDistribution DistributionOf(const TensorSpec& spec, bool tied) {
  const auto unit = static_cast<float>(1 / std::sqrt(static_cast<double>(spec.shape[-1])));
  switch (spec.role) {
    case TensorRole::kEmbedding:
      return tied ? ValueDistribution{0, unit, true} : ValueDistribution{0, 1, false};
    case TensorRole::kHead:
      return {0, unit, true};
    case TensorRole::kLinear:
      return {0, unit, false};
    case TensorRole::kGemmaNorm:
      return {0, 0.2F, false};
    case TensorRole::kGatedNorm:
      return {1, 0.2F, false};
    case TensorRole::kConv:
      return {0, 0.5F, false};
    case TensorRole::kALog:
      return {0.5F, 0.8F, false};
    case TensorRole::kDtBias:
      return {-1, 1, false};
  }
  return {};
}

RandomWeights::RandomWeights(const ModelConfig& config, DType dtype, uint64_t seed,
                             ThreadPool& pool, LoadProgress progress)
    : dtype_(dtype),
      seed_(seed),
      tied_(config.tie_word_embeddings),
      pool_(pool),
      progress_(progress) {
  for (TensorSpec& spec : ListTensors(config, PrefixOf(config))) {
    total_bytes_ += static_cast<size_t>(spec.shape.NumElements()) * SizeOf(dtype);
    specs_.emplace(spec.name, std::move(spec));
  }
}

// A tensor as it would lie in the checkpoint, until the next one is made.
Result<ConstTensor> RandomWeights::Make(const std::string& name) {
  const auto found = specs_.find(name);
  if (found == specs_.end()) return NotFound(StrCat("random weights: no tensor ", Quoted(name)));
  const TensorSpec& spec = found->second;
  const size_t bytes = static_cast<size_t>(spec.shape.NumElements()) * SizeOf(dtype_);
  // Fresh pages cost more than the numbers in them, so memory is kept; but not the embedding's.
  if (made_.size_bytes() < bytes || made_.size_bytes() > std::max(bytes, kMaxKeptBytes)) {
    made_ = Storage();
    GDN_ASSIGN_OR_RETURN(made_, Storage::Allocate(bytes, name.c_str()));
  }
  const Tensor out(made_.data(), dtype_, spec.shape);
  FillTensor(RngOfTensor(seed_, name), DistributionOf(spec, tied_), pool_, out);
  done_bytes_ += bytes;
  progress_(done_bytes_, total_bytes_);
  return ConstTensor(out);
}

// The largest matrix, the embedding, is read first, so that its copy here is no peak of memory.
Result<Weight> RandomWeights::ReadLinear(const std::string& name) {
  GDN_ASSIGN_OR_RETURN(const ConstTensor source, Make(name));
  return Weight::Pack(source, pool_, [](int64_t, int64_t) {});
}

Result<OwnedTensor> RandomWeights::ReadF32(const std::string& name) {
  GDN_ASSIGN_OR_RETURN(const ConstTensor source, Make(name));
  GDN_ASSIGN_OR_RETURN(OwnedTensor out,
                       OwnedTensor::Allocate(DType::kF32, source.shape, name.c_str()));
  CopyValues(source, out.view);
  return out;
}

Result<OwnedTensor> RandomWeights::ReadConv(const std::string& name, DType dtype) {
  GDN_ASSIGN_OR_RETURN(const ConstTensor source, Make(name));
  const Shape shape{source.dim(0), source.dim(2)};
  GDN_ASSIGN_OR_RETURN(OwnedTensor out, OwnedTensor::Allocate(dtype, shape, name.c_str()));
  CopyValues(source, out.view);
  return out;
}

}  // namespace gdn::qwen3_5
