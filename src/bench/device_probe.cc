// SPDX-License-Identifier: Apache-2.0
#include "bench/device_probe.h"

#include <algorithm>
#include <chrono>

namespace gdn {
namespace {

constexpr size_t kBlockBytes = size_t{128} << 20;
constexpr int kCopies = 4;
constexpr int kSamples = 3;

}  // namespace

Result<double> MeasureCopyGbytes(Backend& backend) {
  constexpr const char* kPurpose = "the probe of the memory's speed";
  GDN_ASSIGN_OR_RETURN(const Storage from, backend.memory().Allocate(kBlockBytes, kPurpose));
  GDN_ASSIGN_OR_RETURN(const Storage to, backend.memory().Allocate(kBlockBytes, kPurpose));
  backend.Copy(to.data(), from.data(), kBlockBytes);
  GDN_RETURN_IF_ERROR(backend.Finish());
  double best = 0;
  for (int sample = 0; sample < kSamples; ++sample) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kCopies; ++i) backend.Copy(to.data(), from.data(), kBlockBytes);
    GDN_RETURN_IF_ERROR(backend.Finish());
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = std::max(best, 2e-9 * kCopies * static_cast<double>(kBlockBytes) / seconds);
  }
  return best;
}

}  // namespace gdn
