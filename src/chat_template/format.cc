// SPDX-License-Identifier: Apache-2.0
// str.format() and the operator %.
#include "chat_template/format_spec.h"

#include "base/str.h"
#include "chat_template/convert.h"
#include "chat_template/dict.h"
#include "chat_template/methods_text.h"
#include "chat_template/operators.h"
#include "chat_template/print.h"

namespace gdn::jinja {
namespace {

// The fields of "{...}" and of "%..." in turn.
class Formatter {
 public:
  Formatter(const Value& format, Budget& budget)
      : text_(format.text()), is_markup_(format.string().is_markup), budget_(budget) {}

  Result<Value> Braces(const Arguments& arguments) {
    GDN_RETURN_IF_ERROR(budget_.Allocate(text_.size()));
    while (i_ < text_.size()) {
      const char c = text_[i_++];
      const bool doubled = i_ < text_.size() && text_[i_] == c;
      if ((c == '{' || c == '}') && doubled) {
        out_.push_back(c);
        ++i_;
      } else if (c == '{') {
        GDN_RETURN_IF_ERROR(BraceField(arguments));
      } else if (c == '}') {
        return InvalidArgument("a single '}', must be '}}'");
      } else {
        out_.push_back(c);
      }
    }
    return MakeString(std::move(out_), budget_, is_markup_);
  }

  Result<Value> Percent(const Value& arguments) {
    GDN_RETURN_IF_ERROR(budget_.Allocate(text_.size()));
    while (i_ < text_.size()) {
      const char c = text_[i_++];
      if (c != '%') {
        out_.push_back(c);
        continue;
      }
      GDN_RETURN_IF_ERROR(PercentField(arguments));
    }
    const size_t given = arguments.Is(Value::Kind::kTuple)  ? (*arguments.sequence())->items.size()
                         : arguments.Is(Value::Kind::kDict) ? next_
                                                            : 1;
    if (next_ < given && !used_names_) {
      return InvalidArgument("a format has fewer fields than values");
    }
    return MakeString(std::move(out_), budget_, is_markup_);
  }

 private:
  Status Append(std::string_view piece) {
    GDN_RETURN_IF_ERROR(budget_.Allocate(piece.size()));
    out_.append(is_markup_ ? EscapeHtml(piece) : piece);
    return OkStatus();
  }

  Status BraceField(const Arguments& arguments) {
    const size_t end = text_.find_first_of("{}", i_);
    if (end == std::string_view::npos) return InvalidArgument("a '{' has no '}'");
    if (text_[end] == '{') {
      return Status(StatusCode::kUnsupported, "a field inside of a field is not supported");
    }
    std::string_view field = text_.substr(i_, end - i_);
    i_ = end + 1;
    std::string_view spec;
    if (const size_t colon = field.find(':'); colon != std::string_view::npos) {
      spec = field.substr(colon + 1);
      field = field.substr(0, colon);
    }
    char conversion = 0;
    if (const size_t bang = field.find('!'); bang != std::string_view::npos) {
      if (bang + 2 != field.size()) return InvalidArgument("a field has a wrong conversion");
      conversion = field[bang + 1];
      field = field.substr(0, bang);
    }
    GDN_ASSIGN_OR_RETURN(Value value, BraceValue(field, arguments));
    if (conversion != 0) {
      std::string text;
      if (conversion != 's' && conversion != 'r') {
        return InvalidArgument("a field has a conversion that is not !s or !r");
      }
      GDN_RETURN_IF_ERROR(conversion == 's' ? AppendStr(value, budget_, text)
                                            : AppendRepr(value, budget_, text));
      GDN_ASSIGN_OR_RETURN(value, MakeString(std::move(text), budget_));
    }
    GDN_ASSIGN_OR_RETURN(const std::string piece, FormatValue(value, spec, budget_));
    if (is_markup_ && value.is_string() && value.string().is_markup) {
      out_.append(piece);
      return OkStatus();
    }
    return Append(piece);
  }

  Result<Value> BraceValue(std::string_view field, const Arguments& arguments) {
    if (field.find_first_of(".[") != std::string_view::npos) {
      return Status(StatusCode::kUnsupported,
                    "a field that looks into its argument is not supported");
    }
    const bool is_number =
        !field.empty() && field.find_first_not_of("0123456789") == std::string_view::npos;
    if (field.empty() || is_number) {
      const std::optional<Int> number = is_number ? ParseInt(field, 10) : Int{next_++};
      if (!number || *number >= Int{arguments.positional.size()}) {
        return InvalidArgument("a format has more fields than values");
      }
      return arguments.positional[static_cast<size_t>(*number)];
    }
    for (const auto& [name, value] : arguments.named) {
      if (name == field) return value;
    }
    return InvalidArgument(StrCat("a format has no value for ", Quoted(field, 40)));
  }

  Result<Value> PercentValue(const Value& arguments) {
    if (arguments.Is(Value::Kind::kTuple)) {
      const std::vector<Value>& items = (*arguments.sequence())->items;
      if (next_ < items.size()) return items[next_++];
    } else if (next_ == 0) {
      ++next_;
      return arguments;
    }
    return InvalidArgument("a format has more fields than values");
  }

