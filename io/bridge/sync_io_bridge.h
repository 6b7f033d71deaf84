// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: sync_io_bridge.h
// -----------------------------------------------------------------------------
//
// Blocking reads and writes of an asynchronous stream, for code that cannot
// wait otherwise, such as a decompressor or a parser with callbacks:
//
//   auto parse = [stream = std::move(stream)]() mutable {
//     rouse::SyncIoBridge bridge(std::move(stream));
//     return ParseImage([&](absl::Span<char> buffer) {
//       return bridge.Read(buffer);
//     });
//   };
//   absl::StatusOr<Image> image =
//       co_await rouse::SpawnBlocking(std::move(parse));

#ifndef ROUSE_IO_BRIDGE_SYNC_IO_BRIDGE_H_
#define ROUSE_IO_BRIDGE_SYNC_IO_BRIDGE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/future/block_on.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/io/flush.h"
#include "rouse/io/read.h"
#include "rouse/io/read_exact.h"
#include "rouse/io/read_line.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/seek/async_seek.h"
#include "rouse/io/seek/seek.h"
#include "rouse/io/write.h"
#include "rouse/io/write_all.h"

namespace rouse {

// SyncIoBridge
//
// Owns an `S` or, if `S` is a reference, refers to the stream. Each function
// blocks the calling thread until the function of the same name in io/ is
// ready, and returns its result: the contracts are there. Not thread-safe.
//
// REQUIRES: The calling thread may block, as inside `SpawnBlocking()` or
// `BlockInPlace()`, or on a thread outside the runtime. Inside a task each
// function is a `Panic()`, as `BlockOn()` is: use `co_await` there.
//
// The bridge drives nothing except the stream. A socket makes progress while
// its runtime, or the fallback reactor, runs on other threads. The bridge to a
// file needs another thread of the pool for each read or write.
//
// A function that waits for a peer has no time limit. The end of the runtime
// ends a wait for a socket or a pipe with Unavailable. It does not end a wait
// for bytes in memory, such as those of a `Simplex`: shut the stream down from
// elsewhere before.
template <class S>
class SyncIoBridge {
  static_assert(AsyncRead<S> || AsyncWrite<S>);

  static constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();

 public:
  explicit SyncIoBridge(S&& stream) : stream_(std::forward<S>(stream)) {}

  // Reads available bytes: see `rouse::Read()`.
  absl::StatusOr<size_t> Read(absl::Span<char> buffer)
    requires AsyncRead<S>
  {
    return internal::BlockOnFor("SyncIoBridge::Read", "co_await Read()",
                                rouse::Read(stream_, buffer));
  }
  // Fills `buffer`: see `rouse::ReadExact()`.
  absl::Status ReadExact(absl::Span<char> buffer)
    requires AsyncRead<S>
  {
    return internal::BlockOnFor("SyncIoBridge::ReadExact",
                                "co_await ReadExact()",
                                rouse::ReadExact(stream_, buffer));
  }
  // Appends all bytes to `out`: see `rouse::ReadToEnd()`.
  absl::StatusOr<size_t> ReadToEnd(std::string& out, size_t limit = kNoLimit)
    requires AsyncRead<S>
  {
    return internal::BlockOnFor("SyncIoBridge::ReadToEnd",
                                "co_await ReadToEnd()",
                                rouse::ReadToEnd(stream_, out, limit));
  }
  // Appends a line to `line`: see `rouse::ReadLine()`.
  absl::StatusOr<bool> ReadLine(std::string& line, size_t limit = kNoLimit)
    requires AsyncBufRead<S>
  {
    return internal::BlockOnFor("SyncIoBridge::ReadLine", "co_await ReadLine()",
                                rouse::ReadLine(stream_, line, limit));
  }

  // Writes at least one byte of `data`: see `rouse::Write()`.
  absl::StatusOr<size_t> Write(std::string_view data)
    requires AsyncWrite<S>
  {
    return internal::BlockOnFor("SyncIoBridge::Write", "co_await Write()",
                                rouse::Write(stream_, data));
  }
  // Writes all of `data`: see `rouse::WriteAll()`.
  absl::Status WriteAll(std::string_view data)
    requires AsyncWrite<S>
  {
    return internal::BlockOnFor("SyncIoBridge::WriteAll", "co_await WriteAll()",
                                rouse::WriteAll(stream_, data));
  }
  // Flushes the stream: see `rouse::Flush()`.
  absl::Status Flush()
    requires AsyncWrite<S>
  {
    return internal::BlockOnFor("SyncIoBridge::Flush", "co_await Flush()",
                                rouse::Flush(stream_));
  }
  // Flushes and ends the stream: see `rouse::Shutdown()`.
  absl::Status Shutdown()
    requires AsyncWrite<S>
  {
    return internal::BlockOnFor("SyncIoBridge::Shutdown", "co_await Shutdown()",
                                rouse::Shutdown(stream_));
  }

  // Moves the position: see `rouse::Seek()`.
  absl::StatusOr<uint64_t> Seek(int64_t offset,
                                SeekFrom from = SeekFrom::kBegin)
    requires AsyncSeek<S>
  {
    return internal::BlockOnFor("SyncIoBridge::Seek", "co_await Seek()",
                                rouse::Seek(stream_, offset, from));
  }

  // Returns the stream.
  std::remove_reference_t<S>& inner() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return stream_;
  }

  // Takes the stream out.
  S IntoInner() && { return std::forward<S>(stream_); }

 private:
  S stream_;
};

template <class S>
SyncIoBridge(S&&) -> SyncIoBridge<S>;

}  // namespace rouse

#endif  // ROUSE_IO_BRIDGE_SYNC_IO_BRIDGE_H_
