// SPDX-License-Identifier: Apache-2.0
// The dialect of kernels on the emulation; see ../port.h. GDN_GPU_WARP is 32 or 64.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "backend/gpu/emu/emulator.h"
#include "backend/gpu/kernel.h"

#define GDN_DEVICE inline
#define GDN_GLOBAL(threads) inline
#define GDN_GLOBAL_BLOCKS(threads, blocks) inline
#define GDN_UNROLL

namespace gdn::GDN_GPU_NAMESPACE {

namespace emu = gpu::emu;
using emu::Where;

constexpr uint32_t kWarpSize = GDN_GPU_WARP;

inline uint32_t ThreadIndex() { return emu::ThreadIndex(); }
inline uint32_t BlockThreads() { return emu::BlockThreads(); }
inline uint32_t BlockX() { return emu::BlockIndex().x; }
inline uint32_t BlockY() { return emu::BlockIndex().y; }
inline uint32_t BlockZ() { return emu::BlockIndex().z; }
inline uint32_t GridX() { return emu::GridSize().x; }
inline uint32_t GridY() { return emu::GridSize().y; }

inline void Barrier(Where where = Where::Here()) { emu::Barrier(where); }
inline void WarpBarrier(Where where = Where::Here()) { emu::WarpBarrier(where); }

template <class T>
T Shuffle(T value, uint32_t lane, Where where = Where::Here()) {
  const emu::Exchange exchange(&value, sizeof value, where);
  std::memcpy(&value, exchange.Of(lane), sizeof value);
  return value;
}
template <class T>
T ShuffleXor(T value, uint32_t mask, Where where = Where::Here()) {
  return Shuffle(value, emu::ThreadIndex() % kWarpSize ^ mask, where);
}

inline float Fma(float a, float b, float c) { return std::fma(a, b, c); }
inline float Sqrt(float x) { return std::sqrt(x); }
inline float RoundEven(float x) { return std::nearbyint(x); }
inline uint32_t BitsOf(float x) { return std::bit_cast<uint32_t>(x); }
inline float FloatOf(uint32_t bits) { return std::bit_cast<float>(bits); }

// An element of shared memory: reads and writes are checked.
template <class T>
class SharedElement {
 public:
  SharedElement(T* data, uint32_t offset, Where where)
      : data_(data), offset_(offset), where_(where) {}
  SharedElement(const SharedElement&) = default;
  operator std::remove_const_t<T>() const {  // NOLINT(google-explicit-constructor): as a T does
    emu::OnShared(offset_, sizeof(T), false, where_);
    return *data_;
  }
  SharedElement& operator=(const std::remove_const_t<T>& value) {
    emu::OnShared(offset_, sizeof(T), true, where_);
    *data_ = value;
    return *this;
  }
  // Of one element to another; to itself it is a reading and a writing like any other.
  SharedElement& operator=(
      const SharedElement& other) {  // NOLINT(bugprone-unhandled-self-assignment)
    return *this = static_cast<std::remove_const_t<T>>(other);
  }
  SharedElement& operator+=(const T& value) {
    return *this = static_cast<std::remove_const_t<T>>(*this) + value;
  }

 private:
  T* data_;
  uint32_t offset_;
  Where where_;
};

// Elements of shared memory, of a thread's view of them. Indices are checked.
template <class T>
class SharedArray {
 public:
  struct Index {
    uint32_t value;
    Where where;
    template <class I>
    Index(I i, Where at = Where::Here())  // NOLINT(google-explicit-constructor)
        : value(static_cast<uint32_t>(i)), where(at) {}
  };

  SharedArray(uint32_t offset, uint32_t size) : offset_(offset), size_(size) {}

  SharedElement<T> operator[](Index i) const {
    if (i.value >= size_) emu::Fail("index in shared memory", i.value, size_, i.where);
    const uint32_t at = offset_ + i.value * static_cast<uint32_t>(sizeof(T));
    return {reinterpret_cast<T*>(emu::SharedBase() + at), at, i.where};
  }
  SharedArray operator+(Index i) const {
    if (i.value > size_) emu::Fail("offset in shared memory", i.value, size_, i.where);
    return {offset_ + i.value * static_cast<uint32_t>(sizeof(T)), size_ - i.value};
  }
  uint32_t offset() const { return offset_; }
  uint32_t size() const { return size_; }

 private:
  uint32_t offset_;
  uint32_t size_;
};

// Two elements of 16 bits, at an even index.
template <class T>
uint32_t LoadPair(const SharedArray<T>& array, uint32_t i, Where where = Where::Here()) {
  static_assert(sizeof(T) == 2);
  if (i % 2 != 0 || i + 1 >= array.size()) {
    emu::Fail("pair in shared memory", i, array.size(), where);
  }
  emu::OnShared(array.offset() + i * 2, 4, false, where);
  uint32_t pair = 0;
  std::memcpy(&pair, emu::SharedBase() + array.offset() + i * 2, sizeof pair);
  return pair;
}

template <class T>
void StorePair(const SharedArray<T>& array, uint32_t i, uint32_t pair,
               Where where = Where::Here()) {
  static_assert(sizeof(T) == 2);
  if (i % 2 != 0 || i + 1 >= array.size()) {
    emu::Fail("pair in shared memory", i, array.size(), where);
  }
  emu::OnShared(array.offset() + i * 2, 4, true, where);
  std::memcpy(emu::SharedBase() + array.offset() + i * 2, &pair, sizeof pair);
}

class SharedMemory {
 public:
  template <class T>
  SharedArray<T> Take(uint32_t count, Where where = Where::Here()) {
    const uint32_t bytes = count * static_cast<uint32_t>(sizeof(T));
    return {emu::TakeShared(bytes, taken_, where), count};
  }

 private:
  uint32_t taken_ = 0;
};

template <class Params, void (*kKernel)(Params)>
constexpr gpu::KernelEntry MakeEntry() {
  return {nullptr, [](const void* params) { kKernel(*static_cast<const Params*>(params)); },
          sizeof(Params)};
}

}  // namespace gdn::GDN_GPU_NAMESPACE
