// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/tokenizer_json.h"

#include <exception>

#include "base/str.h"

namespace gdn {
namespace {

using nlohmann::json;

constexpr size_t kMaxDepth = 64;
// A tree node takes some 100 bytes, whereas "0," takes 2: without a bound a file of the largest
// size would ask for gigabytes. Real files have a few thousand nodes.
constexpr size_t kMaxTreeNodes = size_t{1} << 21;

// Receives the parser's events. A member returns false to stop the parse, with message_ set.
class Reader {
 public:
  explicit Reader(TokenizerJson& out) : out_(out) {}

  const std::string& message() const { return message_; }

  bool null() { return Scalar(nullptr, "null"); }
  bool boolean(bool value) { return Scalar(value, "a boolean"); }
  bool number_float(double value, const std::string&) { return Scalar(value, "a float"); }
  bool binary(json::binary_t&) { return Fail("binary values cannot be"); }

  bool number_integer(int64_t value) {
    if (where_ == Where::kVocab) return Fail(StrCat(VocabEntry(), " is ", value, IdRange()));
    return Scalar(value, "a number");
  }

  bool number_unsigned(uint64_t value) {
    if (where_ != Where::kVocab) return Scalar(value, "a number");
    if (value > static_cast<uint64_t>(kMaxTokenId)) {
      return Fail(StrCat(VocabEntry(), " is ", value, IdRange()));
    }
    out_.vocab.emplace_back(std::move(key_), static_cast<int32_t>(value));
    return true;
  }

  bool string(std::string& value) {
    switch (where_) {
      case Where::kTree:
      case Where::kVocab:
        return Scalar(std::move(value), "a string");
      case Where::kMerges:
        return MergeLine(value);
      case Where::kMergePair:
        pair_.push_back(std::move(value));
        return pair_.size() <= 2 || Fail(StrCat(MergeEntry(), " has more than 2 strings"));
    }
    return false;
  }

  bool start_object(size_t) {
    if (AtModelKey("vocab")) {
      where_ = Where::kVocab;
      if (out_.has_vocab) return Fail("model.vocab is there twice");
      out_.has_vocab = true;
      return true;
    }
    if (where_ != Where::kTree) return Scalar(nullptr, "an object");
    return Open(json::object());
  }

  bool end_object() {
    if (where_ == Where::kVocab) {
      where_ = Where::kTree;
      return true;
    }
    open_.pop_back();
    return true;
  }

  bool key(std::string& value) {
    key_ = std::move(value);
    if (open_.size() == 1) top_key_ = key_;
    return true;
  }

  bool start_array(size_t) {
    if (AtModelKey("merges")) {
      where_ = Where::kMerges;
      if (out_.has_merges) return Fail("model.merges is there twice");
      out_.has_merges = true;
      return true;
    }
    if (where_ == Where::kMerges) {
      where_ = Where::kMergePair;
      return true;
    }
    if (where_ != Where::kTree) return Scalar(nullptr, "an array");
    return Open(json::array());
  }

  bool end_array() {
    if (where_ == Where::kMergePair) {
      where_ = Where::kMerges;
      if (pair_.size() != 2) return Fail(StrCat(MergeEntry(), " is not two strings"));
      const bool added = AddMerge(std::move(pair_[0]), std::move(pair_[1]));
      pair_.clear();
      return added;
    }
    if (where_ == Where::kMerges) {
      where_ = Where::kTree;
      return true;
    }
    open_.pop_back();
    return true;
  }

  bool parse_error(size_t offset, const std::string&, const nlohmann::detail::exception&) {
    return Fail(StrCat("is not valid JSON at byte ", offset));
  }

 private:
  enum class Where { kTree, kVocab, kMerges, kMergePair };

  bool Fail(std::string message) {
    if (message_.empty()) message_ = std::move(message);
    return false;
  }

  bool AtModelKey(std::string_view name) const {
    return where_ == Where::kTree && open_.size() == 2 && top_key_ == "model" &&
           open_.back()->is_object() && key_ == name;
  }

  std::string VocabEntry() const { return StrCat("model.vocab[", Quoted(key_), "]"); }
  std::string MergeEntry() const { return StrCat("model.merges[", out_.merges.size(), "]"); }
  static std::string IdRange() { return StrCat(", must be an integer in [0, ", kMaxTokenId, "]"); }

  bool Scalar(json value, const char* what) {
    switch (where_) {
      case Where::kTree:
        return AddNode(std::move(value)) != nullptr;
      case Where::kVocab:
        return Fail(StrCat(VocabEntry(), " is ", what, IdRange()));
      case Where::kMerges:
      case Where::kMergePair:
        return Fail(StrCat(MergeEntry(), " has ", what, ", must be \"a b\" or [\"a\", \"b\"]"));
    }
    return false;
  }

  json* AddNode(json value) {
    if (++nodes_ > kMaxTreeNodes) {
      Fail(StrCat("has more than ", kMaxTreeNodes, " values"));
      return nullptr;
    }
    if (open_.empty()) {
      out_.tree = std::move(value);
      return &out_.tree;
    }
    if (open_.back()->is_array()) {
      open_.back()->push_back(std::move(value));
      return &open_.back()->back();
    }
    const auto [entry, inserted] = open_.back()->emplace(key_, std::move(value));
    if (!inserted) {
      Fail(StrCat("has the key ", Quoted(key_), " twice in one object"));
      return nullptr;
    }
    return &*entry;
  }

  bool Open(json container) {
    if (open_.size() == kMaxDepth) return Fail(StrCat("is nested deeper than ", kMaxDepth));
    json* node = AddNode(std::move(container));
    if (node == nullptr) return false;
    open_.push_back(node);
    return true;
  }

  bool MergeLine(const std::string& line) {
    // The header line of a merges.txt, which old converters copied into the list.
    if (line.starts_with("#version")) return true;
    const size_t space = line.find(' ');
    if (space == std::string::npos || line.find(' ', space + 1) != std::string::npos) {
      return Fail(StrCat(MergeEntry(), " is ", Quoted(line), ", must be two tokens and a space"));
    }
    return AddMerge(line.substr(0, space), line.substr(space + 1));
  }

  bool AddMerge(std::string left, std::string right) {
    if (out_.merges.size() == kMaxMerges) {
      return Fail(StrCat("has more than ", kMaxMerges, " merges"));
    }
    out_.merges.emplace_back(std::move(left), std::move(right));
    return true;
  }

  TokenizerJson& out_;
  Where where_ = Where::kTree;
  // The containers that are open. A node does not move while one below it is open: only the
  // innermost container grows.
  std::vector<json*> open_;
  std::string key_;
  std::string top_key_;
  std::vector<std::string> pair_;
  size_t nodes_ = 0;
  std::string message_;
};

}  // namespace

Result<TokenizerJson> ParseTokenizerJson(std::string_view text, const std::string& file_name) {
  // The parser takes a NUL for the end of the text and would not see what follows.
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return InvalidArgument(StrCat(file_name, ": holds a NUL at byte ", nul, ", want none"));
  }
  TokenizerJson out;
  Reader reader(out);
  try {
    if (json::sax_parse(text.begin(), text.end(), &reader)) return out;
  } catch (const std::exception& error) {
    return InvalidArgument(StrCat(file_name, ": ", error.what()));
  }
  const std::string message = reader.message().empty() ? "is not valid JSON" : reader.message();
  return InvalidArgument(StrCat(file_name, ": ", message));
}

}  // namespace gdn
