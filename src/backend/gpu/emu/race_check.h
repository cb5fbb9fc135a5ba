// SPDX-License-Identifier: Apache-2.0
// Finds accesses to shared memory that no barrier orders: two of different threads, of which one
// writes, between which neither the block nor, where both are of one, the warp has met.
#pragma once

#include <cstdint>
#include <vector>

namespace gdn::gpu::emu {

// When a thread runs: how often its block and its warp have met.
struct Moment {
  uint32_t thread = 0;
  uint32_t warp = 0;
  uint32_t block_meetings = 0;
  uint32_t warp_meetings = 0;
};

class RaceCheck {
 public:
  static constexpr uint32_t kUnit = 2;  // bytes that are watched as one
  static constexpr uint32_t kNobody = 0xFFFFFFFF;

  void Start(uint32_t bytes) { units_.assign((bytes + kUnit - 1) / kUnit, {}); }

  // The thread whose earlier access is in conflict with this one, or kNobody.
  uint32_t Access(uint32_t offset, uint32_t bytes, bool writes, const Moment& now) {
    for (uint32_t i = offset / kUnit; i * kUnit < offset + bytes; ++i) {
      Unit& unit = units_[i];
      if (InConflict(unit.written, now)) return unit.written.thread;
      if (writes) {
        if (InConflict(unit.read, now)) return unit.read.thread;
        if (InConflict(unit.read_too, now)) return unit.read_too.thread;
        unit.written = now;
        unit.ever_written = true;
      } else if (unit.read.thread == now.thread || !InConflict(unit.read, now)) {
        unit.read = now;
      } else {
        // Two readers that nothing orders; a third would only repeat what these two say.
        unit.read_too = now;
      }
    }
    return kNobody;
  }
  bool IsWritten(uint32_t offset) const { return units_[offset / kUnit].ever_written; }

 private:
  struct Unit {
    Moment written{kNobody};
    Moment read{kNobody};
    Moment read_too{kNobody};
    bool ever_written = false;
  };

  static bool InConflict(const Moment& before, const Moment& now) {
    if (before.thread == kNobody || before.thread == now.thread) return false;
    if (before.block_meetings < now.block_meetings) return false;
    return before.warp != now.warp || before.warp_meetings >= now.warp_meetings;
  }

  std::vector<Unit> units_;
};

}  // namespace gdn::gpu::emu
