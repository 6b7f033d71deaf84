// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: mailbox.h
// -----------------------------------------------------------------------------
//
// Code for a model; see docs/guide/model.md.

#ifndef ROUSE_EXAMPLES_MODEL_MAILBOX_H_
#define ROUSE_EXAMPLES_MODEL_MAILBOX_H_

#include <atomic>
#include <optional>

#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"

namespace rouse::examples {

// Mailbox
//
// Has room for a single letter, from one thread to another thread.
class Mailbox {
 public:
  // Returns whether there was room.
  bool Put(int letter) {
    if (full_.load(std::memory_order_acquire)) return false;
    letter_.Write() = letter;
    full_.store(true, std::memory_order_release);
    return true;
  }

  std::optional<int> Take() {
    if (!full_.load(std::memory_order_acquire)) return std::nullopt;
    const int letter = letter_.Read();
    full_.store(false, std::memory_order_release);
    return letter;
  }

 private:
  Cell<int> letter_;
  Atomic<bool> full_{false};
};

}  // namespace rouse::examples

#endif  // ROUSE_EXAMPLES_MODEL_MAILBOX_H_
