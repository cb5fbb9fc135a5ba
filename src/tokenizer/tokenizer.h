// SPDX-License-Identifier: Apache-2.0
// Token ids <-> text, from the tokenizer.json of a model: byte-level BPE as the `tokenizers`
// package runs it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace gdn {

struct EncodeOptions {
  // Added tokens that stand in the text become their ids; without, they are plain text, whatever
  // their flags: for text of a client.
  bool parse_special = true;
  // Adds the tokens that the file's TemplateProcessing puts around a text, if any; a rendered chat
  // template brings its own.
  bool surround = true;
};

// A const Tokenizer may be used from any number of threads.
class Tokenizer {
 public:
  // Reads dir/tokenizer.json, at most 256 MiB.
  static Result<Tokenizer> Load(const std::string& dir);

  // Errors are one line that names file_name, the field, what it is and what is supported:
  // kInvalidArgument for a file that contradicts itself, kUnsupported for a component that this
  // tokenizer has not. Supported: model BPE (with ignore_merges); normalizer NFC; pre_tokenizer
  // ByteLevel, or a Sequence of Split and one ByteLevel at its end; decoder ByteLevel;
  // post_processor ByteLevel or TemplateProcessing; each also in a Sequence. The fields truncation
  // and padding are settings of batches and not read.
  static Result<Tokenizer> Parse(std::string_view json_text, const std::string& file_name);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  // Errors (kInvalidArgument): text that is not UTF-8 or larger than 256 MiB, a byte without a
  // token, a pattern too costly for the text.
  Result<std::vector<int32_t>> Encode(std::string_view utf8,
                                      const EncodeOptions& options = {}) const;

  // Appends the bytes of a token, which may be part of a character. An id without a token, or with
  // skip_special a special one, has none.
  void AppendTokenBytes(int32_t id, bool skip_special, std::string& out) const;

  // The text of all ids; each maximal ill-formed part of it is one U+FFFD.
  std::string Decode(std::span<const int32_t> ids, bool skip_special) const;

  int32_t vocab_size() const;  // largest id + 1

  // The id of a token string as the file spells it: byte-level ("\u0120the"), or the content of an
  // added token.
  std::optional<int32_t> TokenToId(std::string_view token) const;
  bool IsSpecial(int32_t id) const;

 private:
  struct Impl;
  explicit Tokenizer(std::unique_ptr<const Impl> impl);

  std::unique_ptr<const Impl> impl_;
};

}  // namespace gdn
