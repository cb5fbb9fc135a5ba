// SPDX-License-Identifier: Apache-2.0
// Seeded random numbers that are the same on every machine and compiler (std's distributions are
// not). For sampling, tests and random checkpoints; not for secrets.
#pragma once

#include <cstdint>

namespace gdn {

// SplitMix64 (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators").
class Rng {
 public:
  explicit Rng(uint64_t seed) : state_(seed) {}

  uint64_t NextU64() {
    uint64_t z = (state_ += kStep);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

  // As NextU64() called count times, in one step.
  void Skip(uint64_t count) { state_ += count * kStep; }

  // Uniform in [0, 1), 53 bits.
  double NextUniform() { return static_cast<double>(NextU64() >> 11) * 0x1p-53; }

  // Uniform in [0, bound), bound >= 1. The bias of the modulo is below 2^-32 for bounds below 2^32.
  uint64_t NextBelow(uint64_t bound) { return NextU64() % bound; }

  // Mean 0, variance 1, bounded by 6: the sum of twelve uniforms less 6. Additions alone, so that
  // no libm decides the bits.
  double NextNormal() {
    double sum = -6.0;
    for (int i = 0; i < 12; ++i) sum += NextUniform();
    return sum;
  }

 private:
  static constexpr uint64_t kStep = 0x9E3779B97F4A7C15;
  uint64_t state_;
};

}  // namespace gdn
