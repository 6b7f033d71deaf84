// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h1/receiver.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/h1/parse_head.h"
#include "rouse/http/headers.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::http::internal {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

PollResult<absl::StatusOr<size_t>> Receiver::PollMore(Context& cx, Io& io) {
  // The first read of a message needs little room. Later reads double it.
  const size_t least = in_.capacity() == 0 ? kSmallBuffer
                       : in_.empty()       ? in_.capacity()
                                           : 1;
  PollResult<absl::StatusOr<size_t>> size = io.PollRead(cx, in_.Room(least));
  if (size.IsReady() && size->ok()) in_.Add(**size);
  return size;
}

HeadState Receiver::FindHead(size_t max_bytes) {
  if (head_size_ > 0) return HeadState::kComplete;
  const std::string_view all = in_.view();
  while (searched_ < all.size()) {
    const void* found =
        std::memchr(all.data() + searched_, '\n', all.size() - searched_);
    if (found == nullptr) {
      searched_ = all.size();
      break;
    }
    const size_t end = static_cast<const char*>(found) - all.data();
    const std::string_view line = all.substr(line_begin_, end - line_begin_);
    // Other implementations end a line at a bare LF, and would see another
    // message than this one.
    // (A CR elsewhere is refused when the head is parsed.)
    if (line.empty() || line.back() != '\r') return HeadState::kMalformed;
    searched_ = end + 1;
    if (line.size() == 1) {
      if (line_begin_ == 0) {
        // A single empty line before a request, which old clients send.
        if (!is_request_ || skipped_line_) return HeadState::kMalformed;
        skipped_line_ = true;
        in_.Consume(2);
        searched_ = 0;
        return FindHead(max_bytes);
      }
      if (searched_ > max_bytes) return HeadState::kTooLarge;
      head_size_ = searched_;
      return HeadState::kComplete;
    }
    if (line_begin_ == 0) {
      first_line_size_ = line.size() - 1;
    } else if (line.front() == ' ' || line.front() == '\t') {
      return HeadState::kMalformed;  // obs-fold
    }
    line_begin_ = searched_;
  }
  if (all.size() > max_bytes) return HeadState::kTooLarge;
  // Another protocol may wait for an answer, and never send an empty line.
  if (is_request_ && first_line_size_ > 0) {
    if (!CheckFirstLine(all.substr(0, first_line_size_))) {
      return HeadState::kMalformed;
    }
    first_line_size_ = 0;
  }
  return HeadState::kIncomplete;
}

void Receiver::TakeHead(Framing framing, uint64_t length,
                        const BodyLimits& limits) {
  in_.Consume(head_size_);
  searched_ = line_begin_ = head_size_ = first_line_size_ = 0;
  skipped_line_ = false;
  failure_ = 0;
  error_ = absl::OkStatus();
  limits_ = limits;
  switch (framing) {
    case Framing::kNone:
      state_ = State::kDone;
      return;
    case Framing::kLength:
      state_ = State::kLength;
      left_ = length;
      return;
    case Framing::kUntilEnd:
      state_ = State::kUntilEnd;
      received_ = 0;
      return;
    case Framing::kChunked:
      state_ = State::kChunkSize;
      received_ = extensions_ = trailer_bytes_ = 0;
      trailers_.Clear();
      return;
  }
}

std::string Receiver::TakeBufferedBody() {
  std::string body(in_.view().substr(0, left_));
  in_.Consume(left_);
  state_ = State::kDone;
  return body;
}

absl::Status Receiver::Fail(int failure, absl::Status error) {
  state_ = State::kFailed;
  failure_ = failure;
  error_ = std::move(error);
  return error_;
}

absl::Status Receiver::FailTooSlow() {
  return Fail(408, absl::DeadlineExceededError(
                       "the peer has sent nothing of the body for too long"));
}

absl::Status Receiver::Malformed(std::string_view what) {
  return Fail(400, absl::InvalidArgumentError(
                       absl::StrCat("the body is malformed: ", what)));
}

PollResult<absl::Status> Receiver::PollMoreOfBody(Context& cx, Io& io) {
  PollResult<absl::StatusOr<size_t>> more = PollMore(cx, io);
  if (more.IsPending()) return kPending;
  if (!more->ok()) return Fail(0, (*std::move(more)).status());
  if (**more == 0) {
    return Fail(0, absl::DataLossError(
                       "the connection ended in the middle of the body"));
  }
  return absl::OkStatus();
}

PollResult<absl::Status> Receiver::PollLine(Context& cx, Io& io,
                                            size_t max_size,
                                            std::string_view& line) {
  for (;;) {
    const std::string_view all = in_.view();
    const size_t end = all.find('\n', searched_);
    if (end != std::string_view::npos) {
      searched_ = 0;
      line_size_ = end + 1;
      line = all.substr(0, end);
      if (line.empty() || line.find('\r') != line.size() - 1) {
        return Malformed("a line does not end with CR LF");
      }
      line.remove_suffix(1);
      if (line.size() > max_size) return Malformed("a line is too long");
      return absl::OkStatus();
    }
    searched_ = all.size();
    if (all.size() > max_size) return Malformed("a line is too long");
    PollResult<absl::Status> more = PollMoreOfBody(cx, io);
    if (more.IsPending() || !more->ok()) return more;
  }
}

