// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h2/server_session.h"

#include <nghttp2/nghttp2.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/log/log.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/future/catch_exception.h"
#include "rouse/http/body.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/h1/parse_head.h"
#include "rouse/http/h1/serialize.h"
#include "rouse/http/h2/frame_budget.h"
#include "rouse/http/h2/options.h"
#include "rouse/http/h2/server_stream.h"
#include "rouse/http/h2/stream_run.h"
#include "rouse/http/handler.h"
#include "rouse/http/headers.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server_options.h"
#include "rouse/scheduler/current.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

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

// Most time between the two GOAWAY of a graceful end, if the client does not
// answer the PING.
constexpr absl::Duration kDrainPing = absl::Seconds(1);

// Most time that the client gets to close the connection after the last frame.
constexpr absl::Duration kLinger = absl::Seconds(1);

// Most bytes of a request that are read and discarded after the response. A
// client that is asked to stop instead may take this for an error, as curl 7.88
// does.
constexpr uint64_t kMaxDiscard = uint64_t{256} << 10;

// A client that sends a header of this many times the limit does not get an
// answer.
constexpr size_t kHeaderExcess = 4;

absl::Status CurrentException() {
  return ::rouse::internal::ExceptionToStatus(std::current_exception());
}

absl::Status Nghttp2Error(std::string_view what, ssize_t code) {
  const char* const text = nghttp2_strerror(static_cast<int>(code));
  if (code == NGHTTP2_ERR_NOMEM) {
    return absl::ResourceExhaustedError(absl::StrCat(what, ": ", text));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the client has broken the rules of HTTP/2: ", what, ": ", text));
}

uint8_t* Bytes(std::string_view text) {
  // nghttp2 does not write through this pointer.
  return const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(text.data()));
}

// nghttp2 copies the texts, and makes the names lower-case.
nghttp2_nv Field(std::string_view name, std::string_view value) {
  return {Bytes(name), Bytes(value), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NONE};
}

std::vector<nghttp2_nv> FieldsOf(const Headers& headers) {
  std::vector<nghttp2_nv> fields;
  fields.reserve(headers.size());
  for (const auto& [name, value] : headers) {
    fields.push_back(Field(name, value));
  }
  return fields;
}

// The fields of a response that the user does not decide.
enum class Own { kUsers, kLength, kConnection, kDropped, kDate };

Own KindOf(std::string_view name) {
  const auto is = [name](std::string_view other) {
    return absl::EqualsIgnoreCase(name, other);
  };
  switch (name.size()) {
    case 4:
      return is("date") ? Own::kDate : Own::kUsers;
    case 7:
      return is("upgrade") ? Own::kDropped : Own::kUsers;
    case 10:
      if (is("connection")) return Own::kConnection;
      return is("keep-alive") ? Own::kDropped : Own::kUsers;
    case 14:
      return is("content-length") ? Own::kLength : Own::kUsers;
    case 16:
      return is("proxy-connection") ? Own::kDropped : Own::kUsers;
    case 17:
      return is("transfer-encoding") ? Own::kDropped : Own::kUsers;
    default:
      return Own::kUsers;
  }
}

// The data of the PING between the two GOAWAY.
constexpr std::array<uint8_t, 8> kPing = {'d', 'r', 'a', 'i',
                                          'n', 'i', 'n', 'g'};

}  // namespace

// ---- The callbacks.

struct ServerSession::Callbacks {
  static ServerSession& Self(void* user_data) {
    return *static_cast<ServerSession*>(user_data);
  }

  static ServerStream* StreamOf(nghttp2_session* session, int32_t id) {
    return static_cast<ServerStream*>(
        nghttp2_session_get_stream_user_data(session, id));
  }

  // Calls `body`. An exception ends the connection.
  template <class F>
  static int Guard(void* user_data, F body) noexcept {
    ROUSE_TRY {
      body();
      return 0;
    }
    ROUSE_CATCH_ALL {
      Self(user_data).callback_error_ = CurrentException();
      return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
  }

  static int OnBeginFrame(nghttp2_session*, const nghttp2_frame_hd* head,
                          void* user_data) {
    return Guard(user_data, [&] {
      switch (head->type) {
        case NGHTTP2_HEADERS:
        case NGHTTP2_CONTINUATION:
        case NGHTTP2_GOAWAY:
        case NGHTTP2_WINDOW_UPDATE:
          return;
        case NGHTTP2_DATA:
          if (head->length > 0) return;
          if ((head->flags & NGHTTP2_FLAG_END_STREAM) != 0) return;
          break;
        default:
          break;
      }
      Self(user_data).OnUselessFrame();
    });
  }

  static int OnBeginHeaders(nghttp2_session* session,
                            const nghttp2_frame* frame, void* user_data) {
    return Guard(user_data, [&] {
      ServerSession& self = Self(user_data);
      self.fields_.Begin(self.options_->max_header_bytes,
                         self.options_->max_header_count);
      self.header_id_ = frame->hd.stream_id;
      self.header_end_ = self.Time() + self.options_->header_timeout;
      self.ArmTimer(self.header_end_);
      if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
        self.OnBeginRequest(frame->hd.stream_id);
      }
      static_cast<void>(session);
    });
  }

