// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: io_thread.h
// -----------------------------------------------------------------------------
//
// For tests: an `io_context` that a thread of its own runs.

#ifndef ROUSE_INTEROP_ASIO_IO_THREAD_H_
#define ROUSE_INTEROP_ASIO_IO_THREAD_H_

#include <thread>

#include "asio/executor_work_guard.hpp"
#include "asio/io_context.hpp"

namespace rouse::interop::internal {

// IoThread
//
// The destructor waits for the operations under way.
class IoThread {
 public:
  IoThread()
      : work_(context_.get_executor()), thread_([this] { context_.run(); }) {}
  ~IoThread() {
    work_.reset();
    thread_.join();
  }

  asio::io_context& context() { return context_; }
  std::thread::id thread_id() const { return thread_.get_id(); }

 private:
  asio::io_context context_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::thread thread_;
};

}  // namespace rouse::interop::internal

#endif  // ROUSE_INTEROP_ASIO_IO_THREAD_H_
