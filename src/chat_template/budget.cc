// SPDX-License-Identifier: Apache-2.0
#include "chat_template/budget.h"

#include "base/str.h"

namespace gdn::jinja {

Status Budget::StepsExceeded() {
  return InvalidArgument(StrCat("takes more than ", kMaxSteps, " steps"));
}

Status Budget::BytesExceeded() {
  return InvalidArgument(StrCat("makes more than ", HumanBytes(kMaxAllocatedBytes), " of values"));
}

}  // namespace gdn::jinja
