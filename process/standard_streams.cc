// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/process/standard_streams.h"

#include <fcntl.h>
#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/process/standard_file.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/registration.h"
#include "rouse/reactor/waiter.h"
#include "rouse/scheduler/blocking_pool.h"
#include "rouse/scheduler/spawn_blocking.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

static_assert(AsyncRead<Stdin>);
static_assert(AsyncWrite<Stdout>);
static_assert(AsyncWrite<Stderr>);

namespace internal {
namespace {

using reactor::Direction;
using reactor::Interest;
using reactor::Registration;
using scheduler::BlockingPool;

// The largest number of bytes in a single call on the blocking pool.
constexpr size_t kMaxCall = size_t{64} << 10;

// OpenStream
//
// A stream after its first use, for either direction.
class OpenStream {
 public:
  // Opens the stream with the descriptor `fd` for `mode`, O_RDONLY or O_WRONLY.
  static absl::StatusOr<OpenStream> Create(int fd, int mode,
                                           std::string_view name) {
    absl::StatusOr<StandardFile> opened = StandardFile::Open(fd, mode, name);
    if (!opened.ok()) return std::move(opened).status();
    OpenStream stream(*std::move(opened), mode, name);
    const StandardFile& file = *stream.file_;
    // A write that blocks awaits no event, because it may block even then.
    const bool is_reader = mode == O_RDONLY;
    if (file.IsRegular() || (!is_reader && file.Blocks())) return stream;
    absl::StatusOr<Registration> registration = Registration::Create(
        file.fd(), is_reader ? Interest::kReadable : Interest::kWritable);
    if (registration.ok()) {
      stream.registration_ = *std::move(registration);
    } else if (!absl::IsPermissionDenied(registration.status())) {
      // EPERM, for example of /dev/null, means that the stream is always ready.
      return std::move(registration).status();
    }
    return stream;
  }

 protected:
  // Returns where a blocking call is made. A call on anything except a file may
  // never end, and the end of the runtime must not wait for the call.
  absl::StatusOr<BlockingPool*> Pool() const {
    BlockingPool* const pool = scheduler::CurrentBlockingPool();
    if (pool == nullptr) {
      return absl::FailedPreconditionError(absl::StrCat(
          name_,
          " needs a blocking pool, because it is a file, a device, or a pipe "
          "or terminal that cannot be opened again, and this thread has none; "
          "use the stream in a task or inside Runtime::BlockOn"));
    }
    return file_->IsRegular() ? pool : &pool->lookups();
  }

  // Returns the error of a call that the pool did not make.
  absl::Status PoolError(absl::Status error) const {
    if (!absl::IsCancelled(error)) return error;
    return absl::UnavailableError(
        absl::StrCat(name_, ": the blocking pool has been shut down"));
  }

  absl::Status ErrorOf(int error) const {
    const char* const attempt = mode_ == O_RDONLY ? "read from " : "write to ";
    return absl::ErrnoToStatus(error, absl::StrCat(attempt, name_));
  }

  int mode_;
  std::string_view name_;
  // Shared with the calls on the pool.
  std::shared_ptr<const StandardFile> file_;
  // Destroyed before the file. Empty if the stream is always ready, or if it is
  // written on the pool.
  std::optional<Registration> registration_;

 private:
  OpenStream(StandardFile file, int mode, std::string_view name)
      : mode_(mode),
        name_(name),
        file_(std::make_shared<const StandardFile>(std::move(file))) {}
};

}  // namespace

// StandardInput::Open
//
// The stream after the first read.
class StandardInput::Open : public OpenStream {
 public:
  explicit Open(OpenStream stream) : OpenStream(std::move(stream)) {}

  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer,
                                              Waiter* waiter) {
    if (file_->Blocks() || !registration_.has_value()) {
      return PollReadOnPool(cx, buffer, waiter);
    }
    // A terminal returns one line, and a pipe may return one packet.
    constexpr size_t kNeverShort = 0;
    return registration_->PollIo(
        Direction::kRead, cx, waiter, kNeverShort,
        [&] { return file_->Read(buffer); },
        [this](int error) { return ErrorOf(error); });
  }

