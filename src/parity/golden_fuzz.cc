// SPDX-License-Identifier: Apache-2.0
// Any bytes as the manifest of a golden case whose tensors are there: an error, or a report.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "parity/golden_case_testing.h"
#include "parity/report.h"

namespace gdn {
namespace {

// Files that manifests may name: tensors of a small prefill, decode, convolution and block.
CaseWriter& Files() {
  static CaseWriter* const files = [] {
    auto* c = new CaseWriter("none");
    const auto add = [c](const char* name, DType dtype, const std::vector<int64_t>& shape) {
      int64_t count = 1;
      for (const int64_t dim : shape) count *= dim;
      std::vector<float> values;
      for (int64_t i = 0; i < count; ++i) values.push_back(0.125F * static_cast<float>(i % 7 - 3));
      c->Add(name, dtype, shape, values);
    };
    add("rows3", DType::kBf16, {3, 8});
    add("rows3_f32", DType::kF32, {3, 8});
    add("heads", DType::kBf16, {3, 2, 4});
    add("heads_f32", DType::kF32, {3, 2, 4});
    add("scalars", DType::kF32, {3, 2});
    add("scalars_bf16", DType::kBf16, {3, 2});
    add("state", DType::kF32, {3, 2, 4, 4});
    add("vector8", DType::kF32, {8});
    add("vector2", DType::kF32, {2});
    add("cube", DType::kF32, {3, 8, 3});
    add("wide", DType::kF32, {3, 2, 64});
    c->Add("cu_seqlens", DType::kI32, {3}, {0, 1, 3});
    c->Add("one_sequence", DType::kI32, {2}, {0, 3});
    c->Add("integers", DType::kI32, {3}, {0, 2, 1});
    return c;
  }();
  return *files;
}

}  // namespace
}  // namespace gdn

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const gdn::CaseWriter& files = gdn::Files();
  files.folder.Write("manifest.json", {reinterpret_cast<const char*>(data), size});
  static gdn::Workbench bench("", 1);
  const auto report = gdn::RunParity(bench, files.folder.path(), gdn::Numerics{});
  if (!report.ok()) {
    GDN_CHECK(!report.status().message().empty());
  } else {
    GDN_CHECK(!report->rows.empty());
  }
  return 0;
}
