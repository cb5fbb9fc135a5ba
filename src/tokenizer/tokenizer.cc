// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/tokenizer.h"

#include <exception>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/str.h"
#include "tokenizer/added_tokens.h"
#include "tokenizer/bpe.h"
#include "tokenizer/nfc.h"
#include "tokenizer/pre_tokenizer.h"
#include "tokenizer/tokenizer_config.h"
#include "tokenizer/tokenizer_json.h"
#include "tokenizer/utf8.h"
#include "tokenizer/vocabulary.h"

namespace gdn {
namespace {

constexpr size_t kMaxFileBytes = size_t{256} << 20;
constexpr size_t kMaxTextBytes = size_t{256} << 20;

Status InFile(const std::string& file_name, const Status& status) {
  return {status.code(), StrCat(file_name, ": ", status.message())};
}

Result<std::string> ReadFile(const std::string& path) {
  // A pipe or a device would block or never end.
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return std::filesystem::exists(path, error)
               ? InvalidArgument(StrCat(path, ": is not a regular file"))
               : NotFound(StrCat(path, ": cannot be opened: no such file"));
  }
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : -1;
  if (size < 0) return NotFound(StrCat(path, ": cannot be read"));
  if (static_cast<size_t>(size) > kMaxFileBytes) {
    return InvalidArgument(StrCat(path, ": has ", HumanBytes(static_cast<size_t>(size)),
                                  ", must have at most ", HumanBytes(kMaxFileBytes)));
  }
  std::string text(static_cast<size_t>(size), '\0');
  file.seekg(0);
  if (!file.read(text.data(), size)) return NotFound(StrCat(path, ": cannot be read"));
  return text;
}

}  // namespace

struct Tokenizer::Impl {
  // What the encoding of one text needs.
  struct Work {
    MatchScratch match;
    Bpe::Scratch bpe;
    std::vector<int32_t> ids;
  };

  Status Build(const TokenizerJson& json);
  Status EncodeBetweenRaw(std::string_view text, bool parse_special, Work& work) const;
  Status EncodePlain(std::string_view text, Work& work) const;

  Vocabulary vocabulary;
  std::optional<Bpe> bpe;
  bool nfc = false;
  PreTokenizer pre_tokenizer;
  Template surround;
  AddedTokenMatcher raw_tokens;         // looked for in the text as it comes
  AddedTokenMatcher normalized_tokens;  // in what is left, after normalisation
  std::string file_name;                // for errors that are the file's fault
};

Status Tokenizer::Impl::Build(const TokenizerJson& json) {
  GDN_ASSIGN_OR_RETURN(TokenizerConfig config, ReadTokenizerConfig(json.tree));
  if (!json.has_vocab) return InvalidArgument("model.vocab is missing, must be an object");
  if (!json.has_merges) return InvalidArgument("model.merges is missing, must be a list");
  GDN_ASSIGN_OR_RETURN(vocabulary, Vocabulary::Create(json.vocab));
  GDN_ASSIGN_OR_RETURN(bpe, Bpe::Create(vocabulary, json.merges, config.ignore_merges));
  nfc = config.nfc;
  pre_tokenizer = std::move(config.pre_tokenizer);
  surround = std::move(config.surround);
  for (size_t i = 0; i < config.added_tokens.size(); ++i) {
    auto& [token, special] = config.added_tokens[i];
    // The reference also decodes such a token to its normalised text.
    const std::string text = nfc && token.normalized ? ToNfc(token.content) : token.content;
    const Status added = vocabulary.Add(token.content, token.id, text, special);
    if (!added.ok()) {
      return {added.code(), StrCat("added_tokens[", i, "] ", added.message())};
    }
    (token.normalized ? normalized_tokens : raw_tokens).Add(std::move(token), text);
  }
  for (const auto* ids : {&surround.before, &surround.after}) {
    for (const int32_t id : *ids) {
      if (id < vocabulary.size()) continue;
      return InvalidArgument(StrCat("post_processor has the id ", id, ", the vocabulary ends at ",
                                    vocabulary.size() - 1));
    }
  }
  return OkStatus();
}

