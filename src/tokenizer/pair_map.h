// SPDX-License-Identifier: Apache-2.0
// A hash map from 64-bit keys to 32-bit values with open addressing: merges are looked up once a
// symbol, which is the inner loop of encoding, and a vocabulary has a quarter of a million.
#pragma once

#include <cstdint>
#include <vector>

namespace gdn {

class PairMap {
 public:
  static constexpr uint32_t kMissing = UINT32_MAX;

  PairMap() : PairMap(0) {}
  explicit PairMap(size_t expected) {
    size_t capacity = 16;
    while (capacity < expected * 2) capacity *= 2;
    slots_.resize(capacity);
  }

  static uint64_t Key(uint32_t high, uint32_t low) {
    return (static_cast<uint64_t>(high) << 32) | low;
  }

  // key is not UINT64_MAX, value not kMissing. Replaces an earlier value.
  void Insert(uint64_t key, uint32_t value) {
    if ((size_ + 1) * 2 > slots_.size()) Grow();
    Slot& slot = slots_[FindSlot(key)];
    if (slot.value == kMissing) ++size_;
    slot = {key, value};
  }

  uint32_t Find(uint64_t key) const { return slots_[FindSlot(key)].value; }

 private:
  struct Slot {
    uint64_t key = UINT64_MAX;
    uint32_t value = kMissing;
  };

  size_t FindSlot(uint64_t key) const {
    const size_t mask = slots_.size() - 1;
    uint64_t hash = (key ^ (key >> 32)) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 29;
    size_t at = hash & mask;
    while (slots_[at].value != kMissing && slots_[at].key != key) at = (at + 1) & mask;
    return at;
  }

  void Grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.value != kMissing) slots_[FindSlot(slot.key)] = slot;
    }
  }

  std::vector<Slot> slots_;
  size_t size_ = 0;
};

}  // namespace gdn
