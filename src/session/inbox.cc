// SPDX-License-Identifier: Apache-2.0
#include "session/inbox.h"

#include <utility>

namespace gdn {

void Inbox::Submit(Job job) {
  const std::lock_guard lock(mutex_);
  job.stream->job = next_job_++;
  orders_.jobs.push_back(std::move(job));
  changed_.notify_one();
}

void Inbox::Cancel(uint64_t job) {
  const std::lock_guard lock(mutex_);
  orders_.cancelled.push_back(job);
  changed_.notify_one();
}

void Inbox::ClearPrefixCache() {
  const std::lock_guard lock(mutex_);
  orders_.clear_prefix_cache = true;
  changed_.notify_one();
}

void Inbox::Stop() {
  const std::lock_guard lock(mutex_);
  orders_.stop = true;
  changed_.notify_one();
}

Inbox::Orders Inbox::Take(bool wait) {
  std::unique_lock lock(mutex_);
  if (wait) {
    changed_.wait(lock, [this] {
      return orders_.stop || orders_.clear_prefix_cache || !orders_.jobs.empty() ||
             !orders_.cancelled.empty();
    });
  }
  return std::exchange(orders_, {});
}

}  // namespace gdn