Status Tokenizer::Impl::EncodePlain(std::string_view text, Work& work) const {
  return pre_tokenizer.Run(text, work.match, [&](std::string_view piece) {
    return bpe->Encode(piece, work.bpe, work.ids);
  });
}

Status Tokenizer::Impl::EncodeBetweenRaw(std::string_view text, bool parse_special,
                                         Work& work) const {
  std::string normalized;
  if (nfc && MayChangeInNfc(text)) {
    normalized = ToNfc(text);
    text = normalized;
  }
  if (!parse_special || normalized_tokens.empty()) return EncodePlain(text, work);
  for (const auto& span : normalized_tokens.Find(text)) {
    if (span.id >= 0) {
      work.ids.push_back(span.id);
    } else {
      GDN_RETURN_IF_ERROR(EncodePlain(text.substr(span.begin, span.end - span.begin), work));
    }
  }
  return OkStatus();
}

Tokenizer::Tokenizer(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<Tokenizer> Tokenizer::Load(const std::string& dir) {
  const std::string path = StrCat(dir, "/tokenizer.json");
  GDN_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return Parse(text, path);
}

Result<Tokenizer> Tokenizer::Parse(std::string_view json_text, const std::string& file_name) {
  try {
    GDN_ASSIGN_OR_RETURN(const TokenizerJson json, ParseTokenizerJson(json_text, file_name));
    auto impl = std::make_unique<Impl>();
    impl->file_name = file_name;
    const Status built = impl->Build(json);
    if (!built.ok()) return InFile(file_name, built);
    return Tokenizer(std::move(impl));
  } catch (const std::exception& error) {
    return Internal(StrCat(file_name, ": ", error.what()));
  }
}

Result<std::vector<int32_t>> Tokenizer::Encode(std::string_view utf8,
                                               const EncodeOptions& options) const {
  if (utf8.size() > kMaxTextBytes) {
    return InvalidArgument(StrCat("text has ", HumanBytes(utf8.size()), ", must have at most ",
                                  HumanBytes(kMaxTextBytes)));
  }
  if (const size_t at = FindInvalidUtf8(utf8); at != std::string_view::npos) {
    return InvalidArgument(StrCat("text is not valid UTF-8 at byte ", at));
  }
  Impl::Work work{MatchScratch(utf8.size()), {}, {}};
  if (options.surround) work.ids = impl_->surround.before;
  if (!options.parse_special || impl_->raw_tokens.empty()) {
    const Status status = impl_->EncodeBetweenRaw(utf8, options.parse_special, work);
    if (!status.ok()) return InFile(impl_->file_name, status);
  } else {
    for (const auto& span : impl_->raw_tokens.Find(utf8)) {
      if (span.id >= 0) {
        work.ids.push_back(span.id);
        continue;
      }
      const Status status = impl_->EncodeBetweenRaw(utf8.substr(span.begin, span.end - span.begin),
                                                    options.parse_special, work);
      if (!status.ok()) return InFile(impl_->file_name, status);
    }
  }
  if (options.surround) {
    work.ids.insert(work.ids.end(), impl_->surround.after.begin(), impl_->surround.after.end());
  }
  return std::move(work.ids);
}

void Tokenizer::AppendTokenBytes(int32_t id, bool skip_special, std::string& out) const {
  if (skip_special && impl_->vocabulary.IsSpecial(id)) return;
  out.append(impl_->vocabulary.Bytes(id));
}

std::string Tokenizer::Decode(std::span<const int32_t> ids, bool skip_special) const {
  std::string bytes;
  for (const int32_t id : ids) AppendTokenBytes(id, skip_special, bytes);
  std::string text;
  text.reserve(bytes.size());
  AppendLossyUtf8(bytes, text);
  return text;
}

int32_t Tokenizer::vocab_size() const { return impl_->vocabulary.size(); }

std::optional<int32_t> Tokenizer::TokenToId(std::string_view token) const {
  return impl_->vocabulary.Find(token);
}

bool Tokenizer::IsSpecial(int32_t id) const { return impl_->vocabulary.IsSpecial(id); }

}  // namespace gdn
