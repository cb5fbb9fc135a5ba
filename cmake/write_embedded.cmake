# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT, a source with the bytes of the file INPUT as gdn::embedded::CONSTANT.
file(READ "${INPUT}" hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
string(REGEX REPLACE "('[^']*',){20}" "\\0\n" bytes "${bytes}")
file(WRITE "${OUTPUT}" "\
#include <string_view>

namespace gdn::embedded {
namespace {

constexpr char kBytes[] = {
${bytes}'\\0'};

}  // namespace

extern const std::string_view ${CONSTANT};
const std::string_view ${CONSTANT}(kBytes, sizeof(kBytes) - 1);

}  // namespace gdn::embedded
")