  static int OnHeader(nghttp2_session* session, const nghttp2_frame* frame,
                      const uint8_t* name, size_t name_size,
                      const uint8_t* value, size_t value_size, uint8_t,
                      void* user_data) {
    ServerSession& self = Self(user_data);
    const int result = Guard(user_data, [&] {
      const std::string_view n(reinterpret_cast<const char*>(name), name_size);
      const std::string_view v(reinterpret_cast<const char*>(value),
                               value_size);
      if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
        self.fields_.Add(n, v);
        return;
      }
      ServerStream* const stream = StreamOf(session, frame->hd.stream_id);
      if (stream != nullptr) {
        self.fields_.AddTrailer(n, v, stream->in_trailers);
      }
    });
    if (result != 0) return result;
    // The rest of a much too large header is not worth the work.
    if (self.fields_.bytes() / kHeaderExcess >
        self.options_->max_header_bytes) {
      return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    return 0;
  }

  static int OnFrameRecv(nghttp2_session* session, const nghttp2_frame* frame,
                         void* user_data) {
    return Guard(user_data, [&] {
      ServerSession& self = Self(user_data);
      const bool ends = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
      const bool is_ack = (frame->hd.flags & NGHTTP2_FLAG_ACK) != 0;
      switch (frame->hd.type) {
        case NGHTTP2_HEADERS: {
          self.EndHeader(frame->hd.stream_id);
          ServerStream* const stream = StreamOf(session, frame->hd.stream_id);
          if (stream == nullptr) return;
          if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
            self.OnRequest(*stream, ends);
          } else {
            self.OnTrailers(*stream);
            if (ends) self.OnRequestEnd(*stream);
          }
          return;
        }
        case NGHTTP2_DATA: {
          if (frame->hd.length > frame->data.padlen) self.budget_->Give();
          ServerStream* const stream = StreamOf(session, frame->hd.stream_id);
          if (ends && stream != nullptr) self.OnRequestEnd(*stream);
          return;
        }
        case NGHTTP2_SETTINGS:
          if (is_ack) return;
          if (!self.has_settings_) {
            self.has_settings_ = true;
            self.EndHeader(0);
          }
          return;
        case NGHTTP2_PING:
          if (is_ack && self.is_draining_ &&
              std::equal(kPing.begin(), kPing.end(), frame->ping.opaque_data)) {
            self.EndDrain();
          }
          return;
        default:
          return;
      }
    });
  }

  static int OnDataChunk(nghttp2_session* session, uint8_t, int32_t id,
                         const uint8_t* data, size_t size, void* user_data) {
    return Guard(user_data, [&] {
      const std::string_view bytes(reinterpret_cast<const char*>(data), size);
      ServerStream* const stream = StreamOf(session, id);
      if (stream != nullptr) {
        Self(user_data).OnData(*stream, bytes);
      } else {
        nghttp2_session_consume(session, id, size);
      }
    });
  }

  static int OnStreamClose(nghttp2_session* session, int32_t id, uint32_t,
                           void* user_data) {
    return Guard(user_data, [&] {
      ServerStream* const stream = StreamOf(session, id);
      if (stream != nullptr) Self(user_data).OnStreamClose(*stream);
    });
  }

  static int OnFrameSend(nghttp2_session* session, const nghttp2_frame* frame,
                         void* user_data) {
    return Guard(user_data, [&] {
      ServerSession& self = Self(user_data);
      switch (frame->hd.type) {
        case NGHTTP2_HEADERS:
        case NGHTTP2_DATA: {
          if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return;
          ServerStream* const stream = StreamOf(session, frame->hd.stream_id);
          if (stream != nullptr) self.OnResponseEnd(*stream);
          return;
        }
        case NGHTTP2_RST_STREAM:
          // A client can cause these, too (CVE-2025-8671).
          if (frame->rst_stream.error_code != NGHTTP2_NO_ERROR) {
            self.OnUselessFrame();
          }
          return;
        case NGHTTP2_GOAWAY:
          if (frame->goaway.error_code != NGHTTP2_NO_ERROR &&
              self.status_.ok()) {
            self.status_ = absl::InvalidArgumentError(absl::StrCat(
                "the client has broken the rules of HTTP/2: ",
                nghttp2_http2_strerror(frame->goaway.error_code), " ",
                std::string_view(
                    reinterpret_cast<const char*>(frame->goaway.opaque_data),
                    frame->goaway.opaque_data_len)));
          }
          return;
        default:
          return;
      }
    });
  }

  // Gives nghttp2 bytes of a response's body.
  static ssize_t ReadBody(nghttp2_session* session, int32_t id, uint8_t* buffer,
                          size_t length, uint32_t* flags,
                          nghttp2_data_source* source, void* user_data) {
    ServerSession& self = Self(user_data);
    ServerStream& stream = *static_cast<ServerStream*>(source->ptr);
    ssize_t result = 0;
    const int guarded = Guard(user_data, [&] {
      char* const to = reinterpret_cast<char*>(buffer);
      size_t size;
      bool has_more;
      const Headers* trailers;
      if (stream.sends_text) {
        const std::string_view left =
            stream.response.body.text().substr(stream.text_sent);
        size = left.copy(to, length);
        stream.text_sent += size;
        has_more = size < left.size();
        trailers = &stream.response.body.trailers();
        if (!has_more) *flags |= NGHTTP2_DATA_FLAG_EOF;
      } else {
        const ThreadMutexLock lock(&self.link_->mu);
        if (stream.out_has_failed) {
          result = NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
          return;
        }
        size = stream.out.view().copy(to, length);
        stream.out.Consume(size);
        has_more = !stream.out.empty();
        trailers = &stream.out_trailers;
        if (stream.writer.has_value() && stream.out.size() < kMaxUnsent) {
          self.woken_.push_back(*std::exchange(stream.writer, std::nullopt));
        }
        if (!has_more && stream.out_is_complete) {
          *flags |= NGHTTP2_DATA_FLAG_EOF;
        } else if (size == 0) {
          stream.is_deferred = true;
          stream.is_waiting = false;
          result = NGHTTP2_ERR_DEFERRED;
          return;
        }
      }
      stream.is_waiting = has_more;
      if (size > 0) {
        self.data_sent_ = stream.waiting_since = self.Time();
      }
      if ((*flags & NGHTTP2_DATA_FLAG_EOF) != 0 && !trailers->empty()) {
        const std::vector<nghttp2_nv> fields = FieldsOf(*trailers);
        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
        nghttp2_submit_trailer(session, id, fields.data(), fields.size());
      }
      result = static_cast<ssize_t>(size);
    });
    return guarded != 0 ? guarded : result;
  }

  static const nghttp2_session_callbacks* Get() {
    static const nghttp2_session_callbacks* const callbacks = [] {
      nghttp2_session_callbacks* c = nullptr;
      if (nghttp2_session_callbacks_new(&c) != 0) return c;
      nghttp2_session_callbacks_set_on_begin_frame_callback(c, &OnBeginFrame);
      nghttp2_session_callbacks_set_on_begin_headers_callback(c,
                                                              &OnBeginHeaders);
      nghttp2_session_callbacks_set_on_header_callback(c, &OnHeader);
      nghttp2_session_callbacks_set_on_frame_recv_callback(c, &OnFrameRecv);
      nghttp2_session_callbacks_set_on_data_chunk_recv_callback(c,
                                                                &OnDataChunk);
      nghttp2_session_callbacks_set_on_stream_close_callback(c, &OnStreamClose);
      nghttp2_session_callbacks_set_on_frame_send_callback(c, &OnFrameSend);
      return c;
    }();
    return callbacks;
  }

  static const nghttp2_option* Options() {
    static const nghttp2_option* const options = [] {
      nghttp2_option* o = nullptr;
      if (nghttp2_option_new(&o) != 0) return o;
      // The window is opened when a handler has read.
      nghttp2_option_set_no_auto_window_update(o, 1);
      nghttp2_option_set_no_closed_streams(o, 1);
      nghttp2_option_set_max_outbound_ack(o, kMaxQueuedAcks);
      return o;
    }();
    return options;
  }
};

