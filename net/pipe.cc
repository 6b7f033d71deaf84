// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/pipe.h"

#include <fcntl.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/net/pipe_io.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/registration.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

using internal::PipeEnd;
using reactor::Direction;

static_assert(AsyncRead<const PipeReader>);
static_assert(AsyncWrite<const PipeWriter>);

absl::StatusOr<PipeReader> PipeReader::OpenFifo(const std::string& path,
                                                bool keep_open,
                                                const reactor::Handle& handle) {
  return Register(PipeEnd::OpenFifo(path, keep_open ? O_RDWR : O_RDONLY),
                  handle);
}

absl::StatusOr<PipeReader> PipeReader::FromFd(OwnedFd fd,
                                              const reactor::Handle& handle) {
  return Register(PipeEnd::Adopt(std::move(fd), O_RDONLY), handle);
}

PollResult<absl::StatusOr<size_t>> PipeReader::PollRead(Context& cx,
                                                        absl::Span<char> buffer,
                                                        Waiter* waiter) const {
  if (buffer.empty()) return absl::StatusOr<size_t>(0);
  // A writer may have switched the pipe to packets, one of which each read
  // returns.
  constexpr size_t kNeverShort = 0;
  return evented().registration().PollIo(
      Direction::kRead, cx, waiter, kNeverShort,
      [&] { return io().Read(buffer); },
      [](int error) { return absl::ErrnoToStatus(error, "read from a pipe"); });
}

PollResult<absl::StatusOr<size_t>> PipeReader::PollReadVectored(
    Context& cx, absl::Span<const absl::Span<char>> buffers,
    Waiter* waiter) const {
  if (internal::TotalSize(buffers) == 0) return absl::StatusOr<size_t>(0);
  constexpr size_t kNeverShort = 0;
  return evented().registration().PollIo(
      Direction::kRead, cx, waiter, kNeverShort,
      [&] { return io().ReadParts(buffers); },
      [](int error) { return absl::ErrnoToStatus(error, "read from a pipe"); });
}

absl::StatusOr<PipeWriter> PipeWriter::OpenFifo(const std::string& path,
                                                const reactor::Handle& handle) {
  return Register(PipeEnd::OpenFifo(path, O_WRONLY), handle);
}

absl::StatusOr<PipeWriter> PipeWriter::FromFd(OwnedFd fd,
                                              const reactor::Handle& handle) {
  return Register(PipeEnd::Adopt(std::move(fd), O_WRONLY), handle);
}

PollResult<absl::StatusOr<size_t>> PipeWriter::PollWrite(Context& cx,
                                                         std::string_view data,
                                                         Waiter* waiter) const {
  return PollWriteVectored(cx, absl::MakeConstSpan(&data, 1), waiter);
}

PollResult<absl::StatusOr<size_t>> PipeWriter::PollWriteVectored(
    Context& cx, absl::Span<const std::string_view> parts,
    Waiter* waiter) const {
  if (internal::TotalSize(parts) == 0) return absl::StatusOr<size_t>(0);
  // A pipe accepts a write of at most PIPE_BUF bytes only as a whole, and
  // refuses the write even if the pipe has room for a part. That the pipe has
  // accepted a part of a larger write therefore says nothing about other
  // writes.
  constexpr size_t kNeverShort = 0;
  return evented().registration().PollIo(
      Direction::kWrite, cx, waiter, kNeverShort,
      [&] { return io().Write(parts); },
      [](int error) { return absl::ErrnoToStatus(error, "write to a pipe"); });
}

absl::StatusOr<std::pair<PipeReader, PipeWriter>> MakePipe(
    const reactor::Handle& handle) {
  auto ends = PipeEnd::OpenPair();
  if (!ends.ok()) return std::move(ends).status();
  absl::StatusOr<PipeReader> reader =
      PipeReader::Register(std::move(ends->first), handle);
  if (!reader.ok()) return std::move(reader).status();
  absl::StatusOr<PipeWriter> writer =
      PipeWriter::Register(std::move(ends->second), handle);
  if (!writer.ok()) return std::move(writer).status();
  return std::pair(*std::move(reader), *std::move(writer));
}

}  // namespace rouse
