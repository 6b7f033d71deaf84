// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests well-known algorithms: correct, and wrong by one memory order.

#include <atomic>
#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/testing/model/atomic.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/mutex.h"
#include "rouse/testing/model/thread.h"

namespace rouse::model {
namespace {

using enum std::memory_order;
using testing::HasSubstr;

struct Algorithm {
  std::string name;
  std::function<void()> body;
  std::string failure;  // a part of the message; empty if there is no failure
};

void PrintTo(const Algorithm& algorithm, std::ostream* out) {
  *out << algorithm.name;
}

class AlgorithmTest : public testing::TestWithParam<Algorithm> {};

TEST_P(AlgorithmTest, HasTheExpectedResult) {
  const Result result = Check({}, GetParam().body);
  EXPECT_THAT(result.message, HasSubstr(GetParam().failure));
  EXPECT_EQ(result.failed, !GetParam().failure.empty()) << result.message;
  EXPECT_EQ(result.complete, GetParam().failure.empty());
}
TEST_P(AlgorithmTest, HasTheExpectedResultWithoutReduction) {
  // Some algorithms are too large to be explored in full.
  const Result result =
      Check({.mode = Mode::kNaive, .max_executions = 200'000}, GetParam().body);
  EXPECT_THAT(result.message, HasSubstr(GetParam().failure));
  EXPECT_EQ(result.failed, !GetParam().failure.empty()) << result.message;
}

// Two threads lock once each.
template <class Lock>
std::function<void()> Excludes(Lock (*make)()) {
  return [make] {
    Lock lock = make();
    Cell<int> data(0);
    const auto body = [&](int self) {
      lock.Lock(self);
      ++data.Write();
      lock.Unlock(self);
    };
    {
      const Thread other([&] { body(1); });
      body(0);
    }
    Require(data.Read() == 2);
  };
}

template <std::memory_order kStore, std::memory_order kLoad>
class Peterson {
 public:
  void Lock(int self) {
    wants_[self].store(true, kStore);
    turn_.store(1 - self, kStore);
    while (wants_[1 - self].load(kLoad) && turn_.load(kLoad) == 1 - self) {
      SpinHint();
    }
  }
  void Unlock(int self) {
    wants_[self].store(false, kStore == relaxed ? release : kStore);
  }

 private:
  Atomic<bool> wants_[2];
  Atomic<int> turn_ = 0;
};

// The exchanges of `turn_` are ordered: the second acquires from the first.
template <std::memory_order kExchange>
class PetersonByExchange {
 public:
  void Lock(int self) {
    wants_[self].store(true, relaxed);
    turn_.exchange(1 - self, kExchange);
    while (wants_[1 - self].load(acquire) && turn_.load(relaxed) == 1 - self) {
      SpinHint();
    }
  }
  void Unlock(int self) { wants_[self].store(false, release); }

 private:
  Atomic<bool> wants_[2];
  Atomic<int> turn_ = 0;
};

template <std::memory_order kStore, std::memory_order kLoad>
class Dekker {
 public:
  void Lock(int self) {
    wants_[self].store(true, kStore);
    while (wants_[1 - self].load(kLoad)) {
      if (turn_.load(kLoad) == self) {
        SpinHint();
        continue;
      }
      wants_[self].store(false, kStore);
      while (turn_.load(kLoad) != self) SpinHint();
      wants_[self].store(true, kStore);
    }
  }
  void Unlock(int self) {
    turn_.store(1 - self, kStore);
    wants_[self].store(false, kStore);
  }

 private:
  Atomic<bool> wants_[2];
  Atomic<int> turn_ = 0;
};

// Lamport's algorithm, for two threads.
template <std::memory_order kStore, std::memory_order kLoad>
class Bakery {
 public:
  void Lock(int self) {
    const int other = 1 - self;
    choosing_[self].store(true, kStore);
    const int ticket = ticket_[other].load(kLoad) + 1;
    ticket_[self].store(ticket, kStore);
    choosing_[self].store(false, kStore);
    while (choosing_[other].load(kLoad)) SpinHint();
    for (;;) {
      const int theirs = ticket_[other].load(kLoad);
      if (theirs == 0 || ticket < theirs || (ticket == theirs && self == 0)) {
        return;
      }
      SpinHint();
    }
  }
  void Unlock(int self) { ticket_[self].store(0, kStore); }

 private:
  Atomic<bool> choosing_[2];
  Atomic<int> ticket_[2];
};

template <std::memory_order kLock, std::memory_order kUnlock>
class SpinLock {
 public:
  void Lock(int /*self*/) {
    while (locked_.exchange(true, kLock)) {
      while (locked_.load(relaxed)) SpinHint();
    }
  }
  void Unlock(int /*self*/) { locked_.store(false, kUnlock); }

 private:
  Atomic<bool> locked_ = false;
};

template <std::memory_order kLoad>
class TicketLock {
 public:
  void Lock(int /*self*/) {
    const int ticket = next_.fetch_add(1, relaxed);
    while (serving_.load(kLoad) != ticket) SpinHint();
    serving_now_ = ticket;
  }
  void Unlock(int /*self*/) { serving_.store(serving_now_ + 1, release); }

 private:
  Atomic<int> next_ = 0;
  Atomic<int> serving_ = 0;
  int serving_now_ = 0;  // belongs to the thread that holds the lock
};

template <class Lock>
Lock Make() {
  return Lock();
}

// The data must be atomic, because they are read and written concurrently.
template <bool kWriterFence, bool kReaderFence>
void SeqLock() {
  Atomic<int> sequence = 0;
  Atomic<int> first = 0;
  Atomic<int> second = 0;
  const Thread writer([&] {
    sequence.store(1, relaxed);
    if (kWriterFence) AtomicThreadFence(release);
    first.store(1, relaxed);
    second.store(1, relaxed);
    sequence.store(2, release);
  });
  const int before = sequence.load(acquire);
  const int one = first.load(relaxed);
  const int two = second.load(relaxed);
  if (kReaderFence) AtomicThreadFence(acquire);
  const int after = sequence.load(relaxed);
  if (before == after && before % 2 == 0) Require(one == two, "torn");
}

template <std::memory_order kStore, std::memory_order kLoad>
void DoubleCheckedInit() {
  Mutex mutex;
  Atomic<bool> done = false;
  Cell<int> value(0);
  const auto get = [&] {
    if (!done.load(kLoad)) {
      const MutexLock lock(&mutex);
      if (!done.load(relaxed)) {
        value.Write() = 42;
        done.store(true, kStore);
      }
    }
    Require(value.Read() == 42);
  };
  const Thread other(get);
  get();
}

// Treiber's stack. Two threads push, and then one takes the whole stack.
template <std::memory_order kPush, std::memory_order kTake>
void Stack() {
  struct Node {
    Cell<int> value;
    Node* next = nullptr;
  };
  Atomic<Node*> head = nullptr;
  const auto push = [&](int value) {
    auto node = std::make_unique<Node>();
    node->value.Write() = value;
    node->next = head.load(relaxed);
    while (
        !head.compare_exchange_weak(node->next, node.get(), kPush, relaxed)) {
    }
    node.release();
  };
  int sum = 0;
  const auto take = [&] {
    for (Node* node = head.exchange(nullptr, kTake); node != nullptr;) {
      const std::unique_ptr<Node> owned(node);
      sum += node->value.Read();
      node = node->next;
    }
  };
  Thread one([&] { push(1); });
  Thread two([&] { push(2); });
  take();
  one.Join();
  two.Join();
  take();
  Require(sum == 3);
}

std::string NameOfAlgorithm(const testing::TestParamInfo<Algorithm>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    Algorithms, AlgorithmTest,
    testing::Values(
        Algorithm{"Peterson", Excludes(&Make<Peterson<seq_cst, seq_cst>>), ""},
        Algorithm{"PetersonWithoutSeqCst",
                  Excludes(&Make<Peterson<release, acquire>>), "data race"},
        Algorithm{"PetersonWithAnExchange",
                  Excludes(&Make<PetersonByExchange<acq_rel>>), ""},
        Algorithm{"PetersonWithARelaxedExchange",
                  Excludes(&Make<PetersonByExchange<relaxed>>), "data race"},
        Algorithm{"Dekker", Excludes(&Make<Dekker<seq_cst, seq_cst>>), ""},
        Algorithm{"DekkerWithoutSeqCst",
                  Excludes(&Make<Dekker<release, acquire>>), "data race"},
        Algorithm{"Bakery", Excludes(&Make<Bakery<seq_cst, seq_cst>>), ""},
        Algorithm{"BakeryWithoutSeqCst",
                  Excludes(&Make<Bakery<release, acquire>>), "data race"},
        Algorithm{"SpinLock", Excludes(&Make<SpinLock<acquire, release>>), ""},
        Algorithm{"SpinLockThatDoesNotAcquire",
                  Excludes(&Make<SpinLock<relaxed, release>>), "data race"},
        Algorithm{"SpinLockThatDoesNotRelease",
                  Excludes(&Make<SpinLock<acquire, relaxed>>), "data race"},
        Algorithm{"TicketLock", Excludes(&Make<TicketLock<acquire>>), ""},
        Algorithm{"TicketLockThatDoesNotAcquire",
                  Excludes(&Make<TicketLock<relaxed>>), "data race"},
        Algorithm{"SeqLock", &SeqLock<true, true>, ""},
        Algorithm{"SeqLockWithoutAWritersFence", &SeqLock<false, true>, "torn"},
        Algorithm{"SeqLockWithoutAReadersFence", &SeqLock<true, false>, "torn"},
        Algorithm{"DoubleCheckedInit", &DoubleCheckedInit<release, acquire>,
                  ""},
        Algorithm{"DoubleCheckedInitThatDoesNotRelease",
                  &DoubleCheckedInit<relaxed, acquire>, "data race"},
        Algorithm{"DoubleCheckedInitThatDoesNotAcquire",
                  &DoubleCheckedInit<release, relaxed>, "data race"},
        // Between two pushes, the read-modify-writes continue the release.
        Algorithm{"Stack", &Stack<release, acquire>, ""},
        Algorithm{"StackThatDoesNotRelease", &Stack<relaxed, acquire>,
                  "data race"},
        Algorithm{"StackThatDoesNotAcquire", &Stack<release, relaxed>,
                  "data race"}),
    NameOfAlgorithm);

}  // namespace
}  // namespace rouse::model