// ---- The connection.

ServerSession::ServerSession(std::unique_ptr<Io> io, std::string received,
                             std::shared_ptr<Handler> handler,
                             std::shared_ptr<const ServerOptions> options,
                             std::string peer, const h2::Options& h2)
    : link_(std::make_shared<ServerLink>(
          std::move(peer), h2.connection_window_bytes, h2.stream_window_bytes)),
      io_(std::move(io)),
      handler_(std::move(handler)),
      options_(std::move(options)),
      h2_(h2),
      received_(std::move(received)),
      timer_(absl::InfiniteDuration()) {}

ServerSession::~ServerSession() {
  ROUSE_TRY { CloseAll(); }
  ROUSE_CATCH_ALL {}
  nghttp2_session_del(session_);
}

PollResult<absl::Status> ServerSession::Poll(Context& cx) {
  for (;;) {
    bool has_changed = false;
    switch (state_) {
      case State::kServing:
        has_changed = PollServing(cx);
        break;
      case State::kLinger:
        has_changed = PollLinger(cx);
        break;
      case State::kEnding:
        has_changed = PollEnding(cx);
        break;
      case State::kDone:
        return std::move(status_);
    }
    if (!has_changed) return kPending;
  }
}

absl::Status ServerSession::Open() {
  const nghttp2_session_callbacks* const callbacks = Callbacks::Get();
  const nghttp2_option* const options = Callbacks::Options();
  if (callbacks == nullptr || options == nullptr) {
    return Nghttp2Error("begin", NGHTTP2_ERR_NOMEM);
  }
  int result = nghttp2_session_server_new2(&session_, callbacks, this, options);
  if (result != 0) return Nghttp2Error("begin", result);
  constexpr uint32_t kMostWindow = 0x7fffffff;
  const auto headers = static_cast<uint32_t>(
      std::min<size_t>(options_->max_header_bytes, kMostWindow));
  const std::array<nghttp2_settings_entry, 4> settings = {{
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS,
       std::max<uint32_t>(h2_.max_concurrent_streams, 1)},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
       std::clamp<uint32_t>(h2_.stream_window_bytes, 1, kMostWindow)},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, headers},
      {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
  }};
  result = nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(),
                                   settings.size());
  if (result == 0) {
    result = nghttp2_session_set_local_window_size(
        session_, NGHTTP2_FLAG_NONE, 0,
        static_cast<int32_t>(std::clamp<uint32_t>(h2_.connection_window_bytes,
                                                  NGHTTP2_INITIAL_WINDOW_SIZE,
                                                  kMostWindow)));
  }
  if (result != 0) return Nghttp2Error("settings", result);
  budget_.emplace(Time());
  header_end_ = Time() + options_->header_timeout;
  idle_end_ = Time() + options_->idle_timeout;
  ArmTimer(std::min(header_end_, idle_end_));
  return absl::OkStatus();
}