 private:
  // The bytes, or the error, of a call on the pool.
  struct Chunk {
    std::unique_ptr<char[]> bytes;
    size_t capacity = 0;
    size_t begin = 0;
    size_t end = 0;
    int error = 0;
  };

  PollResult<absl::StatusOr<size_t>> PollReadOnPool(Context& cx,
                                                    absl::Span<char> buffer,
                                                    Waiter* waiter) {
    using Result = absl::StatusOr<size_t>;
    for (;;) {
      if (chunk_.begin < chunk_.end) {
        PollResult<BudgetUnit> unit = PollProceed(cx);
        if (unit.IsPending()) return kPending;
        unit->MadeProgress();
        const size_t size = std::min(chunk_.end - chunk_.begin, buffer.size());
        std::memcpy(buffer.data(), chunk_.bytes.get() + chunk_.begin, size);
        chunk_.begin += size;
        return Result(size);
      }
      if (!call_.has_value()) {
        if (registration_.has_value()) {
          auto event = registration_->PollReady(Direction::kRead, cx, waiter);
          if (event.IsPending()) return kPending;
          if (!event->ok()) return Result((*std::move(event)).status());
          event_ = **event;
        }
        absl::Status begun = BeginCall(std::min(buffer.size(), kMaxCall));
        if (!begun.ok()) return Result(std::move(begun));
      }
      auto done = call_->Poll(cx);
      if (done.IsPending()) return kPending;
      call_.reset();
      if (!done->ok()) {
        return Result(PoolError((*std::move(done)).status()));
      }
      chunk_ = **std::move(done);
      const int error = std::exchange(chunk_.error, 0);
      if (error == EAGAIN && registration_.has_value()) {
        registration_->WouldBlock(*event_);
        continue;
      }
      if (error != 0) return Result(ErrorOf(error));
      if (chunk_.end == 0) return Result(0);
    }
  }

  // Begins to read `size` bytes into a chunk.
  absl::Status BeginCall(size_t size) {
    absl::StatusOr<BlockingPool*> pool = Pool();
    if (!pool.ok()) return std::move(pool).status();
    if (chunk_.capacity < size) {
      chunk_.bytes = std::make_unique_for_overwrite<char[]>(size);
      chunk_.capacity = size;
    }
    auto call = [file = file_, chunk = std::move(chunk_), size,
                 is_watched = registration_.has_value()]() mutable {
      const auto room = absl::MakeSpan(chunk.bytes.get(), size);
      ssize_t read;
      do {
        read = is_watched ? file->ReadIfReady(room) : file->Read(room);
      } while (read < 0 && errno == EINTR);
      chunk.error = read < 0 ? errno : 0;
      chunk.begin = 0;
      chunk.end = read < 0 ? 0 : static_cast<size_t>(read);
      return std::move(chunk);
    };
    chunk_ = Chunk();
    call_.emplace((*pool)->Spawn(std::move(call)));
    return absl::OkStatus();
  }

  // For calls on the pool only: the call in progress, the event that it
  // follows, and the bytes that the last call has read.
  std::optional<JoinHandle<Chunk>> call_;
  std::optional<reactor::ReadyEvent> event_;
  Chunk chunk_;
};

StandardInput::StandardInput(int fd, std::string_view name)
    : fd_(fd), name_(name) {}
StandardInput::StandardInput(StandardInput&& other) noexcept = default;
StandardInput& StandardInput::operator=(StandardInput&& other) noexcept =
    default;
StandardInput::~StandardInput() = default;

PollResult<absl::StatusOr<size_t>> StandardInput::PollRead(
    Context& cx, absl::Span<char> buffer, Waiter* waiter) {
  using Result = absl::StatusOr<size_t>;
  if (buffer.empty()) return Result(0);
  if (open_ == nullptr) {
    absl::StatusOr<OpenStream> stream =
        OpenStream::Create(fd_, O_RDONLY, name_);
    if (!stream.ok()) return Result(std::move(stream).status());
    open_ = std::make_unique<Open>(*std::move(stream));
  }
  return open_->PollRead(cx, buffer, waiter);
}

