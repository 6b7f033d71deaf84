// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "rouse/base/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/timer/heap/ref_counted.h"

namespace rouse::heap {
namespace {

using model::Require;
using model::Thread;

// A node with two owners, each of which writes its own half.
class Node : public RefCounted<Node> {
 public:
  explicit Node(int& deleted) : deleted_(deleted) {}
  ~Node() {
    ++deleted_;
    for (const Cell<int>& half : halves_) sum_ += half.Read();
    Require(sum_ == 2, "the last owner sees what the others did");
  }

  void Write(int which) { halves_[which].Write() = 1; }

 private:
  int& deleted_;
  Cell<int> halves_[2];
  int sum_ = 0;
};

MODEL_TEST(RefCounted, TheLastOfTwoOwnersDeletesTheObject) {
  int deleted = 0;
  Ref<Node> here = MakeRef<Node>(deleted);
  Thread other([there = here]() mutable {
    there->Write(1);
    there.Reset();
  });
  here->Write(0);
  here.Reset();
  other.Join();
  Require(deleted == 1);
}

// One owner shares its reference while another drops its own.
MODEL_TEST(RefCounted, CountsConcurrentShares) {
  int deleted = 0;
  Ref<Node> here = MakeRef<Node>(deleted);
  const auto use = [](Ref<Node> ref, int which) {
    Ref<Node> copy = ref;
    ref.Reset();
    copy->Write(which);
  };
  Thread other([&use, there = here]() mutable { use(std::move(there), 1); });
  use(std::move(here), 0);
  other.Join();
  Require(deleted == 1);
}

MODEL_MUTANTS(RefCounted, "timer/heap/ref_counted.");

}  // namespace
}  // namespace rouse::heap