bool ServerSession::PollServing(Context& cx) {
  now_.reset();
  if (session_ == nullptr) {
    absl::Status opened = Open();
    if (!opened.ok()) return Finish(std::move(opened));
    const std::string received = std::exchange(received_, std::string());
    Receive(received);
  }
  bool has_unpolled;
  {
    const ThreadMutexLock lock(&link_->mu);
    link_->session.Reset();
    has_unpolled = link_->unpolled > 0;
  }
  // Requests arrive together, and are answered one after another. The task
  // lets the handlers run, so that their answers are written together.
  if (has_unpolled && !std::exchange(has_yielded_, true)) {
    cx.Yield();
    return false;
  }
  has_yielded_ = false;
  if (!is_draining_ && IsStopped(cx)) BeginDrain();
  for (;;) {
    TakeChanges();
    const bool may_have_more = state_ == State::kServing && PollReads(cx);
    if (state_ == State::kServing) StartRuns();
    if (state_ == State::kServing) PollWrites(cx);
    NotifyTasks();
    if (state_ != State::kServing) return true;
    const bool has_nothing_to_read = nghttp2_session_want_read(session_) == 0 ||
                                     (client_has_ended_ && streams_.empty());
    if (has_nothing_to_read && nghttp2_session_want_write(session_) == 0 &&
        out_.empty() && !must_flush_) {
      return BeginLinger();
    }
    if (CheckTime(cx)) {
      if (state_ != State::kServing) return true;
      continue;
    }
    if (!may_have_more && Wait(cx)) return false;
  }
}

bool ServerSession::PollReads(Context& cx) {
  if (client_has_ended_ || nghttp2_session_want_read(session_) == 0) {
    return false;
  }
  if (write_end_ != Instant::Max() &&
      nghttp2_session_get_outbound_queue_size(session_) > kMaxQueued) {
    return false;
  }
  char bytes[kRead];
  for (int i = 0; i < kReads; ++i) {
    PollResult<absl::StatusOr<size_t>> size =
        io_->PollRead(cx, absl::MakeSpan(bytes));
    if (size.IsPending()) return false;
    if (!size->ok()) {
      Finish((*std::move(size)).status());
      return false;
    }
    if (**size == 0) {
      client_has_ended_ = true;
      if (!options_->allow_half_close) {
        Finish(streams_.empty()
                   ? absl::OkStatus()
                   : absl::DataLossError("the client closed the connection "
                                         "before the response"));
        return false;
      }
      for (const std::shared_ptr<ServerStream>& stream : streams_) {
        if (nghttp2_session_get_stream_remote_close(session_, stream->id) ==
            0) {
          FailBody(*stream, 0,
                   absl::DataLossError(
                       "the connection ended in the middle of the body"));
        }
      }
      return false;
    }
    Receive(std::string_view(bytes, **size));
    if (state_ != State::kServing) return false;
  }
  return true;
}

void ServerSession::Receive(std::string_view bytes) {
  const ssize_t used =
      nghttp2_session_mem_recv(session_, Bytes(bytes), bytes.size());
  if (used < 0) {
    Finish(callback_error_.ok() ? Nghttp2Error("a frame", used)
                                : std::move(callback_error_));
    return;
  }
  if (!is_flooded_ || !status_.ok()) return;
  status_ = absl::InvalidArgumentError(
      "the client has sent too many frames of no use, such as PING");
  nghttp2_session_terminate_session(session_, NGHTTP2_ENHANCE_YOUR_CALM);
}

