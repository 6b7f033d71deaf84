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
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
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
//     that differs from the script, or that comes while the script waits for a
//     reader, fails the test and returns ABORTED with both texts.
//
// The destructor fails the test if steps are left. A test that stops early on
// purpose calls `Abandon()`.
//
// Steps can be added at any time. One task may read while another task writes,
// but both must run on one thread at a time.
class ScriptedIo {
 public:
  ScriptedIo() = default;
  ScriptedIo(const ScriptedIo&) = delete;
  ScriptedIo& operator=(const ScriptedIo&) = delete;
  ~ScriptedIo();

  // Adds bytes for the reader.
  ScriptedIo& Read(std::string_view bytes);
  // Adds bytes that the writer must write.
  ScriptedIo& Write(std::string_view bytes);
  // Adds an error for the next read. REQUIRES: `!error.ok()`.
  ScriptedIo& ReadError(absl::Status error);
  // Adds an error for the next write. REQUIRES: `!error.ok()`.
  ScriptedIo& WriteError(absl::Status error);
  // Adds a pause: reads and writes are pending for `duration` from the moment
  // at which one of them reaches the pause. Needs a current clock, as `Sleep()`
  // does.
  ScriptedIo& Wait(absl::Duration duration);

  // Drops the steps that are left, so that the destructor fails no test.
  void Abandon();

  // Returns whether every step has been performed.
  bool is_done() const { return steps_.empty(); }
  // Returns whether the writer has shut the connection down.
  bool is_shut_down() const { return is_shut_down_; }

  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer);
  PollResult<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                               std::string_view data);
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts);
  PollResult<absl::Status> PollFlush(Context& cx);
  PollResult<absl::Status> PollShutdown(Context& cx);

 private:
  enum class Kind { kRead, kWrite, kReadError, kWriteError, kWait };
  struct Step {
    Kind kind;
    std::string bytes;
    absl::Status error;
    absl::Duration duration;
  };

  ScriptedIo& Add(Step step);
  // Ends the first step, and wakes the tasks that wait for a later step.
  void EndStep();
  // Returns whether the script is at a pause that has not passed. The task of
  // `cx` is then woken when the pause has passed, and `waiter` keeps its waker.
  bool IsPaused(Context& cx, Waker& waiter);
  // Returns the first step as a test failure shows it.
  std::string Expected() const;

  std::deque<Step> steps_;
  std::optional<Sleep> pause_;
  // The tasks whose read and write wait for an earlier step.
  Waker reader_;
  Waker writer_;
  bool is_shut_down_ = false;
};

}  // namespace rouse

#endif  // ROUSE_TESTING_SCRIPTED_IO_H_
