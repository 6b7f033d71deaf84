// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <vector>

#include "rouse/examples/model/mailbox.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"

namespace rouse::examples {
namespace {

using model::Require;
using model::Thread;

MODEL_TEST(Mailbox, LettersArriveInOrder) {
  Mailbox mailbox;
  bool second_sent = false;
  Thread sender([&] {
    Require(mailbox.Put(1), "there is room at first");
    second_sent = mailbox.Put(2);
  });
  std::vector<int> letters;
  for (int i = 0; i < 2; ++i) {
    if (std::optional<int> letter = mailbox.Take()) letters.push_back(*letter);
  }
  sender.Join();
  while (std::optional<int> letter = mailbox.Take()) letters.push_back(*letter);
  Require(letters == (second_sent ? std::vector{1, 2} : std::vector{1}));
}

MODEL_MUTANTS(Mailbox, "examples/model/mailbox.h");

}  // namespace
}  // namespace rouse::examples