void ServerSession::PollWrites(Context& cx) {
  for (;;) {
    while (out_.size() < kBatch) {
      const uint8_t* data;
      const ssize_t size = nghttp2_session_mem_send(session_, &data);
      if (size < 0) {
        Finish(callback_error_.ok() ? Nghttp2Error("a frame", size)
                                    : std::move(callback_error_));
        return;
      }
      if (size == 0) break;
      out_.Append(std::string_view(reinterpret_cast<const char*>(data), size));
    }
    if (out_.empty()) break;
    PollResult<absl::StatusOr<size_t>> written =
        io_->PollWrite(cx, out_.view());
    if (written.IsPending()) {
      if (write_end_ == Instant::Max()) {
        write_end_ = Time() + options_->progress_timeout;
        ArmTimer(write_end_);
      }
      return;
    }
    if (!written->ok()) {
      Finish((*std::move(written)).status());
      return;
    }
    out_.Consume(**written);
    must_flush_ = true;
    if (write_end_ != Instant::Max()) {
      write_end_ = Instant::Max();
      unblocked_ = Time();
    }
  }
  if (must_flush_) {
    PollResult<absl::Status> flushed = io_->PollFlush(cx);
    if (flushed.IsPending()) return;
    if (!flushed->ok()) {
      Finish(*std::move(flushed));
      return;
    }
    must_flush_ = false;
  }
  if (streams_.empty()) out_.Shrink(kSmallBuffer);
}

// ---- Requests.

void ServerSession::OnBeginRequest(int32_t id) {
  auto stream = std::make_shared<ServerStream>(id);
  stream->index = streams_.size();
  streams_.push_back(stream);
  nghttp2_session_set_stream_user_data(session_, id, stream.get());
}

void ServerSession::EndHeader(int32_t id) {
  if (header_id_ == id && has_settings_) header_end_ = Instant::Max();
}

void ServerSession::OnRequest(ServerStream& stream, bool has_ended) {
  const Refusal refusal = fields_.Finish();
  Request& request = fields_.request();
  stream.is_head = request.method == "HEAD";
  stream.length = fields_.length();
  if (has_ended) OnRequestEnd(stream);
  if (!refusal.ok()) return Refuse(stream, refusal);
  if (stream.length.value_or(0) > options_->max_body_bytes) {
    return Refuse(stream, {413, "the body is too large"});
  }
  if (options_->request_timeout != absl::InfiniteDuration()) {
    stream.request_end = Time() + options_->request_timeout;
    ArmTimer(stream.request_end);
    stream.name =
        absl::StrCat(request.method, " ", absl::CHexEscape(request.target));
  }
  if (!has_ended && fields_.expects_continue()) {
    const ThreadMutexLock lock(&link_->mu);
    stream.expects_continue = true;
  }
  if (!request.headers.Has("priority")) {
    // Responses are sent in turns, rather than one after another.
    const nghttp2_extpri priority = {NGHTTP2_EXTPRI_DEFAULT_URGENCY, 1};
    nghttp2_session_change_extpri_stream_priority(session_, stream.id,
                                                  &priority, 0);
  }
  request.peer = link_->peer;
  begun_.emplace_back(streams_[stream.index], std::move(request));
}

void ServerSession::StartRuns() {
  // A poll of a task never happens inside of `Spawn()`, so nothing is added.
  for (Begun& begun : begun_) {
    ServerStream& stream = *begun.stream;
    Request& request = begun.request;
    size_t consumed = 0;
    {
      const ThreadMutexLock lock(&link_->mu);
      // A client that resets its requests at once could otherwise cause any
      // number of tasks that have not ended yet (CVE-2023-44487).
      if (stream.is_closed) continue;
      if (link_->runs >=
          2 * size_t{std::max<uint32_t>(h2_.max_concurrent_streams, 1)}) {
        nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id,
                                  NGHTTP2_REFUSED_STREAM);
        continue;
      }
      if (!stream.in_is_complete || !stream.in_error.ok()) {
        request.body =
            Body(std::make_unique<StreamBody>(link_, begun.stream,
                                              options_->progress_timeout),
                 stream.length);
      } else {
        consumed = stream.in.size();
        request.body = Body(stream.in.view());
        stream.in.Clear();
        stream.in.Shrink(0);
        if (!stream.in_trailers.empty()) {
          request.body.trailers() = std::move(stream.in_trailers);
        }
      }
    }
    if (consumed > 0) nghttp2_session_consume(session_, stream.id, consumed);
    stream.has_started = true;
    stream.run.emplace(
        Spawn(StreamRun(link_, begun.stream, handler_, std::move(request)))
            .abort_handle());
  }
  begun_.clear();
}

void ServerSession::OnTrailers(ServerStream& stream) {
  const Refusal& refusal = fields_.refusal();
  if (refusal.ok()) return;
  FailBody(stream, 400,
           absl::InvalidArgumentError(
               absl::StrCat("the trailers were refused: ", refusal.reason)));
}

void ServerSession::OnData(ServerStream& stream, std::string_view bytes) {
  stream.received += bytes.size();
  if (stream.received > options_->max_body_bytes) {
    FailBody(stream, 413,
             absl::ResourceExhaustedError(
                 absl::StrCat("the body exceeds the limit of ",
                              options_->max_body_bytes, " bytes")));
  }
  {
    const ThreadMutexLock lock(&link_->mu);
    if (stream.in_error.ok() && !stream.is_closed) {
      stream.in.Append(bytes);
      if (stream.reader.has_value()) {
        woken_.push_back(*std::exchange(stream.reader, std::nullopt));
      }
      return;
    }
  }
  const uint64_t most = options_->max_body_bytes;
  if (stream.received > most && stream.received - most > kMaxDiscard) {
    // The window of the stream stays closed.
    nghttp2_session_consume_connection(session_, bytes.size());
  } else {
    nghttp2_session_consume(session_, stream.id, bytes.size());
  }
}

