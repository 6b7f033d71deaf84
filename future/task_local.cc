// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/task_local.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/panic.h"
#include "rouse/base/thread_local.h"

namespace rouse::internal {
namespace {

// Not inlined, because a coroutine might keep the variable's address while the
// coroutine moves to another thread.
ABSL_ATTRIBUTE_NOINLINE const TaskLocalLink*& Current() {
  return ThreadLocal<const TaskLocalLink*, class TaskLocalsTag>::Get();
}

}  // namespace

ABSL_ATTRIBUTE_NOINLINE const TaskLocalLink* CurrentTaskLocals() {
  return Current();
}

const TaskLocalLink* const* CurrentTaskLocalsPlace() { return &Current(); }

bool CanInheritTaskLocals() {
  for (const TaskLocalLink* link = Current(); link != nullptr;
       link = link->outer) {
    if (link->value != nullptr && link->type->copy == nullptr) return false;
  }
  return true;
}

ABSL_ATTRIBUTE_NOINLINE void* FindTaskLocal(const void* key) {
  for (const TaskLocalLink* link = Current(); link != nullptr;
       link = link->outer) {
    if (link->key == key) return link->value;
  }
  return nullptr;
}

void PanicNoTaskLocal(std::string_view name) {
  Panic(absl::StrCat("TaskLocal::With: '", name,
                     "' has no value in this task or thread; call With() "
                     "inside Scope() or SyncScope(), spawn the task with "
                     "InheritTaskLocals(), or check Get() first"));
}

ABSL_ATTRIBUTE_NOINLINE ScopedTaskLocals::ScopedTaskLocals(
    const TaskLocalLink* innermost)
    : outer_(std::exchange(Current(), innermost)) {}

ABSL_ATTRIBUTE_NOINLINE ScopedTaskLocals::~ScopedTaskLocals() {
  Current() = outer_;
}

InheritedTaskLocals::InheritedTaskLocals() {
  for (const TaskLocalLink* link = Current(); link != nullptr;
       link = link->outer) {
    // An outer value of the same key is hidden, even by a value that was taken.
    const bool hidden = std::any_of(
        links_.begin(), links_.end(),
        [link](const TaskLocalLink& inner) { return inner.key == link->key; });
    if (hidden) continue;
    Value copy(nullptr, link->type->destroy);
    if (link->value != nullptr && link->type->copy != nullptr) {
      copy.reset(link->type->copy(link->value));
    }
    links_.push_back({link->key, copy.get(), link->type, nullptr});
    if (copy != nullptr) values_.push_back(std::move(copy));
  }
  for (size_t i = 1; i < links_.size(); ++i) links_[i - 1].outer = &links_[i];
}

const TaskLocalLink* InheritedTaskLocals::Innermost() {
  if (links_.empty()) return Current();
  links_.back().outer = Current();
  return &links_.front();
}

}  // namespace rouse::internal
