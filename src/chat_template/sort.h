// SPDX-License-Identifier: Apache-2.0
// A stable sort whose comparison may fail, or contradict itself (NaN does).
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "base/status.h"

namespace gdn::jinja {

// less(a, b) is a Result<bool>. Merges runs of growing length.
template <class T, class Less>
Status StableSort(std::vector<T>& items, const Less& less) {
  std::vector<T> merged(items.size());
  for (size_t width = 1; width < items.size(); width *= 2) {
    for (size_t begin = 0; begin < items.size(); begin += 2 * width) {
      const size_t middle = std::min(begin + width, items.size());
      const size_t end = std::min(begin + 2 * width, items.size());
      size_t left = begin;
      size_t right = middle;
      for (size_t out = begin; out < end; ++out) {
        bool take_right = left == middle;
        if (left < middle && right < end) {
          GDN_ASSIGN_OR_RETURN(take_right, less(items[right], items[left]));
        }
        merged[out] = std::move(items[take_right ? right++ : left++]);
      }
    }
    std::swap(items, merged);
  }
  return OkStatus();
}

}  // namespace gdn::jinja
