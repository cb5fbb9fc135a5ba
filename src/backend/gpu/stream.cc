// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/stream.h"

#include <algorithm>

#include "base/check.h"
#include "base/str.h"

namespace gdn::gpu {
namespace {

constexpr size_t kPageBytes = size_t{256} << 10;
constexpr size_t kUploadAlignment = 256;
// Steps that are remembered: one for each number of sequences that decode in turn.
constexpr size_t kMaxSteps = 16;

}  // namespace

bool Work::operator==(const Work& other) const {
  return kind == other.kind && kernel == other.kernel && instance == other.instance &&
         grid.x == other.grid.x && grid.y == other.grid.y && grid.z == other.grid.z &&
         threads == other.threads && shared_bytes == other.shared_bytes && params == other.params &&
         to == other.to && from == other.from && bytes == other.bytes && gemm == other.gemm;
}

Stream::~Stream() {
  (void)runtime_.Wait();
  steps_.clear();
  for (const Page& page : pages_) {
    runtime_.FreeHost(page.host);
    runtime_.Free(page.device);
  }
}

void Stream::Fail(Status status) {
  if (status_.ok()) status_ = std::move(status);
}

void Stream::LaunchBytes(const Kernel& kernel, uint32_t instance, const Grid& grid,
                         uint32_t threads, uint32_t shared_bytes, const void* params,
                         size_t params_bytes) {
  if (!status_.ok() || grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  if (shared_bytes > caps().max_shared_bytes) {
    Fail(Unsupported(StrCat(caps().name, ": ", kernel.name, " wants ", shared_bytes,
                            " bytes of shared memory, there are ", caps().max_shared_bytes)));
    return;
  }
  const auto* bytes = static_cast<const std::byte*>(params);
  work_.push_back({.kernel = &kernel,
                   .instance = instance,
                   .grid = grid,
                   .threads = threads,
                   .shared_bytes = shared_bytes,
                   .params = std::vector<std::byte>(bytes, bytes + params_bytes)});
  ++counts_.dispatches;
}

void Stream::Copy(void* to, const void* from, size_t bytes) {
  if (!status_.ok() || bytes == 0) return;
  work_.push_back({.kind = Work::Kind::kCopy, .to = to, .from = from, .bytes = bytes});
}

void Stream::FillZero(void* data, size_t bytes) {
  if (!status_.ok() || bytes == 0) return;
  work_.push_back({.kind = Work::Kind::kFill, .to = data, .bytes = bytes});
}

Status Stream::OpenGemm() {
  GDN_RETURN_IF_ERROR(runtime_.OpenGemm());
  has_gemm_ = true;
  return OkStatus();
}

void Stream::Multiply(const Gemm& gemm) {
  GDN_CHECK(has_gemm_ && gemm.m > 0 && gemm.n > 0 && gemm.k > 0);
  if (!status_.ok()) return;
  work_.push_back({.kind = Work::Kind::kGemm, .gemm = gemm});
  ++counts_.dispatches;
}

Status Stream::NewPage(size_t bytes) {
  Page page;
  page.size = std::max(bytes, kPageBytes);
  GDN_ASSIGN_OR_RETURN(void* const host, runtime_.AllocateHost(page.size));
  page.host = static_cast<std::byte*>(host);
  Result<void*> device = runtime_.Allocate(page.size);
  if (!device.ok()) {
    runtime_.FreeHost(host);
    return device.status();
  }
  page.device = static_cast<std::byte*>(device.value());
  pages_.push_back(page);
  return OkStatus();
}

const void* Stream::Upload(const void* data, size_t bytes) {
  if (!status_.ok() || bytes == 0) return nullptr;
  // The same place may hold something else by now: the bytes decide.
  for (const Uploaded& before : uploaded_) {
    if (before.from == data && before.bytes == bytes &&
        std::memcmp(before.host, data, bytes) == 0) {
      return before.device;
    }
  }
  const size_t taken = (bytes + kUploadAlignment - 1) / kUploadAlignment * kUploadAlignment;
  while (page_ < pages_.size() && pages_[page_].size - pages_[page_].used < taken) ++page_;
  if (page_ == pages_.size()) {
    if (Status status = NewPage(taken); !status.ok()) {
      Fail(std::move(status));
      return nullptr;
    }
  }
  Page& page = pages_[page_];
  std::memcpy(page.host + page.used, data, bytes);
  const void* to = page.device + page.used;
  uploaded_.push_back({data, bytes, page.host + page.used, to});
  page.used += taken;
  CountWrite(bytes);
  return to;
}

Status Stream::RunAsGraph(Step& step) {
  if (step.graph == nullptr) {
    GDN_ASSIGN_OR_RETURN(step.graph, runtime_.Capture(step.work));
    if (step.graph == nullptr) return runtime_.Run(step.work);
  }
  ++num_graph_launches_;
  return runtime_.Launch(*step.graph);
}

Status Stream::RunStep() {
  for (Page& page : pages_) {
    if (page.used == 0) continue;
    GDN_RETURN_IF_ERROR(runtime_.CopyToDevice(page.device, page.host, page.used));
    page.used = 0;
  }
  page_ = 0;
  uploaded_.clear();
  const auto seen =
      std::ranges::find_if(steps_, [&](const Step& step) { return step.work == work_; });
  if (seen != steps_.end()) {
    std::rotate(steps_.begin(), seen, seen + 1);
    work_.clear();
    return RunAsGraph(steps_.front());
  }
  if (steps_.size() == kMaxSteps) steps_.pop_back();
  steps_.push_front({std::move(work_), nullptr});
  work_.clear();
  return runtime_.Run(steps_.front().work);
}

Status Stream::Finish() {
  if (status_.ok() && !work_.empty()) {
    ++counts_.submits;
    Fail(RunStep());
    Fail(runtime_.Wait());
  }
  work_.clear();
  return status_;
}

}  // namespace gdn::gpu
