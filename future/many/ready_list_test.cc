// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/many/ready_list.h"

#include <stdexcept>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/waker/waker.h"

namespace rouse::internal {
namespace {

using ::testing::ElementsAre;

class Entry final : public ReadyEntry {
 public:
  Entry(ReadyList* list, int number, int* alive)
      : ReadyEntry(list), number(number), alive_(alive) {
    ++*alive_;
  }

  void WakeByRef() { BorrowedWaker(raw_waker()).get().WakeByRef(); }
  Waker NewWaker() { return BorrowedWaker(raw_waker()).get().Clone(); }

  const int number;

 private:
  ~Entry() override { --*alive_; }

  int* const alive_;
};

class ReadyListTest : public ::testing::Test {
 protected:
  ReadyListTest() {
    for (int i = 0; i < 3; ++i) entries_[i] = new Entry(list_, i, &alive_);
  }
  ~ReadyListTest() override {
    list_->Close();
    for (Entry* entry : entries_) entry->Unref();
    list_->Unref();
    EXPECT_EQ(alive_, 0);
  }

  std::vector<int> PopAll() {
    std::vector<int> numbers;
    while (ReadyEntry* entry = list_->Pop()) {
      numbers.push_back(static_cast<Entry*>(entry)->number);
    }
    return numbers;
  }

  int alive_ = 0;
  ReadyList* const list_ = new ReadyList;
  Entry* entries_[3];
};

TEST_F(ReadyListTest, ReturnsEntriesInWakeOrder) {
  entries_[2]->WakeByRef();
  entries_[0]->WakeByRef();
  EXPECT_EQ(static_cast<Entry*>(list_->Pop())->number, 2);
  entries_[1]->WakeByRef();
  EXPECT_THAT(PopAll(), ElementsAre(0, 1));
}

TEST_F(ReadyListTest, AnEntryIsListedOnce) {
  entries_[1]->WakeByRef();
  entries_[1]->WakeByRef();
  EXPECT_THAT(PopAll(), ElementsAre(1));
}

TEST_F(ReadyListTest, AnEntryReturnsOnlyAfterRearming) {
  entries_[1]->WakeByRef();
  EXPECT_THAT(PopAll(), ElementsAre(1));
  entries_[1]->WakeByRef();
  EXPECT_THAT(PopAll(), ElementsAre());
  ReadyList::Rearm(entries_[1]);
  EXPECT_THAT(PopAll(), ElementsAre());
  entries_[1]->WakeByRef();
  EXPECT_THAT(PopAll(), ElementsAre(1));
}

TEST_F(ReadyListTest, AWakeWakesTheOwnerOnce) {
  CountingWaker task;
  {
    const Waker waker = task.NewWaker();
    list_->Register(waker);
  }
  entries_[0]->WakeByRef();
  EXPECT_EQ(task.wakes(), 1);
  entries_[1]->WakeByRef();
  EXPECT_EQ(task.wakes(), 1);
}

TEST_F(ReadyListTest, AWakerKeepsItsEntry) {
  Waker waker = entries_[0]->NewWaker();
  list_->Close();
  entries_[0]->Unref();
  EXPECT_EQ(alive_, 3);
  std::move(waker).Wake();
  EXPECT_EQ(alive_, 2);
  entries_[0] = new Entry(list_, 0, &alive_);
}

TEST_F(ReadyListTest, AClosedListTakesNoEntryAndWakesNoOwner) {
  CountingWaker task;
  {
    const Waker waker = task.NewWaker();
    list_->Register(waker);
  }
  list_->Close();
  entries_[0]->WakeByRef();
  EXPECT_EQ(task.wakes(), 0);
  // The owner may still be woken, however, to learn of the end.
  list_->Wake();
  EXPECT_EQ(task.wakes(), 1);
  EXPECT_EQ(task.live(), 0);
}

#ifdef ABSL_HAVE_EXCEPTIONS

TEST_F(ReadyListTest, AThrowingOwnersWakerLeaksNoReference) {
  CountingWaker task;
  task.OnWake([] { throw std::runtime_error("no"); });
  {
    const Waker waker = task.NewWaker();
    list_->Register(waker);
  }
  EXPECT_THROW(entries_[0]->NewWaker().Wake(), std::runtime_error);
  EXPECT_EQ(static_cast<Entry*>(list_->Pop())->number, 0);
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse::internal
