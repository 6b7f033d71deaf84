// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/await_trace.h"

#include <cstddef>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace rouse {
namespace internal {
namespace {

bool IsOpening(char c) { return c == '(' || c == '<' || c == '{' || c == '['; }
bool IsClosing(char c) { return c == ')' || c == '>' || c == '}' || c == ']'; }

// Returns where the bracket that opens at `open` closes, or the end of `text`.
size_t FindClosing(std::string_view text, size_t open) {
  size_t depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (IsOpening(text[i])) ++depth;
    // An arrow does not close a bracket.
    if (IsClosing(text[i]) && !(i > 0 && text[i - 1] == '-')) --depth;
    if (depth == 0) return i;
  }
  return text.size();
}

}  // namespace

std::string_view ShortFunctionName(std::string_view function) {
  // The format is "type scope::name(parameters) const [T = argument]". The
  // parameters are in the first parentheses that are outside all brackets and
  // are not followed by a scope, as "(anonymous namespace)" is. The name begins
  // at the space before it.
  size_t begin = 0;
  for (size_t i = 0; i < function.size(); ++i) {
    const std::string_view before = function.substr(begin, i - begin);
    if (function[i] == ' ') {
      begin = i + 1;
    } else if (absl::EndsWith(before, "operator")) {
      // The brackets are part of a name.
      while (i < function.size() && function[i] != '(') ++i;
      if (absl::StartsWith(function.substr(i), "()(")) i += 2;
      return function.substr(begin, i - begin);
    } else if (IsOpening(function[i])) {
      const size_t close = FindClosing(function, i);
      if (close == function.size()) break;
      if (function[i] == '(' &&
          !absl::StartsWith(function.substr(close + 1), "::")) {
        return before;
      }
      i = close;
    }
  }
  return function;
}

}  // namespace internal

AwaitTrace::Step& AwaitTrace::AddStep(Step::Kind kind, std::string_view name) {
  Step& step = steps_.emplace_back();
  step.kind = kind;
  step.begins_branch = std::exchange(begins_branch_, false);
  step.depth = depth_;
  step.name = name;
  return step;
}

void AwaitTrace::AddAwait(const std::source_location& where) {
  AddStep(Step::Kind::kAwait,
          internal::ShortFunctionName(where.function_name()))
      .where = where;
}

void AwaitTrace::AddLeaf(std::string_view type, std::string detail) {
  AddStep(Step::Kind::kLeaf, type).detail = std::move(detail);
}

std::string AwaitTrace::ToString(size_t indent) const {
  std::string text;
  for (const Step& step : steps_) {
    text.append(indent + size_t{2} * step.depth, ' ');
    if (step.begins_branch) text.replace(text.size() - 2, 1, "-");
    if (step.kind == Step::Kind::kAwait) {
      absl::StrAppend(&text, step.name, " at ", step.where.file_name(), ":",
                      step.where.line());
    } else {
      absl::StrAppend(&text, "awaiting ", step.name);
      if (!step.detail.empty()) absl::StrAppend(&text, ", ", step.detail);
    }
    text += '\n';
  }
  return text;
}

}  // namespace rouse
