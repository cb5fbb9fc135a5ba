// SPDX-License-Identifier: Apache-2.0
#include "tensor/tensor.h"

#include "base/str.h"

namespace gdn {

std::string Shape::ToString() const {
  std::string out = "[";
  for (int i = 0; i < rank_; ++i) StrAppend(out, StrCat(i == 0 ? "" : ", ", (*this)[i]));
  return out + "]";
}

std::string Describe(const ConstTensor& tensor) {
  return StrCat(Name(tensor.dtype), " ", tensor.shape.ToString());
}

}  // namespace gdn
