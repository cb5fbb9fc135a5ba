// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/emu/emulator.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "backend/gpu/emu/fiber.h"
#include "backend/gpu/emu/race_check.h"
#include "base/check.h"
#include "base/str.h"

namespace gdn::gpu::emu {
namespace {

// What shared memory holds before it is written: a NaN in every format.
constexpr int kPoison = 0xFF;
constexpr uint32_t kMaxWarp = 64;

// A place where threads wait for each other.
struct Meeting {
  uint32_t count = 0;  // that have been
  uint32_t arrived = 0;
  uint32_t members = 0;  // that still run
  Where where;

  void Complete() {
    arrived = 0;
    ++count;
  }
};

struct Warp {
  Meeting barrier;
  Meeting exchange;
  std::array<std::array<std::byte, size_t{kMaxWarp} * kExchangeBytes>, 2> slots;
  std::array<uint64_t, 2> given = {0, 0};  // which lanes have
};

struct Thread {
  Fiber fiber;
  uint32_t index = 0;
  Warp* warp = nullptr;
  const Meeting* waits_for = nullptr;
  uint32_t waits_from = 0;
  bool is_done = false;

  bool CanRun() const {
    return !is_done && (waits_for == nullptr || waits_for->count != waits_from);
  }
};

std::string Describe(const Where& where) {
  std::string file = where.file;
  if (const size_t slash = file.rfind('/'); slash != std::string::npos) file.erase(0, slash + 1);
  return StrCat(file, ":", where.line);
}

// One block at a time, on one thread of the host.
class Block {
 public:
  // False where there is no memory for it.
  bool Prepare(const Launch& launch, const Options& options);
  void Run(const Grid& index);

  // For the fibers.
  void Wait(Meeting& meeting, Where where, const char* name);
  // Ends the block with the rule that was broken, in error. The fiber never goes on, so that
  // nothing on its stack may own memory: error is made by a statement of its own before.
  [[noreturn]] void Stop(Where where);
  std::string error;
  [[noreturn]] void ThreadMain();

  Thread* current = nullptr;
  Meeting barrier;
  Grid index;
  const Launch* launch = nullptr;
  const Options* options = nullptr;
  std::vector<std::byte> shared;
  RaceCheck races;

  Moment Now() const {
    return {races.Meetings(barrier.count), current->warp->barrier.count,
            static_cast<uint16_t>(current->index),
            static_cast<uint16_t>(current->index / options->warp_size)};
  }

 private:
  void Start();
  // To the next thread that can run, or back to the host when none is left.
  void RunNext();
  std::string DescribeWaiting() const;
  void DescribePlace(Where where);

