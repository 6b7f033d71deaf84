// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: scripted_io.h
// -----------------------------------------------------------------------------
//
// A connection whose other end follows a script, for tests of a protocol.
//
//   ScriptedIo io;
//   io.Read("PING\r\n").Write("+PONG\r\n").Read("QUIT\r\n").Write("+OK\r\n");
//   EXPECT_THAT(runtime.BlockOn(ServeConnection(io)), IsOk());

#ifndef ROUSE_TESTING_SCRIPTED_IO_H_
#define ROUSE_TESTING_SCRIPTED_IO_H_

#include <cstddef>
#include <deque>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "rouse/base/any_duration.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {

// ScriptedIo
//
// An `AsyncRead` and `AsyncWrite` that performs a script, step by step:
//
// *   A read returns the bytes of a `Read()` step, in as many parts as the
//     reader's buffer needs. While another step comes first, a read is pending.
//     After the script, a read returns 0, the end of the stream.
// *   A write must consist of the bytes of a `Write()` step. It can come in
//     several parts, and a part can reach into the next `Write()` step. A write
//     that differs from the script, that comes while the script waits for a
//     reader, or that follows a shutdown, fails the test and returns ABORTED
//     with both texts. The script then ends: reads return 0, and further writes
//     return the same error without another failure.
//
// The steps are in a single order. A program that writes before it has read the
// bytes of an earlier step needs a `Duplex()` instead.
//
// The destructor fails the test if steps are left. A test that stops early on
// purpose calls `Abandon()`. A failure names the line at which the `ScriptedIo`
// was made.
//
// Steps can be added until a reader has seen the end of the stream. One task
// may read while another task writes, but both must run on one thread at a
// time. Of several readers, the task that polled last is woken, and of several
// writers as well. Destroying a pending read or write loses nothing, and drops
// the task's waker.
class ScriptedIo {
 public:
  // A future's place to wait. A `Waiter` can be moved, except while the future
  // waits; moving the `Waiter` then is a `Panic()`.
  class Waiter;

  explicit ScriptedIo(
      std::source_location where = std::source_location::current())
      : where_(where) {}
  ScriptedIo(const ScriptedIo&) = delete;
  ScriptedIo& operator=(const ScriptedIo&) = delete;
  ~ScriptedIo();

  // Adds bytes for the reader. An empty string adds no step: `ReadEnd()` ends
  // the stream.
  ScriptedIo& Read(std::string_view bytes);
  // Adds the end of the stream, for a writer that answers after the other side
  // has said everything. From this step on, a read returns 0. Only steps for
  // the writer can follow.
  ScriptedIo& ReadEnd();
  // Adds bytes that the writer must write. An empty string adds no step.
  ScriptedIo& Write(std::string_view bytes);
  // Adds an error for the next read. REQUIRES: `!error.ok()`.
  ScriptedIo& ReadError(absl::Status error);
  // Adds an error for the next write. REQUIRES: `!error.ok()`.
  ScriptedIo& WriteError(absl::Status error);
  // Adds a pause: reads and writes are pending for `duration` from the moment
  // at which one of them reaches the pause. Needs a current clock, as `Sleep()`
  // does. A pause of `absl::InfiniteDuration()` at the end of the script, with
  // `Abandon()` at the end of the test, keeps the stream open.
  ScriptedIo& Wait(AnyDuration duration);

  // Drops the steps that are left, so that the destructor fails no test. Tasks
  // that wait for a step are woken, and find the end of the script.
  void Abandon();

  // Returns whether every step has been performed or dropped.
  bool is_done() const { return steps_.empty(); }
  // Returns whether the writer has shut the connection down.
  bool is_shut_down() const { return is_shut_down_; }

  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer,
                                              Waiter* waiter = nullptr);
  PollResult<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                               std::string_view data,
                                               Waiter* waiter = nullptr);
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts,
      Waiter* waiter = nullptr);
  PollResult<absl::Status> PollFlush(Context& cx);
  PollResult<absl::Status> PollShutdown(Context& cx);

 private:
  enum class Kind { kRead, kReadEnd, kWrite, kReadError, kWriteError, kWait };
  struct Step {
    Kind kind;
    std::string bytes;
    absl::Status error;
    absl::Duration duration;
  };

  // The task whose read or write waits for an earlier step.
  struct Place {
    Waker waker;
    Waiter* owner = nullptr;  // null, or its `place_` is this place
    // Wakes this task at the end of a pause. A reader and a writer have a sleep
    // each, so that either of them can be destroyed.
    std::optional<Sleep> pause;
  };

  // Adds a step for the reader, who must not have seen the end.
  ScriptedIo& AddForReader(Step step);
  ScriptedIo& Add(Step step);
  // Ends the first step, and wakes the tasks that wait for a later step.
  void EndStep();
  void WakeBoth();
  // Makes the task of `cx` wait in `place`, on behalf of `waiter`, if any.
  static void Enter(Place& place, Context& cx, Waiter* waiter);
  // Empties `place`, except for its sleep, and returns its waker.
  static Waker Leave(Place& place);
  // Returns whether the script is at a pause that has not passed. The task of
  // `cx` then waits in `place`, and is woken when the pause has passed.
  bool IsPaused(Context& cx, Place& place, Waiter* waiter);
  // Returns the first step as a test failure shows it.
  std::string Expected() const;
  // Fails the test at the line of the constructor's call.
  void Fail(const std::string& message) const;
  // Fails the test because of a write, and ends the script.
  absl::Status Reject(const std::string& message);

  const std::source_location where_;
  std::deque<Step> steps_;
  // The end of the pause that is the first step, if a task waits for it.
  std::optional<Instant> pause_end_;
  Place reader_;
  Place writer_;
  absl::Status rejected_;   // not OK after a wrong write
  bool has_ended_ = false;  // for the reader
  bool has_end_step_ = false;
  bool is_shut_down_ = false;
};

class ScriptedIo::Waiter {
 public:
  Waiter() = default;
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  Waiter(Waiter&& other);
  Waiter& operator=(Waiter&&) = delete;
  ~Waiter();

 private:
  friend class ScriptedIo;

  Place* place_ = nullptr;  // null unless the future waits
};

}  // namespace rouse

#endif  // ROUSE_TESTING_SCRIPTED_IO_H_
