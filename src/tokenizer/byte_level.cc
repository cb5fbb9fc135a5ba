// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/byte_level.h"

#include <array>

#include "tokenizer/utf8.h"

namespace gdn {
namespace {

constexpr char32_t kFirstStandIn = 0x100;
constexpr int kNumStandIns = 68;

constexpr bool StandsForItself(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
}

struct Alphabet {
  std::array<char32_t, 256> char_of_byte{};
  std::array<int16_t, kFirstStandIn + kNumStandIns> byte_of_char{};
};

constexpr Alphabet MakeAlphabet() {
  Alphabet alphabet;
  alphabet.byte_of_char.fill(-1);
  char32_t next = kFirstStandIn;
  for (int byte = 0; byte < 256; ++byte) {
    const char32_t character = StandsForItself(byte) ? static_cast<char32_t>(byte) : next++;
    alphabet.char_of_byte[static_cast<size_t>(byte)] = character;
    alphabet.byte_of_char[character] = static_cast<int16_t>(byte);
  }
  return alphabet;
}

constexpr Alphabet kAlphabet = MakeAlphabet();

}  // namespace

char32_t CharOfByte(uint8_t byte) { return kAlphabet.char_of_byte[byte]; }

std::optional<uint8_t> ByteOfChar(char32_t character) {
  if (character >= kAlphabet.byte_of_char.size()) return std::nullopt;
  const int16_t byte = kAlphabet.byte_of_char[character];
  if (byte < 0) return std::nullopt;
  return static_cast<uint8_t>(byte);
}

std::string ToByteLevel(std::string_view bytes) {
  std::string token;
  token.reserve(bytes.size() * 2);
  for (const char byte : bytes) AppendUtf8(CharOfByte(static_cast<uint8_t>(byte)), token);
  return token;
}

std::string FromByteLevel(std::string_view token) {
  std::string bytes;
  bytes.reserve(token.size());
  for (size_t at = 0; at < token.size();) {
    const Utf8Step step = NextUtf8(token.substr(at));
    const std::optional<uint8_t> byte =
        step.kind == Utf8Kind::kValid ? ByteOfChar(step.code_point) : std::nullopt;
    if (!byte) return std::string(token);
    bytes.push_back(static_cast<char>(*byte));
    at += static_cast<size_t>(step.length_bytes);
  }
  return bytes;
}

}  // namespace gdn
