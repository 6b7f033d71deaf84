// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h2/shared/transport.h"

#include <nghttp2/nghttp2.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/h2/shared/fields.h"
#include "rouse/http/h2/shared/session_clock.h"
#include "rouse/http/h2/shared/shared_stream.h"
#include "rouse/timer/instant.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::http::internal {
namespace {

// Bytes of one read, and most reads before the session writes.
constexpr size_t kRead = size_t{16} << 10;
constexpr int kReads = 4;

// Bytes that are collected before they are written, if there are any.
constexpr size_t kBatch = size_t{64} << 10;
constexpr size_t kSmallBuffer = 1024;

// Most frames that wait to be sent while the connection takes nothing. The
// session then reads nothing more.
constexpr size_t kMaxQueued = 1000;

// Most answers to PING and SETTINGS that wait (CVE-2019-9512, -9515).
constexpr size_t kMaxQueuedAcks = 500;

// Most bytes of a header that the settings announce.
constexpr size_t kMostHeader = 0x7fffffff;

// A peer that sends a header of this many times the limit is disconnected.
constexpr size_t kHeaderExcess = 4;

// Returns the options of every session, or null if memory is exhausted.
const nghttp2_option* Options() {
  static const nghttp2_option* const options = [] {
    nghttp2_option* o = nullptr;
    if (nghttp2_option_new(&o) != 0) return o;
    // The window is opened when a body was read.
    nghttp2_option_set_no_auto_window_update(o, 1);
    nghttp2_option_set_no_closed_streams(o, 1);
    nghttp2_option_set_max_outbound_ack(o, kMaxQueuedAcks);
    // The rest is for the fields that Rouse adds.
    nghttp2_option_set_max_send_header_block_length(o, kMaxSentHeader + 4096);
    return o;
  }();
  return options;
}

}  // namespace

Transport::Transport(std::unique_ptr<Io> io, std::string_view peer,
                     const Limits& limits, Events& events, SessionClock& clock)
    : io_(std::move(io)),
      peer_(peer),
      limits_(limits),
      events_(events),
      clock_(clock) {}

bool Transport::Open(decltype(&nghttp2_session_server_new2) make,
                     nghttp2_settings_entry own) {
  const nghttp2_session_callbacks* const callbacks = GetCallbacks();
  const nghttp2_option* const options = Options();
  if (callbacks == nullptr || options == nullptr) {
    return Fail("begin", NGHTTP2_ERR_NOMEM);
  }
  int result = make(&session_, callbacks, this, options);
  if (result != 0) return Fail("begin", result);
  const auto header = static_cast<uint32_t>(
      std::min<size_t>(limits_.max_header_bytes, kMostHeader));
  const std::array<nghttp2_settings_entry, 4> settings = {{
      own,
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, limits_.stream_window},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, header},
      {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
  }};
  result = nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(),
                                   settings.size());
  if (result == 0) {
    result = nghttp2_session_set_local_window_size(
        session_, NGHTTP2_FLAG_NONE, 0,
        static_cast<int32_t>(limits_.connection_window));
  }
  if (result != 0) return Fail("settings", result);
  budget_.emplace(clock_.Time());
  return true;
}

void Transport::EndWith(absl::Status reason) {
  if (status_.ok()) status_ = std::move(reason);
}

void Transport::Terminate(uint32_t error, absl::Status reason) {
  EndWith(std::move(reason));
  nghttp2_session_terminate_session(session_, error);
}

bool Transport::Fail(std::string_view what, ssize_t code) {
  EndWith(callback_error_.ok() ? Nghttp2Error(peer_, what, code)
                               : std::move(callback_error_));
  return false;
}

Transport::Read Transport::PollReads(Context& cx) {
  skips_reads_ = false;
  if (nghttp2_session_want_read(session_) == 0) return Read::kWaits;
  skips_reads_ = MustNotRead();
  if (skips_reads_) return Read::kWaits;
  char bytes[kRead];
  for (int i = 0; i < kReads; ++i) {
    PollResult<absl::StatusOr<size_t>> size =
        io_->PollRead(cx, absl::MakeSpan(bytes));
    if (size.IsPending()) return Read::kWaits;
    if (!size->ok()) {
      EndWith((*std::move(size)).status());
      return Read::kFailed;
    }
    if (**size == 0) return Read::kEnd;
    received_ = clock_.Time();
    if (!Receive(std::string_view(bytes, **size))) return Read::kFailed;
  }
  return Read::kHasMore;
}