  FiberStacks stacks_;
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::vector<uint32_t> order_;     // threads in the order in which they run
  std::vector<uint32_t> position_;  // of each thread in it
  uint32_t num_running_ = 0;
  Fiber host_;
};

thread_local Block* block = nullptr;

bool Block::Prepare(const Launch& a_launch, const Options& an_options) {
  launch = &a_launch;
  options = &an_options;
  const uint32_t n = a_launch.threads;
  if (threads_.size() != n) threads_ = std::vector<Thread>(n);
  warps_.resize(n / an_options.warp_size);
  order_.resize(n);
  position_.resize(n);
  std::iota(order_.begin(), order_.end(), 0U);
  if (an_options.order == Options::Order::kReversed) std::ranges::reverse(order_);
  return stacks_.Reserve(n);
}

void Block::Start() {
  const uint32_t n = launch->threads;
  if (options->order == Options::Order::kShuffled) {
    std::mt19937 random(options->seed + index.x * 7919U + index.y * 104729U + index.z);
    std::ranges::shuffle(order_, random);
  }
  for (uint32_t i = 0; i < n; ++i) position_[order_[i]] = i;
  for (Warp& warp : warps_) {
    warp.barrier = {.members = options->warp_size};
    warp.exchange = {.members = options->warp_size};
    warp.given = {0, 0};
  }
  const uint32_t meetings_before = barrier.count;
  barrier = {.members = n};
  num_running_ = n;
  shared.assign(launch->shared_bytes, static_cast<std::byte>(kPoison));
  if (options->check_races) races.Start(launch->shared_bytes, meetings_before);
  error.clear();
  for (uint32_t i = 0; i < n; ++i) {
    Thread& thread = threads_[i];
    thread.index = i;
    thread.warp = &warps_[i / options->warp_size];
    thread.waits_for = nullptr;
    thread.is_done = false;
    // Frames of all fibers at one offset would share the sets of the cache.
    const size_t stagger = i % 16 * 256;
    thread.fiber.Prepare(stacks_.Bottom(i), FiberStacks::kStackBytes - stagger, [] {
      Fiber::OnEntry();
      block->ThreadMain();
    });
  }
}

void Block::Run(const Grid& an_index) {
  index = an_index;
  Start();
  block = this;
  current = &threads_[order_[0]];
  host_.SwitchTo(current->fiber);
  block = nullptr;
}

void Block::ThreadMain() {
  launch->run(launch->params);
  Thread& self = *current;
  self.is_done = true;
  --num_running_;
  // Those who wait no longer wait for this one.
  for (Meeting* meeting : {&self.warp->barrier, &self.warp->exchange, &barrier}) {
    --meeting->members;
    if (meeting->members > 0 && meeting->arrived == meeting->members) meeting->Complete();
  }
  RunNext();
  std::abort();  // nobody goes on here
}

void Block::RunNext() {
  Thread& self = *current;
  const auto n = static_cast<uint32_t>(threads_.size());
  for (uint32_t k = 1, i = position_[self.index]; k <= n; ++k) {
    i = i + 1 == n ? 0 : i + 1;
    Thread& next = threads_[order_[i]];
    if (!next.CanRun()) continue;
    if (&next == &self) return;
    current = &next;
    self.fiber.SwitchTo(next.fiber, self.is_done);
    return;
  }
  if (num_running_ > 0) {
    error = StrCat("deadlock: ", DescribeWaiting());
    Stop({});
  }
  self.fiber.SwitchTo(host_, true);
}

std::string Block::DescribeWaiting() const {
  std::string out;
  std::vector<std::string> places;
  for (const Thread& thread : threads_) {
    if (thread.is_done || thread.waits_for == nullptr) continue;
    const std::string place = Describe(thread.waits_for->where);
    if (std::ranges::find(places, place) != places.end()) continue;
    places.push_back(place);
    StrAppend(out, StrCat(out.empty() ? "" : ", ", "thread ", thread.index, " waits at ", place));
  }
  return out;
}

void Block::Wait(Meeting& meeting, Where where, const char* name) {
  if (meeting.arrived == 0) {
    meeting.where = where;
  } else if (meeting.where.line != where.line || std::strcmp(meeting.where.file, where.file) != 0) {
    error = StrCat(name, ": others of it wait at ", Describe(meeting.where));
    Stop(where);
  }
  if (++meeting.arrived == meeting.members) {
    meeting.Complete();
    return;
  }
  current->waits_for = &meeting;
  current->waits_from = meeting.count;
  RunNext();
  current->waits_for = nullptr;
}

void Block::Stop(Where where) {
  DescribePlace(where);
  current->fiber.SwitchTo(host_, true);
  std::abort();  // nobody goes on here
}

void Block::DescribePlace(Where where) {
  if (where.line != 0) StrAppend(error, StrCat(" at ", Describe(where)));
  error = StrCat(launch->name, ": ", error, " (block ", index.x, ",", index.y, ",", index.z,
                 " thread ", current->index, ")");
}

}  // namespace

Status Run(const Launch& launch, const Options& options, ThreadPool& pool) {
  GDN_CHECK(options.warp_size == 32 || options.warp_size == 64);
  if (launch.threads == 0 || launch.threads > 1024 || launch.threads % options.warp_size != 0) {
    return Internal(StrCat(launch.name, ": ", launch.threads, " threads are no number of warps of ",
                           options.warp_size));
  }
  std::mutex mutex;
  std::string error;
  std::atomic<bool> failed = false;
  const uint64_t count = uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
  // Blocks in runs, so that a task is worth its start.
  constexpr uint64_t kRun = 4;
  pool.Run(static_cast<int64_t>((count + kRun - 1) / kRun), [&](int64_t run, int /*worker*/) {
    static thread_local Block own;
    std::string found;
    if (!own.Prepare(launch, options)) found = StrCat(launch.name, ": no memory for its threads");
    const uint64_t last = std::min(count, (static_cast<uint64_t>(run) + 1) * kRun);
    for (uint64_t i = static_cast<uint64_t>(run) * kRun; i < last && found.empty(); ++i) {
      if (failed.load(std::memory_order_relaxed)) return;
      own.Run({static_cast<uint32_t>(i % launch.grid.x),
               static_cast<uint32_t>(i / launch.grid.x % launch.grid.y),
               static_cast<uint32_t>(i / launch.grid.x / launch.grid.y)});
      found = own.error;
    }
    if (found.empty()) return;
    const std::lock_guard lock(mutex);
    if (!failed.exchange(true)) error = found;
  });
  return failed ? Internal(error) : OkStatus();
}

uint32_t ThreadIndex() { return block->current->index; }
Grid BlockIndex() { return block->index; }
Grid GridSize() { return block->launch->grid; }
uint32_t BlockThreads() { return block->launch->threads; }

void Barrier(Where where) { block->Wait(block->barrier, where, "barrier of the block"); }
void WarpBarrier(Where where) {
  block->Wait(block->current->warp->barrier, where, "barrier of the warp");
}

Exchange::Exchange(const void* data, uint32_t bytes, Where where,
                   void (*together)(std::byte* slots))
    : where_(where) {
  static_assert(sizeof(uint64_t) * 8 == kMaxWarp);
  Block& own = *block;
  Warp& warp = *own.current->warp;
  // Those who are still reading what the last exchange brought are at most one exchange behind.
  half_ = warp.exchange.count % 2;
  const uint32_t lane = own.current->index % own.options->warp_size;
  std::memcpy(&warp.slots[half_][size_t{lane} * kExchangeBytes], data, bytes);
  if (warp.exchange.arrived == 0) warp.given[half_] = 0;
  warp.given[half_] |= uint64_t{1} << lane;
  if (together != nullptr && warp.exchange.arrived + 1 == own.options->warp_size) {
    together(warp.slots[half_].data());
  }
  own.Wait(warp.exchange, where, "exchange of the warp");
  const auto num_given = static_cast<uint32_t>(std::popcount(warp.given[half_]));
  if (together != nullptr && num_given < own.options->warp_size) {
    Fail("lanes of the warp have ended", num_given, own.options->warp_size, where);
  }
}

const void* Exchange::Of(uint32_t lane) const {
  const Warp& warp = *block->current->warp;
  if (lane >= block->options->warp_size) {
    Fail("lane is outside of the warp", lane, block->options->warp_size, where_);
  }
  if ((warp.given[half_] >> lane & 1) == 0) Fail("lane has ended", lane, 0, where_);
  return &warp.slots[half_][size_t{lane} * kExchangeBytes];
}

uint32_t TakeShared(uint32_t bytes, uint32_t& taken, Where where) {
  const uint32_t offset = taken;
  taken += (bytes + 15) / 16 * 16;
  if (offset + bytes > block->shared.size()) {
    Fail("shared memory is used up", offset + bytes, static_cast<int64_t>(block->shared.size()),
         where);
  }
  return offset;
}

std::byte* SharedBase() { return block->shared.data(); }

void OnShared(uint32_t offset, uint32_t bytes, bool writes, Where where) {
  Block& own = *block;
  if (!own.options->check_races) return;
  if (!writes && !own.races.IsWritten(offset)) {
    own.error = "shared memory is read that nothing has written";
    own.Stop(where);
  }
  const uint32_t other = own.races.Access(offset, bytes, writes, own.Now());
  if (other == RaceCheck::kNobody) return;
  own.error = StrCat("race: shared memory is ", writes ? "written" : "read",
                     " while no barrier orders that with an access of thread ", other);
  own.Stop(where);
}

void Fail(const char* what, int64_t value, int64_t bound, Where where) {
  block->error = StrCat(what, ": ", value, " of ", bound);
  block->Stop(where);
}

}  // namespace gdn::gpu::emu