void ServerSession::OnRequestEnd(ServerStream& stream) {
  const ThreadMutexLock lock(&link_->mu);
  stream.in_is_complete = true;
  if (stream.reader.has_value()) {
    woken_.push_back(*std::exchange(stream.reader, std::nullopt));
  }
}

void ServerSession::FailBody(ServerStream& stream, int failure,
                             absl::Status error) {
  const ThreadMutexLock lock(&link_->mu);
  if (!stream.in_error.ok()) return;
  stream.in_error = std::move(error);
  stream.in_failure = failure;
  if (stream.reader.has_value()) {
    woken_.push_back(*std::exchange(stream.reader, std::nullopt));
  }
}

void ServerSession::Refuse(ServerStream& stream, const Refusal& refusal) {
  FailBody(stream, refusal.status,
           absl::InvalidArgumentError("the request was refused"));
  Response response =
      Response::Text(absl::StrCat(refusal.reason, "\n"), refusal.status);
  const std::optional<uint64_t> size = response.body.size();
  Submit(stream, std::move(response), /*streams_out=*/false, size);
}

void ServerSession::OnResponseEnd(ServerStream& stream) {
  stream.has_sent_all = true;
  stream.is_waiting = false;
  stream.request_end = Instant::Max();
  budget_->Give();
  if (nghttp2_session_get_stream_remote_close(session_, stream.id) != 0) {
    return;
  }
  // The rest of the request is not needed.
  bool waits_for_continue;
  {
    const ThreadMutexLock lock(&link_->mu);
    waits_for_continue = stream.expects_continue;
  }
  Close(stream, /*aborts=*/false);
  if (!waits_for_continue && stream.length.has_value() &&
      *stream.length <= stream.received + kMaxDiscard) {
    stream.discard_end = Time() + options_->progress_timeout;
    ArmTimer(stream.discard_end);
  } else {
    // Asks the client to stop (RFC 9113, section 8.1).
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id,
                              NGHTTP2_NO_ERROR);
  }
}

void ServerSession::OnUselessFrame() {
  if (!budget_->Take(Time())) is_flooded_ = true;
}

void ServerSession::OnStreamClose(ServerStream& stream) {
  EndHeader(stream.id);
  Close(stream, /*aborts=*/!stream.has_sent_all);
  nghttp2_session_set_stream_user_data(session_, stream.id, nullptr);
  // Destroys the stream, unless other tasks use it.
  const size_t index = stream.index;
  streams_[index] = std::move(streams_.back());
  streams_[index]->index = index;
  streams_.pop_back();
  if (streams_.empty()) {
    idle_end_ = Time() + options_->idle_timeout;
    ArmTimer(idle_end_);
  }
}

void ServerSession::Close(ServerStream& stream, bool aborts) {
  size_t unread;
  std::optional<Response> answer;
  {
    const ThreadMutexLock lock(&link_->mu);
    stream.is_closed = true;
    unread = stream.in.size() + std::exchange(stream.consumed, 0);
    stream.in.Clear();
    stream.in.Shrink(0);
    if (stream.in_error.ok()) {
      stream.in_error = absl::CancelledError(
          stream.has_sent_all ? "the body of a request can be read only until "
                                "the response was sent"
                              : "the client has cancelled the request");
    }
    answer.swap(stream.answer);
    for (std::optional<Waker>* waker : {&stream.reader, &stream.writer}) {
      if (!waker->has_value()) continue;
      woken_.push_back(*std::exchange(*waker, std::nullopt));
    }
  }
  if (unread > 0) nghttp2_session_consume(session_, stream.id, unread);
  if (aborts && stream.run.has_value()) aborted_.push_back(*stream.run);
}

void ServerSession::CloseAll() {
  for (const std::shared_ptr<ServerStream>& stream : streams_) {
    Close(*stream, /*aborts=*/true);
    nghttp2_session_set_stream_user_data(session_, stream->id, nullptr);
  }
  begun_.clear();
  streams_.clear();
  NotifyTasks();
}

// ---- Responses.