bool Transport::Receive(std::string_view bytes) {
  const ssize_t used = nghttp2_session_mem_recv(
      session_, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  if (used < 0) return Fail("a frame", used);
  EndFlood();
  return true;
}

bool Transport::PollWrites(Context& cx) {
  for (;;) {
    while (out_.size() < kBatch) {
      const uint8_t* data;
      const ssize_t size = nghttp2_session_mem_send(session_, &data);
      if (size < 0) return Fail("a frame", size);
      if (size == 0) {
        // The ends of streams have freed what their readers had not read.
        if (!OpenWindow()) break;
        continue;
      }
      out_.Append(std::string_view(reinterpret_cast<const char*>(data), size));
    }
    if (out_.empty()) break;
    PollResult<absl::StatusOr<size_t>> written =
        io_->PollWrite(cx, out_.view());
    if (written.IsPending()) {
      BeginBlocked(cx);
      return true;
    }
    if (!written->ok()) {
      EndWith((*std::move(written)).status());
      return false;
    }
    out_.Consume(**written);
    must_flush_ = true;
    EndBlocked();
  }
  if (!must_flush_) return true;
  PollResult<absl::Status> flushed = io_->PollFlush(cx);
  if (flushed.IsPending()) {
    // A stream with a buffer of its own takes bytes, and then waits here.
    BeginBlocked(cx);
    return true;
  }
  if (!flushed->ok()) {
    EndWith(*std::move(flushed));
    return false;
  }
  must_flush_ = false;
  EndBlocked();
  return true;
}

void Transport::Shrink() { out_.Shrink(kSmallBuffer); }

void Transport::BeginBlocked(const Context& cx) {
  if (is_blocked()) return;
  // A task without budget yields, whether or not the connection takes bytes.
  if (!cx.HasBudget()) return;
  write_end_ = clock_.Time() + limits_.progress_timeout;
  clock_.ArmTimer(write_end_);
}

void Transport::EndBlocked() {
  if (!is_blocked()) return;
  write_end_ = Instant::Max();
  unblocked_ = clock_.Time();
}

bool Transport::MustNotRead() const {
  return is_blocked() &&
         nghttp2_session_get_outbound_queue_size(session_) > kMaxQueued;
}

void Transport::Consume(int32_t id, size_t bytes) {
  if (bytes == 0) return;
  unread_ -= bytes;
  // Does nothing if the stream has ended.
  nghttp2_session_consume_stream(session_, id, bytes);
}

bool Transport::OpenWindow() {
  // Includes bytes that belong to no body, such as padding.
  const int32_t used = nghttp2_session_get_effective_recv_data_length(session_);
  const int32_t free = used - static_cast<int32_t>(unread_);
  const int32_t left = nghttp2_session_get_local_window_size(session_);
  const auto window = static_cast<int32_t>(limits_.connection_window);
  if (free <= 0 || (free < window / 4 && free < left)) return false;
  return nghttp2_submit_window_update(session_, NGHTTP2_FLAG_NONE, 0, free) ==
         0;
}

void Transport::OnUselessFrame() {
  if (!budget_->Take(clock_.Time())) is_flooded_ = true;
}

void Transport::OnDataFrame(const nghttp2_frame& frame) {
  const bool ends = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  if (frame.hd.length > frame.data.padlen) {
    budget_->GiveForBody(frame.hd.length - frame.data.padlen);
  } else if (frame.hd.length > 0 && !ends) {
    OnUselessFrame();  // only padding
  }
}

void Transport::OnHeaderBytes(size_t bytes) {
  if (bytes / kHeaderExcess <= limits_.max_header_bytes) return;
  // The rest of the header is not worth the work. nghttp2 would decode the rest
  // if only the stream ended, and would not say when the rest ends.
  Terminate(
      NGHTTP2_ENHANCE_YOUR_CALM,
      absl::InvalidArgumentError(absl::StrCat(
          "the ", peer_, " has sent a header of many times max_header_bytes")));
}

void Transport::OnGoawaySent(const nghttp2_frame& frame) {
  const nghttp2_goaway& goaway = frame.goaway;
  if (goaway.error_code == NGHTTP2_NO_ERROR || !status_.ok()) return;
  status_ = absl::InvalidArgumentError(absl::StrCat(
      "the ", peer_, " has broken the rules of HTTP/2: ",
      nghttp2_http2_strerror(goaway.error_code), " ",
      std::string_view(reinterpret_cast<const char*>(goaway.opaque_data),
                       goaway.opaque_data_len)));
}

bool Transport::EndFlood() {
  if (!is_flooded_ || !status_.ok()) return false;
  Terminate(
      NGHTTP2_ENHANCE_YOUR_CALM,
      absl::InvalidArgumentError(absl::StrCat(
          "the ", peer_, " has sent too many frames of no use, such as PING")));
  return true;
}

}  // namespace rouse::http::internal