  Result<Value> NamedValue(const Value& arguments) {
    const size_t end = text_.find(')', i_);
    if (end == std::string_view::npos) return InvalidArgument("a '%(' has no ')'");
    const std::string_view name = text_.substr(i_ + 1, end - i_ - 1);
    i_ = end + 1;
    const DictObject* const dict = arguments.dict();
    if (dict == nullptr) return InvalidArgument("a '%(name)' needs a mapping");
    const Value* const found = dict->Find(name);
    if (found == nullptr) {
      return InvalidArgument(StrCat("a format has no value for ", Quoted(name, 40)));
    }
    used_names_ = true;
    return *found;
  }

  Status ReadFlags(FormatSpec& spec) {
    bool left = false;
    for (; i_ < text_.size(); ++i_) {
      const char c = text_[i_];
      if (c == '-') {
        left = true;
      } else if (c == '+' || (c == ' ' && spec.sign != '+')) {
        spec.sign = c;
      } else if (c == '0') {
        spec.fill = "0";
        spec.align = '=';
      } else if (c == '#') {
        spec.alternate = true;
      } else if (c != ' ') {
        break;
      }
    }
    if (left) {
      spec.fill = " ";
      spec.align = '<';
    }
    GDN_ASSIGN_OR_RETURN(spec.width, ReadWidth(text_, i_));
    if (i_ < text_.size() && text_[i_] == '.') {
      ++i_;
      GDN_ASSIGN_OR_RETURN(spec.precision, ReadWidth(text_, i_));
    }
    if (i_ == text_.size()) return InvalidArgument("a format ends within a field");
    spec.type = text_[i_++];
    return OkStatus();
  }

  Status PercentField(const Value& arguments) {
    if (i_ < text_.size() && text_[i_] == '%') {
      out_.push_back(text_[i_++]);
      return OkStatus();
    }
    std::optional<Value> named;
    if (i_ < text_.size() && text_[i_] == '(') {
      GDN_ASSIGN_OR_RETURN(named, NamedValue(arguments));
    }
    FormatSpec spec;
    GDN_RETURN_IF_ERROR(ReadFlags(spec));
    Value value;
    if (named) {
      value = *std::move(named);
    } else {
      GDN_ASSIGN_OR_RETURN(value, PercentValue(arguments));
    }
    GDN_ASSIGN_OR_RETURN(const std::string piece, PercentPiece(value, spec));
    if (is_markup_ && value.is_string() && value.string().is_markup) {
      out_.append(piece);
      return OkStatus();
    }
    return Append(piece);
  }

  Result<std::string> PercentPiece(const Value& value, FormatSpec spec) {
    if (spec.type == 's' || spec.type == 'r') {
      std::string text;
      GDN_RETURN_IF_ERROR(spec.type == 's' ? AppendStr(value, budget_, text)
                                           : AppendRepr(value, budget_, text));
      const bool left = spec.align == '<';
      FormatSpec plain;
      plain.width = spec.width;
      plain.precision = spec.precision;
      plain.align = left ? '<' : '>';
      return FormatText(text, plain, budget_);
    }
    Int number = 0;
    double real = 0;
    const std::string_view ints = "diuxXoc";
    if (ints.find(spec.type) != std::string_view::npos) {
      if (const auto* d = value.Get<double>()) {
        if (!(*d > -1e18 && *d < 1e18) || spec.type == 'x' || spec.type == 'X' ||
            spec.type == 'o') {
          return InvalidArgument("a float is no integer for this format");
        }
        number = static_cast<Int>(*d);
      } else if (!AsInt(value, number)) {
        return InvalidArgument(
            StrCat("the format '%", spec.type, "' needs a number, not a ", TypeName(value)));
      }
      if (spec.type == 'i' || spec.type == 'u') spec.type = 'd';
      return FormatInt(number, spec, budget_);
    }
    const std::string_view floats = "eEfFgG";
    if (floats.find(spec.type) == std::string_view::npos) {
      return InvalidArgument(StrCat("unknown format ", Quoted(std::string(1, spec.type))));
    }
    if (!AsDouble(value, real)) {
      return InvalidArgument(
          StrCat("the format '%", spec.type, "' needs a number, not a ", TypeName(value)));
    }
    return FormatFloat(real, spec, budget_);
  }

  std::string_view text_;
  bool is_markup_;
  Budget& budget_;
  size_t i_ = 0;
  size_t next_ = 0;  // of the values without a name
  bool used_names_ = false;
  std::string out_;
};

}  // namespace

Result<Value> FormatBraces(Runtime& runtime, const Value& self, const BoundArguments& arguments) {
  return Formatter(self, runtime.budget).Braces(arguments.all);
}

Result<Value> FormatPercent(const Value& format, const Value& arguments, Budget& budget) {
  return Formatter(format, budget).Percent(arguments);
}

}  // namespace gdn::jinja