void ServerSession::TakeChanges() {
  {
    const ThreadMutexLock lock(&link_->mu);
    link_->consumed = 0;
    taken_.swap(link_->changed);
  }
  for (const std::shared_ptr<ServerStream>& taken : taken_) {
    ServerStream& stream = *taken;
    size_t consumed;
    bool wants_continue;
    bool resumes = false;
    bool streams_out;
    std::optional<uint64_t> size;
    std::optional<Response> answer;
    {
      const ThreadMutexLock lock(&link_->mu);
      stream.is_changed = false;
      if (stream.is_closed) continue;
      consumed = std::exchange(stream.consumed, 0);
      wants_continue = std::exchange(stream.wants_continue, false);
      streams_out = stream.streams_out;
      size = stream.out_size;
      answer.swap(stream.answer);
      if (stream.is_deferred &&
          (!stream.out.empty() || stream.out_is_complete)) {
        resumes = true;
        stream.is_deferred = false;
      }
    }
    if (consumed > 0) nghttp2_session_consume(session_, stream.id, consumed);
    if (wants_continue && !stream.has_answered && !answer.has_value()) {
      const nghttp2_nv field = Field(":status", "100");
      nghttp2_submit_headers(session_, NGHTTP2_FLAG_NONE, stream.id, nullptr,
                             &field, 1, nullptr);
    }
    if (answer.has_value()) {
      Submit(stream, *std::move(answer), streams_out, size);
    }
    if (resumes) {
      BeginWaiting(stream);
      nghttp2_session_resume_data(session_, stream.id);
    }
  }
  taken_.clear();
}

void ServerSession::Submit(ServerStream& stream, Response response,
                           bool streams_out, std::optional<uint64_t> size) {
  stream.has_answered = true;
  stream.response = std::move(response);
  const Response& sent = stream.response;
  const int status = sent.status;
  const bool has_no_body = status == 204 || status == 304;
  stream.sends_text = !streams_out;
  const bool has_data =
      streams_out ||
      (!stream.is_head && !has_no_body &&
       (!sent.body.text().empty() || !sent.body.trailers().empty()));
  // The length of the body that a GET would have got.
  const bool takes_length =
      (stream.is_head || status == 304) && size == uint64_t{0};
  const absl::AlphaNum status_text(status);
  std::vector<nghttp2_nv> fields;
  fields.reserve(sent.headers.size() + 3);
  fields.push_back(Field(":status", status_text.Piece()));
  bool has_date = false;
  bool has_length = false;
  bool closes = false;
  for (const auto& [name, value] : sent.headers) {
    switch (KindOf(name)) {
      case Own::kUsers:
        break;
      case Own::kDate:
        has_date = true;
        break;
      case Own::kDropped:
        continue;
      case Own::kLength: {
        uint64_t length;
        if (!takes_length || has_length || !ParseContentLength(value, length)) {
          continue;
        }
        has_length = true;
        break;
      }
      case Own::kConnection:
        closes |= ListHasToken(value, "close");
        continue;
    }
    fields.push_back(Field(name, value));
  }
  if (!has_date) fields.push_back(Field("date", HttpDate()));
  const absl::AlphaNum length_text(size.value_or(0));
  if (size.has_value() && !has_no_body && !has_length) {
    fields.push_back(Field("content-length", length_text.Piece()));
  }
  nghttp2_data_provider provider;
  provider.source.ptr = &stream;
  provider.read_callback = &Callbacks::ReadBody;
  const int result =
      nghttp2_submit_response(session_, stream.id, fields.data(), fields.size(),
                              has_data ? &provider : nullptr);
  if (result != 0) {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id,
                              NGHTTP2_INTERNAL_ERROR);
    return;
  }
  if (has_data) BeginWaiting(stream);
  if (closes) BeginDrain();
}

void ServerSession::BeginWaiting(ServerStream& stream) {
  if (std::exchange(stream.is_waiting, true)) return;
  stream.waiting_since = Time();
  ArmTimer(stream.waiting_since + options_->progress_timeout);
}

void ServerSession::NotifyTasks() {
  for (Waker& waker : woken_) WakeDropped(std::move(waker));
  woken_.clear();
  for (const AbortHandle& run : aborted_) run.Abort();
  aborted_.clear();
}

bool ServerSession::Wait(Context& cx) {
  const ThreadMutexLock lock(&link_->mu);
  if (!link_->changed.empty()) return false;
  if (!link_->session.WillWake(cx.waker())) {
    link_->session = cx.waker().Clone();
  }
  return true;
}

// ---- Time.

Instant ServerSession::Time() {
  if (!now_.has_value()) now_ = Now();
  return *now_;
}

void ServerSession::ArmTimer(Instant time) {
  if (time >= armed_) return;
  armed_ = time;
  timer_is_late_ = true;
}

bool ServerSession::CheckTime(Context& cx) {
  if (std::exchange(timer_is_late_, false)) timer_.ResetAt(armed_);
  if (armed_ == Instant::Max() || timer_.Poll(cx).IsPending()) return false;
  armed_ = Instant::Max();
  now_.reset();
  EndOverdue();
  return true;
}

void ServerSession::EndOverdue() {
  const Instant now = Time();
  if (write_end_ <= now) {
    Finish(absl::DeadlineExceededError(
        "the client has not taken the response for too long"));
    return;
  }
  if (header_end_ <= now) {
    header_end_ = Instant::Max();
    if (status_.ok()) {
      status_ = absl::DeadlineExceededError(
          "the header of a request did not arrive in time");
    }
    nghttp2_session_terminate_session(session_, NGHTTP2_NO_ERROR);
  }
  if (streams_.empty() && idle_end_ <= now) {
    idle_end_ = Instant::Max();
    nghttp2_session_terminate_session(session_, NGHTTP2_NO_ERROR);
  }
  if (drain_end_ <= now) EndDrain();
  for (const std::shared_ptr<ServerStream>& stream : streams_) {
    EndOverdueStream(*stream);
  }
  ArmTimer(std::min({write_end_, header_end_, drain_end_}));
  if (streams_.empty()) ArmTimer(idle_end_);
}

