// SPDX-License-Identifier: Apache-2.0
// JSON in, as the reference's callers pass it, and out, as json.dumps() writes it.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "base/str.h"
#include "chat_template/compare.h"
#include "chat_template/convert.h"
#include "chat_template/dict.h"
#include "chat_template/print.h"
#include "chat_template/sort.h"
#include "chat_template/text.h"

namespace gdn::jinja {
namespace {

using nlohmann::ordered_json;

Result<Value> TextFromJson(const ordered_json& json, const std::string& path, Budget& budget) {
  const auto& text = json.get_ref<const std::string&>();
  if (!IsValidUtf8(text)) return InvalidArgument(StrCat(path, " is a string that is not UTF-8"));
  return MakeString(text, budget);
}

Result<Value> ReadJson(const ordered_json& json, const std::string& path, int depth,
                       Budget& budget) {
  GDN_RETURN_IF_ERROR(budget.Spend(1));
  if (depth > kMaxValueDepth) {
    return InvalidArgument(StrCat(path, " nests deeper than ", kMaxValueDepth, " levels"));
  }
  switch (json.type()) {
    case ordered_json::value_t::null:
      return Value(None{});
    case ordered_json::value_t::boolean:
      return Value(json.get<bool>());
    case ordered_json::value_t::number_integer:
      return Value(json.get<int64_t>());
    case ordered_json::value_t::number_unsigned:
      return Value(static_cast<Int>(json.get<uint64_t>()));
    case ordered_json::value_t::number_float:
      return Value(json.get<double>());
    case ordered_json::value_t::string:
      return TextFromJson(json, path, budget);
    case ordered_json::value_t::array: {
      std::vector<Value> items;
      for (const ordered_json& item : json) {
        GDN_ASSIGN_OR_RETURN(Value value, ReadJson(item, path, depth + 1, budget));
        items.push_back(std::move(value));
      }
      return MakeList(std::move(items), budget);
    }
    case ordered_json::value_t::object: {
      auto dict = std::make_shared<DictObject>();
      for (const auto& [name, item] : json.items()) {
        GDN_ASSIGN_OR_RETURN(Value key, TextFromJson(name, path, budget));
        GDN_ASSIGN_OR_RETURN(Value value, ReadJson(item, path, depth + 1, budget));
        GDN_RETURN_IF_ERROR(dict->Set(std::move(key), std::move(value), budget));
      }
      return Value(DictPtr(std::move(dict)));
    }
    default:
      return InvalidArgument(StrCat(path, " holds binary data, must be JSON"));
  }
}

class JsonWriter {
 public:
  JsonWriter(const JsonStyle& style, Budget& budget, std::string& out)
      : style_(style),
        budget_(budget),
        out_(out),
        item_separator_(style.has_separators ? style.item_separator
                        : style.indent       ? ","
                                             : ", "),
        key_separator_(style.has_separators ? style.key_separator : ": ") {}

  Status Write(const Value& value) {
    GDN_RETURN_IF_ERROR(budget_.Spend(1));
    switch (value.kind()) {
      case Value::Kind::kString:
        return Text(value.text());
      case Value::Kind::kList:
      case Value::Kind::kTuple:
        return Array((*value.sequence())->items);
      case Value::Kind::kDict:
        return Object(*value.dict());
      default:
        break;
    }
    GDN_ASSIGN_OR_RETURN(const std::string scalar, Scalar(value));
    return Append(scalar);
  }

 private:
  Status Append(std::string_view text) {
    GDN_RETURN_IF_ERROR(budget_.Allocate(text.size()));
    out_.append(text);
    return OkStatus();
  }

  static Result<std::string> Scalar(const Value& value) {
    if (value.is_none()) return std::string("null");
    if (const auto* b = value.Get<bool>()) return std::string(*b ? "true" : "false");
    if (const auto* i = value.Get<Int>()) return IntText(*i);
    if (const auto* d = value.Get<double>()) {
      if (std::isnan(*d)) return std::string("NaN");
      if (std::isinf(*d)) return std::string(*d < 0 ? "-Infinity" : "Infinity");
      return FloatRepr(*d);
    }
    return InvalidArgument(StrCat("a ", TypeName(value), " is no JSON value"));
  }

