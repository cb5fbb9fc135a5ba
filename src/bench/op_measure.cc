// SPDX-License-Identifier: Apache-2.0
#include "bench/op_measure.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "base/str.h"

namespace gdn {
namespace {

// A repetition of short calls lasts at least this long: the clock and the start of the threads
// are then no part of it.
constexpr double kMinSeconds = 0.01;
constexpr int64_t kMaxCalls = 100'000;
// What is written down for a device is kept, and has a cost of its own.
constexpr int64_t kMaxDeviceCalls = 256;
// More than the caches of nearly every device hold. Shaders need not see more than 128 MiB at once.
constexpr size_t kDeviceColdBytes = size_t{512} << 20;
constexpr size_t kVulkanColdBytes = size_t{64} << 20;

// Kernel and reference add in other orders and have other exps, so last bits differ. The largest
// NMSE of all operators, forms, dtypes and presets: 1.5e-9 in 16 bits, 1e-13 in f32 (AVX2 and SSE4,
// November 2026). One wrong element of the small instances is 1e-6 and more.
constexpr double kMaxNmse16 = 1e-7;
constexpr double kMaxNmse32 = 1e-12;

struct Ready {
  OpCase op;
  ExecContext ctx;
};

Result<Ready> Prepare(const OpKind& kind, const OpDims& dims, size_t cold_bytes, Workbench& bench) {
  auto inputs = std::make_shared<OpInputs>(bench.pool(), bench.backend(), cold_bytes);
  Ready out{.op = kind.make(dims, bench.num_threads(), *inputs)};
  GDN_RETURN_IF_ERROR(inputs->status());
  out.op.inputs = std::move(inputs);
  GDN_ASSIGN_OR_RETURN(out.ctx, bench.Context(bench.device().type == DeviceType::kCpu
                                                  ? out.op.scratch_bytes
                                                  : out.op.device_scratch_bytes));
  out.ctx.kernel_log = nullptr;
  return out;
}

// An f32 state of an operator that rounds to 16 bits on the way is as near as its 16-bit outputs.
bool Rounds16(const std::vector<ConstTensor>& outputs) {
  return std::ranges::any_of(outputs, [](const ConstTensor& t) {
    return t.dtype == DType::kBf16 || t.dtype == DType::kF16;
  });
}

bool IsClose(const Distance& d, DType dtype, bool rounds_16) {
  if (dtype == DType::kI32) return d.differ == 0;
  const double most = rounds_16 ? kMaxNmse16 : kMaxNmse32;
  return std::isfinite(d.nmse) && d.nmse <= most;
}

template <class F>
Result<double> Seconds(const F& body) {
  const auto start = std::chrono::steady_clock::now();
  GDN_RETURN_IF_ERROR(body());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Calls in a row, each with the next copy of the inputs.
class Caller {
 public:
  Caller(const Ready& ready, Workbench& bench) : ready_(ready), bench_(bench) {}

  Result<double> SecondsOf(int64_t calls) {
    return Seconds([&]() -> Status {
      for (int64_t i = 0; i < calls; ++i) {
        GDN_RETURN_IF_ERROR(ready_.op.run(ready_.ctx, next_copy_));
        next_copy_ = (next_copy_ + 1) % ready_.op.num_copies;
      }
      return bench_.Finish(OkStatus());
    });
  }
  // Begins with the first copy again: a device knows the same work and runs it as a graph.
  Result<double> SecondsFromFirst(int64_t calls) {
    next_copy_ = 0;
    return SecondsOf(calls);
  }

 private:
  const Ready& ready_;
  Workbench& bench_;
  int64_t next_copy_ = 0;
};

// Copies of the outputs, on the host.
Result<std::vector<OwnedTensor>> OutputsOf(const Ready& ready, Workbench& bench) {
  std::vector<OwnedTensor> out;
  for (const ConstTensor& tensor : ready.op.outputs) {
    GDN_ASSIGN_OR_RETURN(OwnedTensor copy,
                         OwnedTensor::Allocate(tensor.dtype, tensor.shape, "an operator's output"));
    GDN_RETURN_IF_ERROR(
        bench.backend().Read(copy.view.data, tensor.data, copy.storage.size_bytes()));
    out.push_back(std::move(copy));
  }
  return out;
}

std::string KernelsOf(const KernelLog& log) {
  std::string out;
  for (const KernelLog::Entry& entry : log.entries()) {
    out += (out.empty() ? "" : ", ") + std::string(entry.kernel);
  }
  return out;
}

}  // namespace

Status CheckOp(const OpKind& kind, const OpDims& dims, Workbench& bench) {
  const OpDims small = SmallDims(dims);
  GDN_ASSIGN_OR_RETURN(const Ready got, Prepare(kind, small, /*cold_bytes=*/0, bench));
  GDN_RETURN_IF_ERROR(bench.Finish(got.op.run(got.ctx, 0)));
  GDN_ASSIGN_OR_RETURN(const std::vector<OwnedTensor> outputs, OutputsOf(got, bench));
  Workbench on_cpu("ref", bench.num_threads());
  GDN_ASSIGN_OR_RETURN(Ready want, Prepare(kind, small, /*cold_bytes=*/0, on_cpu));
  GDN_RETURN_IF_ERROR(want.op.run(want.ctx, 0));
  for (size_t i = 0; i < want.op.outputs.size(); ++i) {
    const Distance distance = Compare(outputs[i].view, want.op.outputs[i]);
    if (IsClose(distance, want.op.outputs[i].dtype, Rounds16(want.op.outputs))) continue;
    std::array<char, 32> nmse{};
    std::snprintf(nmse.data(), nmse.size(), "%.2e", distance.nmse);
    return Internal(StrCat(kind.name, " ", got.op.shape, ": output ", i,
                           " is not the reference's: ", distance.differ, " of ", distance.elements,
                           " differ, nmse ", nmse.data()));
  }
  return OkStatus();
}

Result<OpResult> MeasureOp(const OpKind& kind, const OpDims& dims, int repetitions,
                           Workbench& bench, MachineProbe& probe) {
  GDN_CHECK(repetitions >= 1);
  GDN_ASSIGN_OR_RETURN(Ready ready, Prepare(kind, dims, probe.cold_bytes(), bench));
  KernelLog log;
  ready.ctx.kernel_log = &log;
  Caller caller(ready, bench);
  GDN_RETURN_IF_ERROR(caller.SecondsOf(1).status());  // first touches and wake-ups
  GDN_ASSIGN_OR_RETURN(const double one, caller.SecondsOf(1));
  const int64_t calls =
      std::clamp(static_cast<int64_t>(std::ceil(kMinSeconds / one)), int64_t{1}, kMaxCalls);
  std::vector<double> ms, of_peak, of_read, peaks, reads;
  MachineSpeed before = probe.Measure();
  for (int i = 0; i < repetitions; ++i) {
    GDN_ASSIGN_OR_RETURN(const double all, caller.SecondsOf(calls));
    const double seconds = all / static_cast<double>(calls);
    const MachineSpeed after = probe.Measure();
    const MachineSpeed machine = Better(before, after);
    before = after;
    ms.push_back(seconds * 1e3);
    of_peak.push_back(100e-9 * ready.op.flops / seconds / machine.peak_gflops);
    of_read.push_back(100e-9 * ready.op.bytes / seconds / machine.read_gbytes);
    peaks.push_back(machine.peak_gflops);
    reads.push_back(machine.read_gbytes);
  }
  OpResult out{.name = kind.name, .shape = ready.op.shape, .ms = Summarize(ms), .calls = calls};
  out.kernel = KernelsOf(log);
  out.gflops = 1e-6 * ready.op.flops / out.ms.median;
  out.gbytes = 1e-6 * ready.op.bytes / out.ms.median;
  out.pct_peak = Median(of_peak);
  out.pct_bw = Median(of_read);
  out.machine = {Median(peaks), Median(reads)};
  return out;
}

Result<OpResult> MeasureOpOnDevice(const OpKind& kind, const OpDims& dims, int repetitions,
                                   Workbench& bench, double copy_gbytes) {
  GDN_CHECK(repetitions >= 1);
  const size_t cold_bytes =
      bench.device().type == DeviceType::kVulkan ? kVulkanColdBytes : kDeviceColdBytes;
  GDN_ASSIGN_OR_RETURN(Ready ready, Prepare(kind, dims, cold_bytes, bench));
  KernelLog log;
  ready.ctx.kernel_log = &log;
  Caller caller(ready, bench);
  GDN_RETURN_IF_ERROR(caller.SecondsFromFirst(1).status());  // kernels are loaded or compiled
  GDN_ASSIGN_OR_RETURN(const double one, caller.SecondsOf(1));
  const int64_t calls =
      std::clamp(static_cast<int64_t>(std::ceil(kMinSeconds / one)), int64_t{1}, kMaxDeviceCalls);
  for (int i = 0; i < 2; ++i) {  // is run, then made a graph
    GDN_RETURN_IF_ERROR(caller.SecondsFromFirst(calls).status());
  }
  std::vector<double> ms;
  for (int i = 0; i < repetitions; ++i) {
    GDN_ASSIGN_OR_RETURN(const double all, caller.SecondsFromFirst(calls));
    ms.push_back(1e3 * all / static_cast<double>(calls));
  }
  OpResult out{.name = kind.name, .shape = ready.op.shape, .ms = Summarize(ms), .calls = calls};
  out.kernel = KernelsOf(log);
  out.gflops = 1e-6 * ready.op.flops / out.ms.median;
  out.gbytes = 1e-6 * ready.op.bytes / out.ms.median;
  out.pct_bw = 100 * out.gbytes / copy_gbytes;
  out.machine.read_gbytes = copy_gbytes;
  return out;
}

}  // namespace gdn
