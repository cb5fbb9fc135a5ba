// SPDX-License-Identifier: Apache-2.0
// The statements.
#include "chat_template/evaluator.h"

#include "base/str.h"
#include "chat_template/convert.h"
#include "chat_template/lexer.h"
#include "chat_template/print.h"

namespace gdn::jinja {
namespace {

// A message of raise_exception() may hold anything; an error is one line.
std::string OneLine(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return text;
}

}  // namespace

Result<std::string> Evaluator::Render(const Body& body) {
  std::string out;
  out_ = &out;
  const ScopeGuard scope(*this, nullptr);
  const Result<Flow> flow = Execute(body);
  if (!flow.ok()) {
    const Status status = flow.status();
    return AtLine(line_, {status.code(), OneLine(status.message())});
  }
  return out;
}

Status Evaluator::CheckLevel() const {
  if (level_ <= kMaxRenderDepth) return runtime_.budget.Spend(1);
  return InvalidArgument(StrCat("recurses deeper than ", kMaxRenderDepth, " levels"));
}

Status Evaluator::Emit(std::string_view text) {
  GDN_RETURN_IF_ERROR(runtime_.budget.Allocate(text.size()));
  if (out_->size() + text.size() > kMaxOutputBytes) {
    return InvalidArgument(StrCat("writes more than ", HumanBytes(kMaxOutputBytes)));
  }
  out_->append(text);
  return OkStatus();
}

Result<Evaluator::Flow> Evaluator::Execute(const Body& body) {
  for (const StatementPtr& statement : body) {
    GDN_ASSIGN_OR_RETURN(const Flow flow, ExecuteStatement(*statement));
    if (flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

Result<Evaluator::Flow> Evaluator::ExecuteStatement(const StatementNode& statement) {
  const LevelGuard level(*this);
  line_ = statement.line;
  GDN_RETURN_IF_ERROR(CheckLevel());
  switch (statement.kind) {
    case StatementNode::Kind::kText:
      GDN_RETURN_IF_ERROR(Emit(static_cast<const TextNode&>(statement).text));
      return Flow::kNext;
    case StatementNode::Kind::kOutput:
      GDN_RETURN_IF_ERROR(ExecuteOutput(static_cast<const OutputNode&>(statement)));
      return Flow::kNext;
    case StatementNode::Kind::kIf:
      return ExecuteIf(static_cast<const IfNode&>(statement));
    case StatementNode::Kind::kFor:
      return ExecuteFor(static_cast<const ForNode&>(statement));
    case StatementNode::Kind::kSet:
      GDN_RETURN_IF_ERROR(ExecuteSet(static_cast<const SetNode&>(statement)));
      return Flow::kNext;
    case StatementNode::Kind::kSetBlock:
      GDN_RETURN_IF_ERROR(ExecuteSetBlock(static_cast<const SetBlockNode&>(statement)));
      return Flow::kNext;
    case StatementNode::Kind::kMacro:
      GDN_RETURN_IF_ERROR(ExecuteMacro(static_cast<const MacroNode&>(statement)));
      return Flow::kNext;
    case StatementNode::Kind::kCallBlock:
      GDN_RETURN_IF_ERROR(ExecuteCallBlock(static_cast<const CallBlockNode&>(statement)));
      return Flow::kNext;
    case StatementNode::Kind::kFilterBlock:
      GDN_RETURN_IF_ERROR(ExecuteFilterBlock(static_cast<const FilterBlockNode&>(statement)));
      return Flow::kNext;
    case StatementNode::Kind::kWith:
      return ExecuteWith(static_cast<const WithNode&>(statement));
    case StatementNode::Kind::kScope:
      return ExecuteInScope(static_cast<const ScopeNode&>(statement).body);
    case StatementNode::Kind::kBreak:
      return Flow::kBreak;
    case StatementNode::Kind::kContinue:
      return Flow::kContinue;
  }
  return Flow::kNext;
}

Status Evaluator::ExecuteOutput(const OutputNode& node) {
  GDN_ASSIGN_OR_RETURN(const Value value, Evaluate(*node.value));
  if (value.is_string()) return Emit(value.text());
  GDN_ASSIGN_OR_RETURN(const std::string text, Str(value, runtime_.budget));
  return Emit(text);
}

Result<Evaluator::Flow> Evaluator::ExecuteIf(const IfNode& node) {
  for (const auto& branch : node.branches) {
    GDN_ASSIGN_OR_RETURN(const Value test, Evaluate(*branch.first));
    if (Truth(test)) return Execute(branch.second);
  }
  return Execute(node.otherwise);
}

Result<Evaluator::Flow> Evaluator::ExecuteInScope(const Body& body) {
  const ScopeGuard scope(*this, scope_);
  return Execute(body);
}

Result<SequencePtr> Evaluator::FilteredItems(const ForNode& node, SequencePtr items) {
  if (node.filter == nullptr) return items;
  std::vector<Value> kept;
  for (const Value& item : items->items) {
    const ScopeGuard scope(*this, scope_);
    GDN_RETURN_IF_ERROR(Assign(node.target, item));
    GDN_ASSIGN_OR_RETURN(const Value wanted, Evaluate(*node.filter));
    if (Truth(wanted)) kept.push_back(item);
  }
  return MakeSequence(std::move(kept), runtime_.budget);
}

Result<Evaluator::Flow> Evaluator::ExecuteFor(const ForNode& node) {
  GDN_ASSIGN_OR_RETURN(const Value iterable, Evaluate(*node.iterable));
  GDN_ASSIGN_OR_RETURN(SequencePtr items, ItemsOf(iterable, runtime_.budget));
  GDN_ASSIGN_OR_RETURN(items, FilteredItems(node, std::move(items)));
  if (items->items.empty()) return ExecuteInScope(node.otherwise);
  GDN_RETURN_IF_ERROR(runtime_.budget.Allocate(sizeof(LoopObject)));
  const auto loop = std::make_shared<LoopObject>(LoopObject{items});
  for (size_t i = 0; i < items->items.size(); ++i) {
    GDN_RETURN_IF_ERROR(runtime_.budget.Spend(1));
    loop->index = i;
    const ScopeGuard scope(*this, scope_);
    scope_->Set("loop", loop);
    GDN_RETURN_IF_ERROR(Assign(node.target, items->items[i]));
    GDN_ASSIGN_OR_RETURN(const Flow flow, Execute(node.body));
    if (flow == Flow::kBreak) break;
  }
  return Flow::kNext;
}

Status Evaluator::Assign(const Target& target, Value value) {
  switch (target.kind) {
    case Target::Kind::kName:
      scope_->Set(target.name, std::move(value));
      return OkStatus();
    case Target::Kind::kAttribute: {
      const Value* const object = scope_->Find(target.name);
      const auto* space = object == nullptr ? nullptr : object->Get<NamespaceObject*>();
      if (space == nullptr) {
        return InvalidArgument(
            StrCat("cannot set an attribute of '", target.name, "', must be a namespace()"));
      }
      if (target.attribute[0] == '_') {
        return InvalidArgument(
            StrCat("cannot set '", target.attribute, "', must not start with '_'"));
      }
      GDN_RETURN_IF_ERROR(runtime_.budget.Spend(1));
      (*space)->attributes[target.attribute] = std::move(value);
      return OkStatus();
    }
    case Target::Kind::kTuple:
      break;
  }
  GDN_ASSIGN_OR_RETURN(const SequencePtr items, ItemsOf(value, runtime_.budget));
  if (items->items.size() != target.items.size()) {
    return InvalidArgument(StrCat("cannot assign ", items->items.size(), " values to ",
                                  target.items.size(), " names"));
  }
  for (size_t i = 0; i < target.items.size(); ++i) {
    GDN_RETURN_IF_ERROR(Assign(target.items[i], items->items[i]));
  }
  return OkStatus();
}

Status Evaluator::ExecuteSet(const SetNode& node) {
  GDN_ASSIGN_OR_RETURN(Value value, Evaluate(*node.value));
  return Assign(node.target, std::move(value));
}

Result<std::string> Evaluator::Captured(const Body& body) {
  std::string text;
  std::string* const outer = std::exchange(out_, &text);
  const Result<Flow> flow = ExecuteInScope(body);
  out_ = outer;
  if (!flow.ok()) return flow.status();
  return text;
}

Result<Value> Evaluator::Filtered(std::string text, const std::vector<FilterStep>& filters) {
  GDN_ASSIGN_OR_RETURN(Value value, MakeString(std::move(text), runtime_.budget));
  for (const FilterStep& step : filters) {
    GDN_ASSIGN_OR_RETURN(const Arguments arguments, EvaluateArguments(step.arguments));
    if (step.filter == nullptr) return UnknownName("filter", step.name);
    GDN_ASSIGN_OR_RETURN(value, CallBuiltin(*step.filter, runtime_, value, arguments));
  }
  return value;
}

Status Evaluator::ExecuteSetBlock(const SetBlockNode& node) {
  GDN_ASSIGN_OR_RETURN(std::string text, Captured(node.body));
  GDN_ASSIGN_OR_RETURN(Value value, Filtered(std::move(text), node.filters));
  return Assign(node.target, std::move(value));
}

Status Evaluator::ExecuteFilterBlock(const FilterBlockNode& node) {
  GDN_ASSIGN_OR_RETURN(std::string text, Captured(node.body));
  GDN_ASSIGN_OR_RETURN(const Value value, Filtered(std::move(text), node.filters));
  GDN_ASSIGN_OR_RETURN(const std::string filtered, Str(value, runtime_.budget));
  return Emit(filtered);
}

Result<Evaluator::Flow> Evaluator::ExecuteWith(const WithNode& node) {
  // The values do not see the names of the same tag.
  std::vector<Value> values;
  for (const auto& assignment : node.assignments) {
    GDN_ASSIGN_OR_RETURN(Value value, Evaluate(*assignment.second));
    values.push_back(std::move(value));
  }
  const ScopeGuard scope(*this, scope_);
  for (size_t i = 0; i < values.size(); ++i) {
    GDN_RETURN_IF_ERROR(Assign(node.assignments[i].first, std::move(values[i])));
  }
  return Execute(node.body);
}

}  // namespace gdn::jinja
