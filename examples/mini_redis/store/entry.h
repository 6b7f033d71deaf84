// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The value of a key.

#ifndef ROUSE_EXAMPLES_MINI_REDIS_STORE_ENTRY_H_
#define ROUSE_EXAMPLES_MINI_REDIS_STORE_ENTRY_H_

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "absl/base/attributes.h"
#include "rouse/timer/delay_queue.h"

namespace mini_redis {

using List = std::deque<std::string>;

// Entry
//
// A string or a list, and the key's place in the queue of deadlines if the key
// expires. A new entry is an empty string that never expires.
class Entry {
 public:
  // Returns the string, or null if the entry is a list.
  std::string* string() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return std::get_if<std::string>(&value_);
  }
  const std::string* string() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return std::get_if<std::string>(&value_);
  }

  // Returns the list, or null if the entry is a string.
  List* list() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    auto* list = std::get_if<std::unique_ptr<List>>(&value_);
    return list == nullptr ? nullptr : list->get();
  }
  const List* list() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    const auto* list = std::get_if<std::unique_ptr<List>>(&value_);
    return list == nullptr ? nullptr : list->get();
  }

  // Returns the name of the type in replies to TYPE.
  std::string_view type() const {
    return string() != nullptr ? "string" : "list";
  }

  // Makes the entry a string. An existing string keeps the memory.
  void SetString(std::string_view value) {
    if (std::string* old = string()) {
      old->assign(value);
    } else {
      value_.emplace<std::string>(value);
    }
  }

  // Makes the entry an empty list, and returns the list.
  List& MakeList() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return *value_.emplace<std::unique_ptr<List>>(std::make_unique<List>());
  }

 private:
  friend class Keyspace;

  std::variant<std::string, std::unique_ptr<List>> value_;
  rouse::DelayKey expiry_;
};

}  // namespace mini_redis

#endif  // ROUSE_EXAMPLES_MINI_REDIS_STORE_ENTRY_H_
