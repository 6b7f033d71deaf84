// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/timer/heap/ref_counted.h"

#include <type_traits>
#include <utility>

#include "gtest/gtest.h"

namespace rouse::heap {
namespace {

class Node : public RefCounted<Node> {
 public:
  explicit Node(int& deleted, int value = 0)
      : deleted_(deleted), value_(value) {}
  ~Node() { ++deleted_; }

  int value() const { return value_; }
  Ref<Node> Share() { return Ref<Node>::Share(this); }

 private:
  int& deleted_;
  const int value_;
};

static_assert(std::is_nothrow_move_constructible_v<Ref<Node>>);
static_assert(sizeof(Ref<Node>) == sizeof(Node*));

TEST(Ref, IsNullByDefault) {
  Ref<Node> none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.get(), nullptr);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(none.Release(), nullptr);
  none.Reset();
  const Ref<Node> copy = none;
  EXPECT_EQ(copy, none);
}

TEST(Ref, DeletesWithTheLastReference) {
  int deleted = 0;
  Ref<Node> first = MakeRef<Node>(deleted, 42);
  EXPECT_EQ(first->value(), 42);
  Ref<Node> second = first;
  EXPECT_EQ(&*second, first.get());
  EXPECT_EQ(first, second);
  first.Reset();
  EXPECT_FALSE(first);
  EXPECT_EQ(deleted, 0);
  second = nullptr;
  EXPECT_EQ(deleted, 1);
}

TEST(Ref, MovesWithoutCounting) {
  int deleted = 0;
  {
    Ref<Node> first = MakeRef<Node>(deleted);
    Ref<Node> second = std::move(first);
    EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move)
    Ref<Node> third;
    third = std::move(second);
    EXPECT_FALSE(second);  // NOLINT(bugprone-use-after-move)
    EXPECT_TRUE(third);
    EXPECT_EQ(deleted, 0);
  }
  EXPECT_EQ(deleted, 1);
}

TEST(Ref, AssignmentDropsTheOldReference) {
  int first_deleted = 0;
  int second_deleted = 0;
  Ref<Node> ref = MakeRef<Node>(first_deleted);
  const Ref<Node> other = MakeRef<Node>(second_deleted);
  ref = other;
  EXPECT_EQ(first_deleted, 1);
  const Ref<Node>& itself = ref;
  ref = itself;
  EXPECT_EQ(ref, other);
  EXPECT_EQ(second_deleted, 0);
}

TEST(Ref, ReleasesAndAdoptsAReference) {
  int deleted = 0;
  Node* const raw = MakeRef<Node>(deleted).Release();
  EXPECT_EQ(deleted, 0);
  EXPECT_EQ(Ref<Node>::Adopt(raw).get(), raw);
  EXPECT_EQ(deleted, 1);
}

TEST(Ref, SharesItsObject) {
  int deleted = 0;
  Ref<Node> ref = MakeRef<Node>(deleted);
  Ref<Node> shared = ref->Share();
  ref.Reset();
  EXPECT_EQ(deleted, 0);
  shared.Reset();
  EXPECT_EQ(deleted, 1);
}

}  // namespace
}  // namespace rouse::heap
