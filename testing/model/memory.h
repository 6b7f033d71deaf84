// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: memory.h
// -----------------------------------------------------------------------------
//
// The memory of one execution, as the C++20 memory model has it: which values a
// load may return, and what that makes visible. Internal to the model checker.
//
// # The view machine
//
// Every location keeps all messages (stores) that it ever got, in modification
// order. A thread has a view: for each location, the newest message that it
// must not read behind. A load may return any message from there on; a store
// may take any place after it. Which of them is a choice of the search.
//
//   current   what the thread's accesses must not go behind.
//   acquired  what an acquire fence would add: the views of all messages read.
//   released  the current view at the last release fence: what a relaxed store
//             carries.
//
// A store puts a view into its message: the current one if it releases, else
// the released one. A load that acquires joins the message's view into its own.
// A read-modify-write reads the message just before its own in modification
// order, and its message carries on that one's view: the release sequence of
// C++20, which no plain store continues.
//
// Happens-before is a vector clock beside each view. It is apart because a
// sequentially consistent fence orders what is read (it exchanges views with
// the one global view, below) and yet synchronizes with nothing.
//
// Sequential consistency: one global view. An access of that order goes behind
// neither its thread's view of the location nor the global one, and leaves its
// message there; a fence joins the whole of both into both.
//
// # What is not modelled
//
// Load buffering: a load never returns a store that has not been executed yet.
// (RC11 forbids that too; no processor does it to code that depends on the
// values.)
//
// An order S, of all that is sequentially consistent, that is not the order of
// execution. In x.store(1, seq_cst); y.store(1, relaxed) the standard lets
// another thread see y and then, by a seq_cst load, not x. Here none does.
// Likewise for fences. AArch64 has such executions: docs/model.md.
//
// axiomatic_programs_test compares what is left with the standard's rules.
//
// The scheme is that of the promise-free fragment of Kang et al., "A Promising
// Semantics for Relaxed-Memory Concurrency" (POPL 2017), with the fences of
// Lahav et al., "Repairing Sequential Consistency in C/C++11" (PLDI 2017).

#ifndef ROUSE_TESTING_MODEL_MEMORY_H_
#define ROUSE_TESTING_MODEL_MEMORY_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "rouse/testing/model/vector_clock.h"

namespace rouse::model {

// Decides between `count` possibilities: a number below it. The first is the
// one that a simple machine would take.
using Chooser = absl::FunctionRef<int(int count)>;

// View
//
// For each location the number of a message; zero is the initial one.
class View {
 public:
  uint16_t operator[](int location) const {
    return static_cast<size_t>(location) < messages_.size()
               ? messages_[location]
               : 0;
  }
  void Set(int location, uint16_t message) {
    if (static_cast<size_t>(location) >= messages_.size()) {
      messages_.resize(location + 1);
    }
    messages_[location] = message;
  }
  int size() const { return static_cast<int>(messages_.size()); }
  void Clear() {
    messages_.clear();
    happened.at.fill(0);
  }

  VectorClock happened;

 private:
  std::vector<uint16_t> messages_;
};

class Memory {
 public:
  // What an access did.
  struct Access {
    uint64_t value = 0;   // read, or stored
    uint64_t stored = 0;  // by a read-modify-write
    int read = -1;        // the message read, or -1
    int written = -1;     // the message stored, or -1
    int place = 0;        // of `written`: how many messages came to be after it
  };

  struct Message {
    uint64_t value;
    View view;
    int read_by_rmw;  // whether a read-modify-write reads it: its number, or -1
    int step;         // of the execution, or -1 for the initial one
    int thread;
  };

  // Forgets everything: a new execution begins.
  void Clear();

  // A location with `value`. Its initial message is visible to every thread.
  int NewLocation(uint64_t value);

  void StartThread(int thread, int parent);
  // What `thread` did comes before whatever `joiner` does from here on.
  void JoinThread(int joiner, int thread);

  Access Load(int thread, int location, std::memory_order order,
              Chooser choose);
  Access Store(int thread, int location, uint64_t value,
               std::memory_order order, Chooser choose);
  Access Modify(int thread, int location, std::memory_order order,
                absl::FunctionRef<uint64_t(uint64_t)> change, Chooser choose);
  // `spurious`: whether it may fail with the value expected.
  Access CompareExchange(int thread, int location, uint64_t expected,
                         uint64_t desired, std::memory_order success,
                         std::memory_order failure, bool spurious,
                         Chooser choose);
  // What a compare-exchange reads, by itself: of the order `match` where that
  // is `expected`, else of the order `differ`.
  Access LoadToCompare(int thread, int location, uint64_t expected,
                       std::memory_order match, std::memory_order differ,
                       Chooser choose);
  void Fence(int thread, std::memory_order order);
  // A sequentially consistent fence in each of `threads` at one time, but that
  // it orders no other accesses of these: it only exchanges the views.
  void FenceAll(ThreadSet threads);

  // The newest value in modification order.
  uint64_t Newest(int location) const;
  // Whether there is a message with another value than `value` that `thread`
  // may read, and: from now on, let it read no older one than the first such.
  bool CanAdvance(int thread, int location, uint64_t value) const;
  void Advance(int thread, int location, uint64_t value);

  // For what orders accesses through the kernel (a futex's bucket lock) or by
  // definition (a mutex). `happens` also orders plain data.
  void Publish(int thread, View& into, bool happens);
  void Subscribe(int thread, const View& from, bool happens);

  // The happens-before clock of a thread, and its next event.
  const VectorClock& happened(int thread) const {
    return threads_[thread].current.happened;
  }
  uint16_t Tick(int thread) {
    return ++threads_[thread].current.happened[thread];
  }

  const Message& message(int location, int number) const {
    return locations_[location].messages[number];
  }
  int message_count(int location) const { return locations_[location].count; }

  // Where the execution is, to be noted in messages.
  int step = 0;

 private:
  struct Location {
    std::vector<Message> messages;   // by number; beyond `count`, spare ones
    std::vector<uint16_t> order;     // numbers, in modification order
    std::vector<uint16_t> position;  // the inverse of it
    int count = 0;
  };
  struct ThreadViews {
    View current;
    View acquired;
    View released;
  };

  // The first position in modification order that an access may read.
  int Floor(int thread, int location, std::memory_order order) const;
  // The first message with another value than `value` that `thread` may read,
  // or -1.
  int News(int thread, int location, uint64_t value) const;
  // Whether a read-modify-write reads the message at a position.
  bool Taken(const Location& location, int position) const;
  void Join(View& into, const View& from);
  void Raise(View& view, int location, int message);
  void Read(int thread, int location, int message, std::memory_order order);
  int Write(int thread, int location, int position, uint64_t value,
            std::memory_order order, int read);

  std::vector<Location> locations_;
  int location_count_ = 0;
  std::array<ThreadViews, kMaxThreads> threads_;
  View global_;
  std::vector<int> candidates_;
};

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_MEMORY_H_
