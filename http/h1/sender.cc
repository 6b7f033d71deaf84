// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h1/sender.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/http/body.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/h1/parse_head.h"
#include "rouse/http/serving/body_length.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::http::internal {
namespace {

// The size of a chunk in hexadecimal digits, with CR LF.
constexpr size_t kChunkHead = 6;

}  // namespace

void Sender::SetBody(Body& body, Framing framing) {
  framing_ = framing;
  body_.reset();
  if (framing == Framing::kNone) return;
  if (body.is_text()) {
    const std::string_view text = body.text();
    if (text.size() <= kCopiedText) {
      out_.Append(text);
      return;
    }
    state_ = State::kText;
    text_sent_ = 0;
  } else {
    state_ = State::kStream;
    length_ = BodyLength(body.unread_size());
  }
  body_ = std::move(body);
}

absl::StatusOr<bool> Sender::ReadBody(Context& cx) {
  const bool is_chunked = framing_ == Framing::kChunked;
  const size_t before = is_chunked ? kChunkHead : 0;
  const absl::Span<char> room = out_.Room(before + kRead + 2);
  PollResult<absl::StatusOr<size_t>> read =
      body_->PollRead(cx, room.subspan(before, length_.Most(kRead)));
  if (read.IsPending()) return false;
  if (!read->ok()) return (*std::move(read)).status();
  const size_t size = **read;
  absl::Status counted = length_.Count(size);
  if (!counted.ok()) return counted;
  if (size == 0) {
    EndBody();
    return true;
  }
  if (is_chunked) {
    // Four digits are enough for `kRead`.
    static_assert(kRead <= 0xffff);
    constexpr std::string_view kDigits = "0123456789abcdef";
    for (size_t i = 0; i < 4; ++i) {
      room[i] = kDigits[(size >> (12 - 4 * i)) & 15];
    }
    room[4] = '\r';
    room[5] = '\n';
    room[before + size] = '\r';
    room[before + size + 1] = '\n';
    out_.Add(before + size + 2);
  } else {
    out_.Add(size);
  }
  return true;
}

void Sender::EndBody() {
  if (framing_ == Framing::kChunked) {
    out_.Append("0\r\n");
    for (const auto& [name, value] : body_->trailers()) {
      for (const std::string_view part :
           {name, std::string_view(": "), value, std::string_view("\r\n")}) {
        out_.Append(part);
      }
    }
    out_.Append("\r\n");
  }
  state_ = State::kIdle;
  body_.reset();
}

PollResult<absl::Status> Sender::Poll(Context& cx, Io& io) {
  bool body_is_pending = false;
  for (;;) {
    while (state_ == State::kStream && !body_is_pending &&
           out_.size() < kBatch) {
      absl::StatusOr<bool> read = ReadBody(cx);
      if (!read.ok()) {
        body_has_failed_ = true;
        return std::move(read).status();
      }
      body_is_pending = !*read;
    }
    PollResult<absl::StatusOr<size_t>> written = absl::StatusOr<size_t>(0);
    if (state_ == State::kText) {
      const std::array<std::string_view, 2> parts = {
          out_.view(), body_->text().substr(text_sent_)};
      written = out_.empty() ? io.PollWrite(cx, parts[1])
                             : io.PollWriteVectored(cx, parts);
    } else if (!out_.empty()) {
      written = io.PollWrite(cx, out_.view());
    } else {
      if (must_flush_) {
        PollResult<absl::Status> flushed = io.PollFlush(cx);
        if (flushed.IsPending() || !flushed->ok()) return flushed;
        must_flush_ = false;
      }
      if (state_ == State::kIdle) return absl::OkStatus();
      if (body_is_pending) return kPending;
      continue;
    }
    if (written.IsPending()) return kPending;
    if (!written->ok()) return (*std::move(written)).status();
    has_progress_ = true;
    must_flush_ = true;
    const size_t from_out = std::min(**written, out_.size());
    text_sent_ += **written - from_out;
    out_.Consume(from_out);
    if (state_ == State::kText && text_sent_ == body_->text().size()) {
      state_ = State::kIdle;
    }
  }
}

}  // namespace rouse::http::internal
