// SPDX-License-Identifier: Apache-2.0
// Finds accesses to shared memory that no barrier orders: two of different threads, of which one
// writes, between which neither the block nor, where both are of one, the warp has met.
#pragma once

#include <cstdint>
#include <vector>

namespace gdn::gpu::emu {

// When a thread runs: how often its block and its warp have met.
struct Moment {
  uint32_t block_meetings = 0;
  uint32_t warp_meetings = 0;
  uint16_t thread = 0;
  uint16_t warp = 0;
};

class RaceCheck {
 public:
  static constexpr uint32_t kUnit = 2;  // bytes that are watched as one
  static constexpr uint32_t kNobody = 0xFFFFFFFF;

  // Of a block that begins. Counts of meetings go on from those of the block before, so that what
  // is remembered of it is old, and need not be cleared.
  void Start(uint32_t bytes, uint32_t meetings_before) {
    first_ += meetings_before + 1;
    if (units_.size() * kUnit < bytes) units_.resize((bytes + kUnit - 1) / kUnit);
    if (first_ > 0x40000000U) {
      units_.assign(units_.size(), {});
      first_ = 1;
    }
  }
  // What a block's count of meetings is here.
  uint32_t Meetings(uint32_t count) const { return first_ + count; }

  // The thread whose earlier access is in conflict with this one, or kNobody.
  uint32_t Access(uint32_t offset, uint32_t bytes, bool writes, const Moment& now) {
    for (uint32_t i = offset / kUnit; i * kUnit < offset + bytes; ++i) {
      Unit& unit = units_[i];
      if (InConflict(unit.written, now)) return unit.written.thread;
      if (writes) {
        if (InConflict(unit.read, now)) return unit.read.thread;
        if (InConflict(unit.read_too, now)) return unit.read_too.thread;
        unit.written = now;
      } else if (unit.read.thread == now.thread || !InConflict(unit.read, now)) {
        unit.read = now;
      } else {
        // Two readers that nothing orders; a third would only repeat what these two say.
        unit.read_too = now;
      }
    }
    return kNobody;
  }
  bool IsWritten(uint32_t offset) const {
    return units_[offset / kUnit].written.block_meetings >= first_;
  }

 private:
  struct Unit {
    Moment written;
    Moment read;
    Moment read_too;
  };

  bool InConflict(const Moment& before, const Moment& now) const {
    if (before.block_meetings < now.block_meetings || before.thread == now.thread) return false;
    return before.warp != now.warp || before.warp_meetings >= now.warp_meetings;
  }

  std::vector<Unit> units_;
  uint32_t first_ = 0;  // no block's count is below it
};

}  // namespace gdn::gpu::emu
