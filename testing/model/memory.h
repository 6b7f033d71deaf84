// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: memory.h
// -----------------------------------------------------------------------------
//
// The memory of one execution according to the C++20 memory model: the values
// that a load can return, and the writes that become visible by the load.
// Internal to the model checker.
//
// # The view machine
//
// Every location keeps all messages (stores) of the execution, in modification
// order. A thread has a view: for each location, the oldest message that the
// thread can still read. A load can return this message or any later message. A
// store can take any place after this message. The search chooses the message
// or the place.
//
//   current   the bound for the thread's accesses.
//   acquired  the views of all messages read, which an acquire fence would add.
//   released  the current view at the last release fence, which a relaxed store
//             carries.
//
// A store puts a view into its message: the current view if the store releases,
// else the released view. A load that acquires joins the message's view into
// the thread's current view. A read-modify-write reads the message just before
// its own message in modification order, and its own message also carries the
// view of the message that was read. This is the release sequence of C++20,
// which no plain store continues.
//
// Happens-before is a vector clock beside each view. It is separate because a
// sequentially consistent fence orders what is read (it exchanges views with
// the global view, below) but synchronizes with nothing.
//
// Sequential consistency is one global view. A sequentially consistent access
// is bounded both by its thread's view of the location and by the global view,
// and records its message in the global view. A fence joins each of the two
// views into the other.
//
// # What is not modelled
//
// Load buffering: a load never returns a store that has not been executed yet.
// (RC11 forbids such loads too, and no processor has them in code that depends
// on the values.)
//
// An order S of all sequentially consistent operations other than the order of
// execution. After x.store(1, seq_cst); y.store(1, relaxed), the standard lets
// another thread see y and then, by a seq_cst load, not x. Here no thread does.
// Fences are alike. AArch64 has such executions: docs/reference/model.md.
//
// axiomatic_programs_test compares everything else with the standard's rules.
//
// The scheme is the promise-free fragment of Kang et al., "A Promising
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

// Decides between `count` possibilities: returns a number below `count`. A
// simple machine would take the first possibility.
using Chooser = absl::FunctionRef<int(int count)>;

// View
//
// For each location, the number of a message; zero is the initial message.
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
  // The effect of an access.
  struct Access {
    uint64_t value = 0;   // the value that was read or stored
    uint64_t stored = 0;  // the value that a read-modify-write stored
    int read = -1;        // the message that was read, or -1
    int written = -1;     // the message that was stored, or -1
    int place = 0;        // number of messages after `written`
  };

  struct Message {
    uint64_t value;
    View view;
    int read_by_rmw;  // the message of the read-modify-write that reads it, or
                      // -1
    int step;         // of the execution, or -1 for the initial message
    int thread;
  };

  // Forgets everything, for a new execution.
  void Clear();

  // Returns a new location with `value`. The initial message is visible to
  // every thread.
  int NewLocation(uint64_t value);

  void StartThread(int thread, int parent);
  // Orders everything that `thread` did before everything that `joiner` does
  // from now on.
  void JoinThread(int joiner, int thread);

  Access Load(int thread, int location, std::memory_order order,
              Chooser choose);
  Access Store(int thread, int location, uint64_t value,
               std::memory_order order, Chooser choose);
  Access Modify(int thread, int location, std::memory_order order,
                absl::FunctionRef<uint64_t(uint64_t)> change, Chooser choose);
  // If `spurious` is true, the operation can fail even if the value is
  // `expected`.
  Access CompareExchange(int thread, int location, uint64_t expected,
                         uint64_t desired, std::memory_order success,
                         std::memory_order failure, bool spurious,
                         Chooser choose);
  // Executes only the load of a compare-exchange. The load has the order
  // `match` if it reads `expected`, else the order `differ`.
  Access LoadToCompare(int thread, int location, uint64_t expected,
                       std::memory_order match, std::memory_order differ,
                       Chooser choose);
  void Fence(int thread, std::memory_order order);
  // Executes a sequentially consistent fence in each of `threads` at once,
  // except that the fence only exchanges the views, and orders no other
  // accesses of the threads.
  void FenceAll(ThreadSet threads);

  // Returns the newest value in modification order.
  uint64_t Newest(int location) const;
  // `CanAdvance()` returns whether `thread` can read a message with another
  // value than `value`. `Advance()` lets the thread read no older message than
  // the first such message from now on.
  bool CanAdvance(int thread, int location, uint64_t value) const;
  void Advance(int thread, int location, uint64_t value);

  // For objects that order accesses in the kernel (a futex's bucket lock) or by
  // definition (a mutex). If `happens` is true, plain data is ordered too.
  void Publish(int thread, View& into, bool happens);
  void Subscribe(int thread, const View& from, bool happens);

  // `happened()` returns the happens-before clock of a thread. `Tick()` counts
  // the thread's next event.
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

  // The current step of the execution, which messages record.
  int step = 0;

 private:
  struct Location {
    std::vector<Message> messages;   // by number; beyond `count`, unused
    std::vector<uint16_t> order;     // numbers, in modification order
    std::vector<uint16_t> position;  // the inverse of `order`
    int count = 0;
  };
  struct ThreadViews {
    View current;
    View acquired;
    View released;
  };

  // Returns the first position in modification order that an access can read.
  int Floor(int thread, int location, std::memory_order order) const;
  // Returns the first message with another value than `value` that `thread` can
  // read, or -1.
  int News(int thread, int location, uint64_t value) const;
  // Returns whether a read-modify-write reads the message at a position.
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
