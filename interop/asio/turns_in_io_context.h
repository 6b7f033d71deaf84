// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: turns_in_io_context.h
// -----------------------------------------------------------------------------
//
// Lets an `asio::io_context` run the tasks of a runtime:
//
//   asio::io_context context;
//   rouse::Runtime runtime = rouse::Builder::CurrentThread().Build().value();
//   const rouse::interop::TurnsInIoContext turns(runtime, context);
//   runtime.Spawn(Serve(...)).Detach();
//   context.run();
//
// Handlers of Asio and tasks of Rouse then share a thread, and need no locks
// for what they share.

#ifndef ROUSE_INTEROP_ASIO_TURNS_IN_IO_CONTEXT_H_
#define ROUSE_INTEROP_ASIO_TURNS_IN_IO_CONTEXT_H_

#include "rouse/base/cxx20.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "asio/error_code.hpp"
#include "asio/io_context.hpp"
#include "asio/posix/descriptor_base.hpp"
#include "asio/posix/stream_descriptor.hpp"
#include "asio/post.hpp"
#include "asio/steady_timer.hpp"
#include "rouse/base/exceptions.h"
#include "rouse/runtime/runtime.h"

namespace rouse::interop {

// TurnsInIoContext
//
// Calls `Runtime::Turn()` in handlers of an `io_context`, whenever the runtime
// asks for a turn. A single thread must run the context.
//
// The object counts as work of the context: `run()` returns only after the
// object is destroyed, or after `io_context::stop()`. It must be destroyed
// before the runtime and the context, on the thread that runs the context, or
// when no thread does. A task or a handler can destroy it.
//
// An exception of a waker propagates from `run()`, as an exception of a handler
// does. The next `run()` continues.
class TurnsInIoContext {
 public:
  // REQUIRES: `runtime` is a current-thread runtime; and see `Runtime::Turn()`.
  TurnsInIoContext(Runtime& runtime, asio::io_context& context)
      : loop_(std::make_shared<Loop>(runtime, context)) {
    loop_->Post();
  }
  TurnsInIoContext(const TurnsInIoContext&) = delete;
  TurnsInIoContext& operator=(const TurnsInIoContext&) = delete;
  ~TurnsInIoContext() { loop_->Stop(); }

 private:
  // Shared with the handlers, which may be called or destroyed later.
  class Loop : public std::enable_shared_from_this<Loop> {
   public:
    Loop(Runtime& runtime, asio::io_context& context)
        : runtime_(runtime),
          context_(context),
          timer_(std::in_place, context),
          readable_(context, runtime.fd()) {}
    ~Loop() { Stop(); }

    // Requests a turn soon, unless the loop has stopped, or a turn is requested
    // already. The turns of the timer and of the descriptor would otherwise
    // multiply the requests.
    void Post() {
      if (stopped_ || posted_) return;
      posted_ = true;
      asio::post(context_, [self = shared_from_this()] {
        self->posted_ = false;
        if (!self->stopped_) self->Turn();
      });
    }

    void Stop() {
      if (stopped_) return;
      stopped_ = true;
      // Cancels the wait. Unlike `cancel()`, the destructor cannot throw.
      timer_.reset();
      // The descriptor belongs to the runtime. Ends the wait, too.
      readable_.release();
    }

   private:
    void Turn() {
      absl::Duration wait;
      ROUSE_TRY { wait = runtime_.Turn(); }
      ROUSE_CATCH_ALL {
        // A waker has thrown. The runtime needs another turn.
        Post();
        ROUSE_RETHROW;
      }
      if (stopped_) return;
      if (wait <= absl::ZeroDuration()) {
        Post();
        return;
      }
      WaitForDescriptor();
      if (wait == absl::InfiniteDuration()) {
        timer_->cancel();
      } else {
        WaitFor(wait);
      }
    }

    void WaitForDescriptor() {
      if (waits_) return;
      waits_ = true;
      readable_.async_wait(
          asio::posix::descriptor_base::wait_read,
          [self = shared_from_this()](const asio::error_code& error) {
            self->waits_ = false;
            if (!error && !self->stopped_) self->Turn();
          });
    }

    // Replaces the wait of an earlier turn.
    void WaitFor(absl::Duration wait) {
      timer_->expires_after(
          absl::ToChronoNanoseconds(absl::Ceil(wait, absl::Nanoseconds(1))));
      timer_->async_wait(
          [self = shared_from_this()](const asio::error_code& error) {
            if (!error && !self->stopped_) self->Turn();
          });
    }

    Runtime& runtime_;
    asio::io_context& context_;
    std::optional<asio::steady_timer> timer_;  // empty after `Stop()`
    asio::posix::stream_descriptor readable_;
    bool posted_ = false;
    bool waits_ = false;
    bool stopped_ = false;
  };

  const std::shared_ptr<Loop> loop_;
};

}  // namespace rouse::interop

#endif  // ROUSE_INTEROP_ASIO_TURNS_IN_IO_CONTEXT_H_