  void Escape(char32_t c) {
    constexpr std::string_view kFrom = "\"\\\n\r\t\b\f";
    constexpr std::string_view kTo = "\"\\nrtbf";
    const size_t simple = c < 0x80 ? kFrom.find(static_cast<char>(c)) : std::string_view::npos;
    if (simple != std::string_view::npos) {
      out_.append({'\\', kTo[simple]});
    } else if (c >= 0x20 && (c < 0x7F || !style_.ensure_ascii)) {
      AppendUtf8(c, out_);
    } else if (c < 0x10000) {
      EscapeUnit(static_cast<unsigned>(c));
    } else {
      EscapeUnit(0xD800 + ((c - 0x10000) >> 10));
      EscapeUnit(0xDC00 + ((c - 0x10000) & 0x3FF));
    }
  }

  void EscapeUnit(unsigned unit) {
    std::array<char, 16> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "\\u%04x", unit);
    out_.append(buffer.data());
  }

  Status Text(std::string_view text) {
    // Six bytes at most come from one.
    GDN_RETURN_IF_ERROR(budget_.Allocate(text.size() + 2));
    GDN_RETURN_IF_ERROR(budget_.Scan(text.size() * 8));
    out_.push_back('"');
    for (size_t i = 0; i < text.size();) Escape(NextCodePoint(text, i));
    out_.push_back('"');
    return OkStatus();
  }

  Status NewLine() {
    if (!style_.indent) return OkStatus();
    GDN_RETURN_IF_ERROR(Append("\n"));
    for (int i = 0; i < level_; ++i) GDN_RETURN_IF_ERROR(Append(*style_.indent));
    return OkStatus();
  }

  Status Array(const std::vector<Value>& items) {
    if (items.empty()) return Append("[]");
    GDN_RETURN_IF_ERROR(Append("["));
    ++level_;
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) GDN_RETURN_IF_ERROR(Append(item_separator_));
      GDN_RETURN_IF_ERROR(NewLine());
      GDN_RETURN_IF_ERROR(Write(items[i]));
    }
    --level_;
    GDN_RETURN_IF_ERROR(NewLine());
    return Append("]");
  }

  Status Key(const Value& key) {
    if (key.is_string()) return Text(key.text());
    GDN_ASSIGN_OR_RETURN(const std::string text, Scalar(key));
    return Text(text);
  }

  Status Object(const DictObject& dict) {
    if (dict.size() == 0) return Append("{}");
    std::vector<size_t> order(dict.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (style_.sort_keys) {
      const auto less = [&](size_t a, size_t b) {
        return Less(dict.entries()[a].first, dict.entries()[b].first, budget_);
      };
      GDN_RETURN_IF_ERROR(StableSort(order, less));
    }
    GDN_RETURN_IF_ERROR(Append("{"));
    ++level_;
    bool first = true;
    for (const size_t i : order) {
      const auto& entry = dict.entries()[i];
      if (!first) GDN_RETURN_IF_ERROR(Append(item_separator_));
      first = false;
      GDN_RETURN_IF_ERROR(NewLine());
      GDN_RETURN_IF_ERROR(Key(entry.first));
      GDN_RETURN_IF_ERROR(Append(key_separator_));
      GDN_RETURN_IF_ERROR(Write(entry.second));
    }
    --level_;
    GDN_RETURN_IF_ERROR(NewLine());
    return Append("}");
  }

  const JsonStyle& style_;
  Budget& budget_;
  std::string& out_;
  std::string item_separator_;
  std::string key_separator_;
  int level_ = 0;
};

}  // namespace

Result<Value> FromJson(const ordered_json& json, const std::string& path, Budget& budget) {
  return ReadJson(json, path, /*depth=*/1, budget);  // the context is a mapping around it
}

Status AppendJson(const Value& value, const JsonStyle& style, Budget& budget, std::string& out) {
  return JsonWriter(style, budget, out).Write(value);
}

}  // namespace gdn::jinja