PollResult<absl::Status> Receiver::PollChunkSize(Context& cx, Io& io) {
  std::string_view line;
  PollResult<absl::Status> read = PollLine(cx, io, kMaxChunkLine, line);
  if (read.IsPending() || !read->ok()) return read;
  uint64_t size = 0;
  size_t digits = 0;
  // 15 digits never overflow.
  while (digits < line.size() && HexDigit(line[digits]) >= 0) {
    if (digits == 15) return Malformed("the size of a chunk is too large");
    size = size * 16 + static_cast<uint64_t>(HexDigit(line[digits]));
    ++digits;
  }
  if (digits == 0) return Malformed("the size of a chunk is not a number");
  const std::string_view extension = line.substr(digits);
  if (!extension.empty()) {
    if (extension.front() != ';') {
      return Malformed("the size of a chunk is not a number");
    }
    for (const char c : extension) {
      if (c != '\t' && (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)) {
        return Malformed("the extension of a chunk has a control character");
      }
    }
    extensions_ += extension.size();
    if (extensions_ > kMaxChunkExtensions) {
      return Malformed("the extensions of the chunks are too long");
    }
  }
  in_.Consume(line_size_);
  if (size == 0) {
    state_ = State::kTrailers;
    return absl::OkStatus();
  }
  if (size > limits_.max_bytes - received_) {
    return Fail(413, absl::ResourceExhaustedError(
                         absl::StrCat("the body exceeds the limit of ",
                                      limits_.max_bytes, " bytes")));
  }
  received_ += size;
  left_ = size;
  state_ = State::kChunkData;
  return absl::OkStatus();
}

PollResult<absl::Status> Receiver::PollChunkEnd(Context& cx, Io& io) {
  while (in_.size() < 2) {
    if (!in_.empty() && in_.view().front() != '\r') break;
    PollResult<absl::Status> more = PollMoreOfBody(cx, io);
    if (more.IsPending() || !more->ok()) return more;
  }
  if (in_.view().substr(0, 2) != "\r\n") {
    return Malformed("a chunk is longer than its size");
  }
  in_.Consume(2);
  state_ = State::kChunkSize;
  return absl::OkStatus();
}

PollResult<absl::Status> Receiver::PollTrailers(Context& cx, Io& io) {
  for (;;) {
    std::string_view line;
    const size_t left = limits_.max_trailer_bytes - trailer_bytes_;
    PollResult<absl::Status> read = PollLine(cx, io, left, line);
    if (read.IsPending() || !read->ok()) return read;
    if (line.empty()) {
      in_.Consume(line_size_);
      state_ = State::kDone;
      return absl::OkStatus();
    }
    trailer_bytes_ += line.size();
    if (trailers_.size() == limits_.max_trailer_count) {
      return Malformed("there are too many trailers");
    }
    if (!ParseTrailerLine(line, trailers_)) {
      return Malformed("a trailer is not a valid field");
    }
    in_.Consume(line_size_);
  }
}

PollResult<absl::StatusOr<size_t>> Receiver::PollData(Context& cx, Io& io,
                                                      absl::Span<char> buffer) {
  using Result = absl::StatusOr<size_t>;
  const size_t most =
      static_cast<size_t>(std::min<uint64_t>(buffer.size(), left_));
  size_t size = 0;
  if (!in_.empty()) {
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    size = in_.view().copy(buffer.data(), most);
    in_.Consume(size);
    unit->MadeProgress(size);
  } else {
    // Large bodies go past the buffer.
    PollResult<Result> read = io.PollRead(cx, buffer.subspan(0, most));
    if (read.IsPending()) return kPending;
    if (!read->ok()) return Result(Fail(0, (*std::move(read)).status()));
    size = **read;
    if (size == 0) {
      return Result(Fail(0, absl::DataLossError(absl::StrCat(
                                "the connection ended ", left_,
                                " bytes before the end of the body"))));
    }
  }
  left_ -= size;
  return Result(size);
}

PollResult<absl::StatusOr<size_t>> Receiver::PollBody(Context& cx, Io& io,
                                                      absl::Span<char> buffer) {
  using Result = absl::StatusOr<size_t>;
  if (buffer.empty()) return Result(0);
  for (;;) {
    PollResult<absl::Status> step = absl::OkStatus();
    switch (state_) {
      case State::kDone:
        return Result(0);
      case State::kFailed:
        return Result(error_);
      case State::kLength: {
        PollResult<Result> size = PollData(cx, io, buffer);
        if (size.IsReady() && size->ok() && left_ == 0) state_ = State::kDone;
        return size;
      }
      case State::kChunkData: {
        PollResult<Result> size = PollData(cx, io, buffer);
        if (size.IsReady() && size->ok() && left_ == 0) {
          state_ = State::kChunkEnd;
        }
        return size;
      }
      case State::kUntilEnd: {
        if (!in_.empty()) {
          left_ = in_.size();
          return PollData(cx, io, buffer);
        }
        PollResult<Result> size = io.PollRead(cx, buffer);
        if (size.IsPending()) return kPending;
        if (!size->ok()) return Result(Fail(0, (*std::move(size)).status()));
        if (**size == 0) state_ = State::kDone;
        return size;
      }
      case State::kChunkSize:
        step = PollChunkSize(cx, io);
        break;
      case State::kChunkEnd:
        step = PollChunkEnd(cx, io);
        break;
      case State::kTrailers:
        step = PollTrailers(cx, io);
        break;
    }
    if (step.IsPending()) return kPending;
    if (!step->ok()) return Result(*std::move(step));
  }
}

}  // namespace rouse::http::internal