// StandardOutput::Open
//
// The stream after the first write.
class StandardOutput::Open : public OpenStream {
 public:
  explicit Open(OpenStream stream) : OpenStream(std::move(stream)) {}

  PollResult<absl::StatusOr<size_t>> PollWrite(
      Context& cx, absl::Span<const std::string_view> parts, size_t size,
      Waiter* waiter) {
    if (!registration_.has_value()) return PollWriteOnPool(cx, parts, size);
    // A partial write says nothing about other writes: see pipe.cc.
    constexpr size_t kNeverShort = 0;
    return registration_->PollIo(
        Direction::kWrite, cx, waiter, kNeverShort,
        [&] { return file_->Write(parts); },
        [this](int error) { return ErrorOf(error); });
  }

  // Waits for the call in progress, and returns its error.
  PollResult<absl::Status> PollFlush(Context& cx) {
    if (!call_.has_value()) return absl::OkStatus();
    auto error = call_->Poll(cx);
    if (error.IsPending()) return kPending;
    call_.reset();
    if (!error->ok()) return PoolError((*std::move(error)).status());
    return **error == 0 ? absl::OkStatus() : ErrorOf(**error);
  }

 private:
  PollResult<absl::StatusOr<size_t>> PollWriteOnPool(
      Context& cx, absl::Span<const std::string_view> parts, size_t size) {
    using Result = absl::StatusOr<size_t>;
    PollResult<absl::Status> settled = PollFlush(cx);
    if (settled.IsPending()) return kPending;
    if (!settled->ok()) return Result(*std::move(settled));
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    absl::StatusOr<BlockingPool*> pool = Pool();
    if (!pool.ok()) return Result(std::move(pool).status());
    size = std::min(size, kMaxCall);
    std::string data;
    data.reserve(size);
    for (const std::string_view part : parts) {
      data.append(part.substr(0, size - data.size()));
    }
    auto call = [file = file_, data = std::move(data)] {
      return file->WriteAll(data);
    };
    call_.emplace((*pool)->SpawnMandatory(std::move(call)));
    unit->MadeProgress();
    if (call_->IsFinished()) {
      // The pool may have refused the call, and the data would be lost.
      PollResult<absl::Status> done = PollFlush(cx);
      if (done.IsReady() && !done->ok()) return Result(*std::move(done));
    }
    return Result(size);
  }

  // The call in progress on the pool, which returns 0 or the error.
  std::optional<JoinHandle<int>> call_;
};

StandardOutput::StandardOutput(int fd, std::string_view name)
    : fd_(fd), name_(name) {}
StandardOutput::StandardOutput(StandardOutput&& other) noexcept = default;
StandardOutput& StandardOutput::operator=(StandardOutput&& other) noexcept =
    default;
StandardOutput::~StandardOutput() = default;

PollResult<absl::StatusOr<size_t>> StandardOutput::PollWrite(
    Context& cx, std::string_view data, Waiter* waiter) {
  return PollWriteVectored(cx, absl::MakeConstSpan(&data, 1), waiter);
}

PollResult<absl::StatusOr<size_t>> StandardOutput::PollWriteVectored(
    Context& cx, absl::Span<const std::string_view> parts, Waiter* waiter) {
  using Result = absl::StatusOr<size_t>;
  const size_t size = TotalSize(parts);
  if (size == 0) return Result(0);
  if (open_ == nullptr) {
    absl::StatusOr<OpenStream> stream =
        OpenStream::Create(fd_, O_WRONLY, name_);
    if (!stream.ok()) return Result(std::move(stream).status());
    open_ = std::make_unique<Open>(*std::move(stream));
  }
  return open_->PollWrite(cx, parts, size, waiter);
}

PollResult<absl::Status> StandardOutput::PollFlush(Context& cx) {
  if (open_ == nullptr) return absl::OkStatus();
  return open_->PollFlush(cx);
}

}  // namespace internal

}  // namespace rouse