void ServerSession::EndOverdueStream(ServerStream& stream) {
  const Instant now = Time();
  bool is_overdue = false;
  if (stream.request_end <= now) {
    stream.request_end = Instant::Max();
    if (stream.has_answered) {
      is_overdue = true;
    } else {
      bool has_answer;
      bool waits_for_body;
      {
        const ThreadMutexLock lock(&link_->mu);
        // A later answer of the handler does not count.
        has_answer = std::exchange(stream.has_answer, true);
        waits_for_body = stream.reader.has_value();
      }
      if (!has_answer) {
        if (stream.run.has_value()) aborted_.push_back(*stream.run);
        if (!waits_for_body) {
          LOG(ERROR) << "http: " << stream.name << " from "
                     << (link_->peer.empty() ? "a client" : link_->peer)
                     << ": the handler took longer than request_timeout, "
                     << absl::FormatDuration(options_->request_timeout);
        }
        Response response =
            waits_for_body
                ? Response::Text("the request did not arrive in time\n", 408)
                : Response::Text("the server took too long\n", 503);
        const std::optional<uint64_t> size = response.body.size();
        Submit(stream, std::move(response), /*streams_out=*/false, size);
      }
    }
  }
  if (stream.discard_end <= now) {
    stream.discard_end = Instant::Max();
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id,
                              NGHTTP2_NO_ERROR);
  }
  ArmTimer(std::min(stream.request_end, stream.discard_end));
  // While the connection takes nothing, that is what counts.
  if (stream.is_waiting && write_end_ == Instant::Max()) {
    Instant since = std::max(stream.waiting_since, unblocked_);
    // The stream may only wait for others to use the window of the connection.
    if (nghttp2_session_get_remote_window_size(session_) <= 0) {
      since = std::max(since, data_sent_);
    }
    const Instant end = since + options_->progress_timeout;
    is_overdue |= end <= now;
    if (!is_overdue) ArmTimer(end);
  }
  if (!is_overdue) return;
  stream.is_waiting = false;
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id,
                            NGHTTP2_CANCEL);
}

// ---- The end.

bool ServerSession::IsStopped(Context& cx) {
  // Without budget the token would not take the waker.
  if (!cx.HasBudget()) {
    (void)YieldForBudget(cx);
    return false;
  }
  // The task usually waits already.
  if (!stopped_.has_value()) {
    stopped_.emplace(options_->stop.Cancelled());
  } else if (stop_waker_.WillWake(cx.waker())) {
    return options_->stop.IsCancelled();
  }
  stop_waker_ = cx.waker().Clone();
  return stopped_->Poll(cx).IsReady();
}

void ServerSession::BeginDrain() {
  if (std::exchange(is_draining_, true)) return;
  nghttp2_submit_shutdown_notice(session_);
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, kPing.data());
  drain_end_ = Time() + kDrainPing;
  ArmTimer(drain_end_);
}

void ServerSession::EndDrain() {
  drain_end_ = Instant::Max();
  if (std::exchange(has_drained_, true)) return;
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session_),
                        NGHTTP2_NO_ERROR, nullptr, 0);
}

bool ServerSession::BeginLinger() {
  CloseAll();
  timer_.Reset(kLinger);
  state_ = State::kLinger;
  return true;
}

bool ServerSession::PollLinger(Context& cx) {
  if (!has_shut_down_) {
    PollResult<absl::Status> done = io_->PollShutdown(cx);
    if (done.IsPending()) {
      return timer_.Poll(cx).IsReady() && Finish(std::move(status_));
    }
    has_shut_down_ = true;
    if (!done->ok()) return Finish(std::move(status_));
  }
  char bytes[4096];
  while (!client_has_ended_) {
    PollResult<absl::StatusOr<size_t>> size =
        io_->PollRead(cx, absl::MakeSpan(bytes));
    if (size.IsPending()) {
      return timer_.Poll(cx).IsReady() && Finish(std::move(status_));
    }
    client_has_ended_ = !size->ok() || **size == 0;
  }
  return Finish(std::move(status_));
}

bool ServerSession::Finish(absl::Status status) {
  if (state_ == State::kEnding) return true;
  status_ = std::move(status);
  state_ = State::kEnding;
  return true;
}

bool ServerSession::PollEnding(Context& cx) {
  // The lists of tasks cannot be used inside of nghttp2.
  CloseAll();
  const ThreadMutexLock lock(&link_->mu);
  if (link_->runs > 0) {
    link_->session = cx.waker().Clone();
    return false;
  }
  state_ = State::kDone;
  return true;
}

}  // namespace rouse::http::internal
