// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h2/server_callbacks.h"

#include <nghttp2/nghttp2.h>
#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/log/log.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/http/h2/server_session.h"
#include "rouse/http/h2/server_stream.h"
#include "rouse/http/h2/shared/fields.h"
#include "rouse/http/h2/shared/frame_budget.h"
#include "rouse/http/h2/shared/shared_stream.h"
#include "rouse/http/headers.h"
#include "rouse/http/serving/handler_call.h"

namespace rouse::http::internal {
namespace {

// Most answers to PING and SETTINGS that wait (CVE-2019-9512, -9515).
constexpr size_t kMaxQueuedAcks = 500;

// A client that sends a header of this many times the limit is disconnected.
constexpr size_t kHeaderExcess = 4;

// The last stream of the first GOAWAY of a graceful end, which ends nothing.
constexpr int32_t kNoticeId = 0x7fffffff;

}  // namespace

struct ServerSession::Callbacks::Functions {
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
      if (IsUseless(*head)) Self(user_data).OnUselessFrame();
    });
  }

  static int OnBeginHeaders(nghttp2_session*, const nghttp2_frame* frame,
                            void* user_data) {
    return Guard(user_data, [&] {
      ServerSession& self = Self(user_data);
      self.budget_->Give();
      self.fields_.Begin(self.options_->max_header_bytes,
                         self.options_->max_header_count);
      self.header_id_ = frame->hd.stream_id;
      self.header_end_ = self.Time() + self.options_->header_timeout;
      self.ArmTimer(self.header_end_);
      if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
        self.OnBeginRequest(frame->hd.stream_id);
      }
    });
  }

  static int OnHeader(nghttp2_session* session, const nghttp2_frame* frame,
                      const uint8_t* name, size_t name_size,
                      const uint8_t* value, size_t value_size, uint8_t,
                      void* user_data) {
    ServerSession& self = Self(user_data);
    return Guard(user_data, [&] {
      const std::string_view n(reinterpret_cast<const char*>(name), name_size);
      const std::string_view v(reinterpret_cast<const char*>(value),
                               value_size);
      if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
        self.fields_.Add(n, v);
      } else {
        ServerStream* const stream = StreamOf(session, frame->hd.stream_id);
        if (stream != nullptr) {
          self.fields_.AddTrailer(n, v, stream->in_trailers);
        }
      }
      if (self.fields_.bytes() / kHeaderExcess <=
          self.options_->max_header_bytes) {
        return;
      }
      // The rest of the header is not worth the work. nghttp2 would decode the
      // rest if only the stream ended, and would not say when the rest ends.
      if (self.status_.ok()) {
        self.status_ = absl::InvalidArgumentError(
            "the client has sent a header of many times max_header_bytes");
      }
      nghttp2_session_terminate_session(session, NGHTTP2_ENHANCE_YOUR_CALM);
    });
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
          if (frame->hd.length > frame->data.padlen) {
            self.budget_->GiveForBody(frame->hd.length - frame->data.padlen);
          } else if (frame->hd.length > 0 && !ends) {
            self.OnUselessFrame();  // only padding
          }
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
        nghttp2_session_consume_stream(session, id, size);
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
          ServerStream* const stream = StreamOf(session, frame->hd.stream_id);
          if (stream == nullptr) return;
          if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
            self.OnResponseEnd(*stream);
          } else if (frame->hd.type == NGHTTP2_HEADERS) {
            self.OnHeaderSent(*stream);
          }
          return;
        }
        case NGHTTP2_RST_STREAM:
          // A client can cause these at once, too (CVE-2025-8671). Other
          // errors are the server's, or have taken time.
          switch (frame->rst_stream.error_code) {
            case NGHTTP2_PROTOCOL_ERROR:
            case NGHTTP2_FLOW_CONTROL_ERROR:
            case NGHTTP2_STREAM_CLOSED:
              self.OnUselessFrame();
              return;
            case NGHTTP2_REFUSED_STREAM:
              // If nghttp2 has refused the stream, the HEADERS have taken a
              // token already.
              if (StreamOf(session, frame->hd.stream_id) == nullptr) return;
              self.OnUselessFrame();
              return;
            default:
              return;
          }
        case NGHTTP2_GOAWAY:
          if (frame->goaway.last_stream_id == kNoticeId) {
            // A PING that was submitted with the GOAWAY would be sent first,
            // and its answer would not say that the client knows of the end.
            nghttp2_submit_ping(session, NGHTTP2_FLAG_NONE, kPing.data());
          }
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

  static int OnFrameNotSend(nghttp2_session* session,
                            const nghttp2_frame* frame, int error,
                            void* user_data) {
    return Guard(user_data, [&] {
      if (frame->hd.type != NGHTTP2_HEADERS ||
          error == NGHTTP2_ERR_STREAM_CLOSED ||
          error == NGHTTP2_ERR_STREAM_CLOSING ||
          error == NGHTTP2_ERR_SESSION_CLOSING) {
        return;
      }
      // The client would wait for ever.
      LOG(ERROR) << "http: a header for "
                 << NameOfPeer(Self(user_data).link_->peer)
                 << " cannot be sent: " << nghttp2_strerror(error);
      nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
                                NGHTTP2_INTERNAL_ERROR);
    });
  }
};

