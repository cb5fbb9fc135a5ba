// SPDX-License-Identifier: Apache-2.0
// The byte-level alphabet: the printable character that stands for each byte in the token strings
// of a tokenizer.json. Printable Latin-1 bytes stand for themselves, the 68 others take the code
// points from U+0100 on, in byte order (Radford et al. 2019, "Language models are unsupervised
// multitask learners", the GPT-2 release).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gdn {

char32_t CharOfByte(uint8_t byte);
std::optional<uint8_t> ByteOfChar(char32_t character);

// The token string of raw bytes.
std::string ToByteLevel(std::string_view bytes);

// The raw bytes of a token string (valid UTF-8). A string with a character outside the alphabet
// stands for its own UTF-8 bytes.
std::string FromByteLevel(std::string_view token);

}  // namespace gdn
