// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/tokenizer_config.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/function_ref.h"
#include "base/str.h"
#include "tokenizer/tokenizer_json.h"

namespace gdn {
namespace {

using nlohmann::json;

// GPT-2's own pattern, which a ByteLevel with use_regex applies.
constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

constexpr std::array<std::pair<std::string_view, SplitBehavior>, 5> kBehaviors = {{
    {"Removed", SplitBehavior::kRemoved},
    {"Isolated", SplitBehavior::kIsolated},
    {"MergedWithPrevious", SplitBehavior::kMergedWithPrevious},
    {"MergedWithNext", SplitBehavior::kMergedWithNext},
    {"Contiguous", SplitBehavior::kContiguous},
}};

// A field that is absent is a null.
const json& Field(const json& object, const char* key) {
  static const json null;
  if (!object.is_object()) return null;
  const auto field = object.find(key);
  return field == object.end() ? null : *field;
}

std::string Describe(const json& value) {
  if (value.is_string()) return Quoted(value.get_ref<const std::string&>());
  if (value.is_number() || value.is_boolean()) return value.dump();
  return value.type_name();
}

Status Wrong(StatusCode code, std::string_view path, const json& value, std::string_view want) {
  return {code, StrCat(path, " is ", Describe(value), ", must be ", want)};
}

Result<bool> BoolField(const json& object, const std::string& path, const char* key,
                       std::optional<bool> fallback) {
  const json& value = Field(object, key);
  if (value.is_null() && fallback) return *fallback;
  if (value.is_boolean()) return value.get<bool>();
  return Wrong(StatusCode::kInvalidArgument, StrCat(path, ".", key), value, "true or false");
}

Result<int32_t> IdValue(const json& value, const std::string& path) {
  const bool in_range =
      value.is_number_unsigned() && value.get<uint64_t>() <= static_cast<uint64_t>(kMaxTokenId);
  if (in_range) return value.get<int32_t>();
  return Wrong(StatusCode::kInvalidArgument, path, value,
               StrCat("an integer in [0, ", kMaxTokenId, "]"));
}

// Calls visit(component, path, type) for component, or for the members of a Sequence (list_key) in
// order. A null component has none.
Status ForEachComponent(
    const json& component, const std::string& path, const char* list_key, std::string_view want,
    FunctionRef<Status(const json&, const std::string&, const std::string&)> visit) {
  if (component.is_null()) return OkStatus();
  const json& type = Field(component, "type");
  if (!type.is_string()) {
    return Wrong(StatusCode::kInvalidArgument, StrCat(path, ".type"), type, want);
  }
  if (type != "Sequence") return visit(component, path, type.get_ref<const std::string&>());
  const json& list = Field(component, list_key);
  const std::string list_path = StrCat(path, ".", list_key);
  if (!list.is_array()) return Wrong(StatusCode::kInvalidArgument, list_path, list, "a list");
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string entry = StrCat(list_path, "[", i, "]");
    if (list[i].is_null()) return Wrong(StatusCode::kInvalidArgument, entry, list[i], want);
    GDN_RETURN_IF_ERROR(ForEachComponent(list[i], entry, list_key, want, visit));
  }
  return OkStatus();
}

Status UnsupportedType(const std::string& path, const std::string& type, std::string_view want) {
  return Wrong(StatusCode::kUnsupported, StrCat(path, ".type"), type, want);
}

Status ReadNormalizer(const json& tree, TokenizerConfig& out) {
  constexpr std::string_view kWant = "NFC or a Sequence of it (or no normalizer)";
  return ForEachComponent(Field(tree, "normalizer"), "normalizer", "normalizers", kWant,
                          [&](const json&, const std::string& path, const std::string& type) {
                            if (type != "NFC") return UnsupportedType(path, type, kWant);
                            out.nfc = true;
                            return OkStatus();
                          });
}

Status Prefixed(const std::string& path, const Status& status) {
  return {status.code(), StrCat(path, " ", status.message())};
}

// Each costs a compiled pattern and a pass over the text; real files have one or two.
constexpr size_t kMaxSplits = 32;

Result<SplitStep> ReadSplit(const json& component, const std::string& path) {
  const json& pattern = Field(component, "pattern");
  const std::string pattern_path = StrCat(path, ".pattern");
  const json& regex = Field(pattern, "Regex");
  const json& literal = Field(pattern, "String");
  if (regex.is_string() == literal.is_string()) {
    return Wrong(StatusCode::kInvalidArgument, pattern_path, pattern,
                 "{\"Regex\": text} or {\"String\": text}");
  }
  Result<Regex> compiled = regex.is_string()
                               ? Regex::Compile(regex.get_ref<const std::string&>())
                               : Regex::CompileLiteral(literal.get_ref<const std::string&>());
  if (!compiled.ok()) return Prefixed(pattern_path, compiled.status());

  const json& behavior = Field(component, "behavior");
  GDN_ASSIGN_OR_RETURN(const bool invert, BoolField(component, path, "invert", false));
  for (const auto& [name, value] : kBehaviors) {
    if (behavior == name) return SplitStep{std::move(compiled).value(), value, invert};
  }
  return Wrong(StatusCode::kInvalidArgument, StrCat(path, ".behavior"), behavior,
               "Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous");
}

Status ReadPreTokenizer(const json& tree, TokenizerConfig& out) {
  constexpr std::string_view kWant = "ByteLevel, or a Sequence of Split and then ByteLevel";
  bool has_byte_level = false;
  const auto visit = [&](const json& component, const std::string& path,
                         const std::string& type) -> Status {
    if (has_byte_level || (type != "Split" && type != "ByteLevel")) {
      return UnsupportedType(path, type, has_byte_level ? "nothing after a ByteLevel" : kWant);
    }
    if (type == "Split") {
      if (out.pre_tokenizer.splits.size() == kMaxSplits) {
        return Unsupported(StrCat(path, ": has more Splits than ", kMaxSplits));
      }
      GDN_ASSIGN_OR_RETURN(SplitStep step, ReadSplit(component, path));
      out.pre_tokenizer.splits.push_back(std::move(step));
      return OkStatus();
    }
    has_byte_level = true;
    GDN_ASSIGN_OR_RETURN(out.pre_tokenizer.add_prefix_space,
                         BoolField(component, path, "add_prefix_space", std::nullopt));
    GDN_ASSIGN_OR_RETURN(const bool use_regex, BoolField(component, path, "use_regex", true));
    if (!use_regex) return OkStatus();
    GDN_ASSIGN_OR_RETURN(Regex gpt2, Regex::Compile(kGpt2Pattern));
    out.pre_tokenizer.byte_level.push_back(
        {std::move(gpt2), SplitBehavior::kIsolated, /*invert=*/false});
    return OkStatus();
  };
  const json& component = Field(tree, "pre_tokenizer");
  GDN_RETURN_IF_ERROR(ForEachComponent(component, "pre_tokenizer", "pretokenizers", kWant, visit));
  if (has_byte_level) return OkStatus();
  return Unsupported(StrCat("pre_tokenizer has no ByteLevel, must be ", kWant));
}

Status CheckDecoder(const json& tree) {
  constexpr std::string_view kWant = "ByteLevel";
  bool has_byte_level = false;
  GDN_RETURN_IF_ERROR(
      ForEachComponent(Field(tree, "decoder"), "decoder", "decoders", kWant,
                       [&](const json&, const std::string& path, const std::string& type) {
                         if (type != kWant || has_byte_level)
                           return UnsupportedType(path, type, "one ByteLevel");
                         has_byte_level = true;
                         return OkStatus();
                       }));
  if (has_byte_level) return OkStatus();
  return Unsupported("decoder is missing, must be ByteLevel");
}

Status ReadTemplate(const json& component, const std::string& path, Template& out) {
  const json& single = Field(component, "single");
  const std::string single_path = StrCat(path, ".single");
  if (!single.is_array()) {
    return Wrong(StatusCode::kUnsupported, single_path, single, "a list");
  }
  bool has_text = false;
  for (size_t i = 0; i < single.size(); ++i) {
    const std::string piece_path = StrCat(single_path, "[", i, "]");
    const json& sequence = Field(single[i], "Sequence");
    const json& special = Field(Field(single[i], "SpecialToken"), "id");
    if (sequence.is_object() && Field(sequence, "id") == "A" && !has_text) {
      has_text = true;
      continue;
    }
    if (!special.is_string()) {
      return Wrong(StatusCode::kUnsupported, piece_path, single[i],
                   "a SpecialToken with an id, or the one Sequence A");
    }
    const auto& name = special.get_ref<const std::string&>();
    const json& ids = Field(Field(Field(component, "special_tokens"), name.c_str()), "ids");
    const std::string ids_path = StrCat(path, ".special_tokens[", Quoted(name), "].ids");
    if (!ids.is_array()) return Wrong(StatusCode::kInvalidArgument, ids_path, ids, "a list");
    for (const json& value : ids) {
      GDN_ASSIGN_OR_RETURN(const int32_t id, IdValue(value, ids_path));
      (has_text ? out.after : out.before).push_back(id);
    }
  }
  if (has_text) return OkStatus();
  return Unsupported(StrCat(single_path, " has no Sequence A, must have one"));
}

Status ReadPostProcessor(const json& tree, TokenizerConfig& out) {
  constexpr std::string_view kWant = "ByteLevel or TemplateProcessing";
  bool has_template = false;
  return ForEachComponent(
      Field(tree, "post_processor"), "post_processor", "processors", kWant,
      [&](const json& component, const std::string& path, const std::string& type) -> Status {
        if (type == "ByteLevel") return OkStatus();  // concerns offsets, which ids have not
        if (type != "TemplateProcessing" || has_template) {
          return UnsupportedType(path, type, has_template ? "one TemplateProcessing" : kWant);
        }
        has_template = true;
        return ReadTemplate(component, path, out.surround);
      });
}

Status ReadAddedToken(const json& entry, const std::string& path, TokenizerConfig& out) {
  FileAddedToken added{};
  AddedToken& token = added.token;
  const json& content = Field(entry, "content");
  if (!content.is_string()) {
    return Wrong(StatusCode::kInvalidArgument, StrCat(path, ".content"), content, "a string");
  }
  token.content = content.get_ref<const std::string&>();
  if (token.content.empty() || token.content.size() > kMaxAddedTokenBytes) {
    return InvalidArgument(StrCat(path, ".content has ", token.content.size(),
                                  " bytes, must have 1 to ", kMaxAddedTokenBytes));
  }
  GDN_ASSIGN_OR_RETURN(token.id, IdValue(Field(entry, "id"), StrCat(path, ".id")));
  GDN_ASSIGN_OR_RETURN(token.single_word, BoolField(entry, path, "single_word", false));
  GDN_ASSIGN_OR_RETURN(token.lstrip, BoolField(entry, path, "lstrip", false));
  GDN_ASSIGN_OR_RETURN(token.rstrip, BoolField(entry, path, "rstrip", false));
  GDN_ASSIGN_OR_RETURN(added.special, BoolField(entry, path, "special", false));
  GDN_ASSIGN_OR_RETURN(token.normalized, BoolField(entry, path, "normalized", !added.special));
  out.added_tokens.push_back(std::move(added));
  return OkStatus();
}

Status ReadAddedTokens(const json& tree, TokenizerConfig& out) {
  const json& list = Field(tree, "added_tokens");
  if (list.is_null()) return OkStatus();
  if (!list.is_array()) {
    return Wrong(StatusCode::kInvalidArgument, "added_tokens", list, "a list");
  }
  for (size_t i = 0; i < list.size(); ++i) {
    GDN_RETURN_IF_ERROR(ReadAddedToken(list[i], StrCat("added_tokens[", i, "]"), out));
  }
  return OkStatus();
}

// Settings of BPE that change ids and that no byte-level vocabulary needs.
Status ReadModel(const json& tree, TokenizerConfig& out) {
  const json& model = Field(tree, "model");
  if (!model.is_object()) {
    return Wrong(StatusCode::kInvalidArgument, "model", model, "an object");
  }
  const json& type = Field(model, "type");
  if (!type.is_null() && type != "BPE") {
    return Wrong(StatusCode::kUnsupported, "model.type", type, "BPE");
  }
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    const json& value = Field(model, key);
    const auto* text = value.get_ptr<const std::string*>();
    if (value.is_null() || (text != nullptr && text->empty())) continue;
    return Wrong(StatusCode::kUnsupported, StrCat("model.", key), value, "null or empty");
  }
  const json& dropout = Field(model, "dropout");
  if (!dropout.is_null() && dropout != 0) {
    return Wrong(StatusCode::kUnsupported, "model.dropout", dropout, "null or 0");
  }
  GDN_ASSIGN_OR_RETURN(const bool byte_fallback, BoolField(model, "model", "byte_fallback", false));
  if (byte_fallback) return Unsupported("model.byte_fallback is true, must be false");
  GDN_ASSIGN_OR_RETURN(out.ignore_merges, BoolField(model, "model", "ignore_merges", false));
  return OkStatus();
}

}  // namespace

Result<TokenizerConfig> ReadTokenizerConfig(const json& tree) {
  TokenizerConfig out;
  if (!tree.is_object()) return InvalidArgument("is not a JSON object");
  GDN_RETURN_IF_ERROR(ReadModel(tree, out));
  GDN_RETURN_IF_ERROR(ReadNormalizer(tree, out));
  GDN_RETURN_IF_ERROR(ReadPreTokenizer(tree, out));
  GDN_RETURN_IF_ERROR(ReadPostProcessor(tree, out));
  GDN_RETURN_IF_ERROR(CheckDecoder(tree));
  GDN_RETURN_IF_ERROR(ReadAddedTokens(tree, out));
  return out;
}

}  // namespace gdn