ssize_t ServerSession::Callbacks::ReadBody(nghttp2_session* session, int32_t id,
                                           uint8_t* buffer, size_t length,
                                           uint32_t* flags,
                                           nghttp2_data_source* source,
                                           void* user_data) {
  ServerSession& self = Functions::Self(user_data);
  ServerStream& stream = *static_cast<ServerStream*>(source->ptr);
  ssize_t result = 0;
  const int guarded = Functions::Guard(user_data, [&] {
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
      if (stream.out.size() < kMaxUnsent) self.WakeLater(stream.writer);
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
    if (has_more) {
      // The bytes may have come after `TakeChanges()`, so that nothing else
      // arms the timer.
      self.ArmTimer(stream.waiting_since + self.options_->progress_timeout);
    }
    if ((*flags & NGHTTP2_DATA_FLAG_EOF) != 0 && !trailers->empty()) {
      if (SubmitTrailers(session, id, *trailers, flags) != 0) {
        result = NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
        return;
      }
    }
    result = static_cast<ssize_t>(size);
  });
  return guarded != 0 ? guarded : result;
}

const nghttp2_session_callbacks* ServerSession::Callbacks::Get() {
  static const nghttp2_session_callbacks* const callbacks = [] {
    nghttp2_session_callbacks* c = nullptr;
    if (nghttp2_session_callbacks_new(&c) != 0) return c;
    nghttp2_session_callbacks_set_on_begin_frame_callback(
        c, &Functions::OnBeginFrame);
    nghttp2_session_callbacks_set_on_begin_headers_callback(
        c, &Functions::OnBeginHeaders);
    nghttp2_session_callbacks_set_on_header_callback(c, &Functions::OnHeader);
    nghttp2_session_callbacks_set_on_frame_recv_callback(
        c, &Functions::OnFrameRecv);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        c, &Functions::OnDataChunk);
    nghttp2_session_callbacks_set_on_stream_close_callback(
        c, &Functions::OnStreamClose);
    nghttp2_session_callbacks_set_on_frame_send_callback(
        c, &Functions::OnFrameSend);
    nghttp2_session_callbacks_set_on_frame_not_send_callback(
        c, &Functions::OnFrameNotSend);
    return c;
  }();
  return callbacks;
}

const nghttp2_option* ServerSession::Callbacks::Options() {
  static const nghttp2_option* const options = [] {
    nghttp2_option* o = nullptr;
    if (nghttp2_option_new(&o) != 0) return o;
    // The window is opened when a handler has read.
    nghttp2_option_set_no_auto_window_update(o, 1);
    nghttp2_option_set_no_closed_streams(o, 1);
    nghttp2_option_set_max_outbound_ack(o, kMaxQueuedAcks);
    // The rest is for the server's own fields.
    nghttp2_option_set_max_send_header_block_length(o, kMaxSentHeader + 4096);
    return o;
  }();
  return options;
}

}  // namespace rouse::http::internal
