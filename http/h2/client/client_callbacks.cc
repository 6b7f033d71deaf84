// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h2/client/client_callbacks.h"

#include <nghttp2/nghttp2.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/http/h2/client/client_session.h"
#include "rouse/http/h2/client/client_stream.h"
#include "rouse/http/h2/shared/fields.h"
#include "rouse/http/h2/shared/shared_stream.h"
#include "rouse/http/headers.h"
#include "rouse/http/serving/handler_call.h"

namespace rouse::http::internal {
namespace {

// Most answers to PING and SETTINGS that wait (CVE-2019-9512, -9515).
constexpr size_t kMaxQueuedAcks = 500;

// A server that sends a header of this many times the limit is disconnected.
constexpr size_t kHeaderExcess = 4;

}  // namespace

struct ClientSession::Callbacks::Functions {
  static ClientSession& Self(void* user_data) {
    return *static_cast<ClientSession*>(user_data);
  }

  static ClientStream* StreamOf(nghttp2_session* session, int32_t id) {
    return static_cast<ClientStream*>(
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

  static int OnBeginHeaders(nghttp2_session*, const nghttp2_frame*,
                            void* user_data) {
    return Guard(user_data, [&] {
      ClientSession& self = Self(user_data);
      self.budget_->Give();
      self.head_.Begin(self.link_->limits.max_header_bytes,
                       self.link_->limits.max_header_count);
    });
  }

  static int OnHeader(nghttp2_session* session, const nghttp2_frame* frame,
                      const uint8_t* name, size_t name_size,
                      const uint8_t* value, size_t value_size, uint8_t,
                      void* user_data) {
    return Guard(user_data, [&] {
      ClientSession& self = Self(user_data);
      const std::string_view n(reinterpret_cast<const char*>(name), name_size);
      const std::string_view v(reinterpret_cast<const char*>(value),
                               value_size);
      ClientStream* const stream = StreamOf(session, frame->hd.stream_id);
      absl::Status added;
      if (stream != nullptr && stream->has_head) {
        added = self.head_.AddTrailer(n, v, stream->in_trailers);
      } else {
        added = self.head_.Add(n, v);
      }
      if (stream != nullptr && stream->failure.ok()) {
        stream->failure = std::move(added);
      }
      if (self.head_.bytes() / kHeaderExcess <=
          self.link_->limits.max_header_bytes) {
        return;
      }
      // The rest of the header is not worth the work. nghttp2 would decode the
      // rest if only the stream ended, and would not say when the rest ends.
      if (self.status_.ok()) {
        self.status_ = absl::InvalidArgumentError(
            "the server has sent a header of many times max_header_bytes");
      }
      nghttp2_session_terminate_session(session, NGHTTP2_ENHANCE_YOUR_CALM);
    });
  }

  static int OnFrameRecv(nghttp2_session* session, const nghttp2_frame* frame,
                         void* user_data) {
    return Guard(user_data, [&] {
      ClientSession& self = Self(user_data);
      const bool ends = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
      const bool is_ack = (frame->hd.flags & NGHTTP2_FLAG_ACK) != 0;
      ClientStream* const stream = StreamOf(session, frame->hd.stream_id);
      switch (frame->hd.type) {
        case NGHTTP2_HEADERS:
          if (stream == nullptr) return;
          if (!stream->has_head && stream->failure.ok()) {
            self.OnHead(*stream, ends);
          }
          if (!stream->failure.ok()) {
            nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, stream->id,
                                      NGHTTP2_PROTOCOL_ERROR);
          } else if (ends && stream->has_head) {
            self.OnEnd(*stream);
          }
          return;
        case NGHTTP2_DATA:
          if (frame->hd.length > frame->data.padlen) {
            self.budget_->GiveForBody(frame->hd.length - frame->data.padlen);
          } else if (frame->hd.length > 0 && !ends) {
            self.OnUselessFrame();  // only padding
          }
          if (ends && stream != nullptr) self.OnEnd(*stream);
          return;
        case NGHTTP2_RST_STREAM:
          if (stream != nullptr) stream->was_reset = true;
          return;
        case NGHTTP2_SETTINGS:
          if (is_ack) return;
          self.OnSettings(nghttp2_session_get_remote_settings(
              session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS));
          return;
        case NGHTTP2_GOAWAY:
          self.Retire();
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
      ClientStream* const stream = StreamOf(session, id);
      if (stream != nullptr) {
        Self(user_data).OnData(*stream, bytes);
      } else {
        nghttp2_session_consume_stream(session, id, size);
      }
    });
  }

  static int OnStreamClose(nghttp2_session* session, int32_t id, uint32_t error,
                           void* user_data) {
    return Guard(user_data, [&] {
      ClientStream* const stream = StreamOf(session, id);
      if (stream != nullptr) Self(user_data).OnStreamClose(*stream, error);
    });
  }

  static int OnFrameSend(nghttp2_session* session, const nghttp2_frame* frame,
                         void* user_data) {
    return Guard(user_data, [&] {
      ClientSession& self = Self(user_data);
      switch (frame->hd.type) {
        case NGHTTP2_HEADERS:
        case NGHTTP2_DATA: {
          ClientStream* const stream = StreamOf(session, frame->hd.stream_id);
          if (stream == nullptr) return;
          self.OnSent(*stream,
                      (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0);
          return;
        }
        case NGHTTP2_GOAWAY:
          if (frame->goaway.error_code != NGHTTP2_NO_ERROR &&
              self.status_.ok()) {
            self.status_ = absl::InvalidArgumentError(absl::StrCat(
                "the server has broken the rules of HTTP/2: ",
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
      if (frame->hd.type != NGHTTP2_HEADERS) return;
      ClientStream* const stream = StreamOf(session, frame->hd.stream_id);
      // nghttp2 then closes the stream of a request. It does not close the
      // stream of trailers.
      if (stream == nullptr) return;
      stream->not_sent = error;
      if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) return;
      nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
                                NGHTTP2_INTERNAL_ERROR);
    });
  }
};

ssize_t ClientSession::Callbacks::ReadBody(nghttp2_session* session, int32_t id,
                                           uint8_t* buffer, size_t length,
                                           uint32_t* flags,
                                           nghttp2_data_source* source,
                                           void* user_data) {
  ClientSession& self = Functions::Self(user_data);
  ClientStream& stream = *static_cast<ClientStream*>(source->ptr);
  ssize_t result = 0;
  const int guarded = Functions::Guard(user_data, [&] {
    char* const to = reinterpret_cast<char*>(buffer);
    size_t size;
    const Headers* trailers;
    if (!stream.streams_out) {
      const std::string_view left =
          stream.request.body.text().substr(stream.text_sent);
      size = left.copy(to, length);
      stream.text_sent += size;
      trailers = &stream.request.body.trailers();
      if (size == left.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    } else {
      const ThreadMutexLock lock(&self.link_->mu);
      size = stream.out.view().copy(to, length);
      stream.out.Consume(size);
      trailers = &stream.out_trailers;
      if (stream.out.size() < kMaxUnsent) self.WakeLater(stream.writer);
      if (stream.out.empty() && stream.out_is_complete) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
      } else if (size == 0) {
        stream.is_deferred = true;
        result = NGHTTP2_ERR_DEFERRED;
        return;
      }
    }
    if ((*flags & NGHTTP2_DATA_FLAG_EOF) != 0 &&
        SubmitTrailers(session, id, *trailers, flags) != 0) {
      result = NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
      return;
    }
    result = static_cast<ssize_t>(size);
  });
  return guarded != 0 ? guarded : result;
}

const nghttp2_session_callbacks* ClientSession::Callbacks::Get() {
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

const nghttp2_option* ClientSession::Callbacks::Options() {
  static const nghttp2_option* const options = [] {
    nghttp2_option* o = nullptr;
    if (nghttp2_option_new(&o) != 0) return o;
    // The window is opened when a user has read.
    nghttp2_option_set_no_auto_window_update(o, 1);
    nghttp2_option_set_no_closed_streams(o, 1);
    nghttp2_option_set_max_outbound_ack(o, kMaxQueuedAcks);
    // The rest is for the client's own fields.
    nghttp2_option_set_max_send_header_block_length(o, kMaxSentHeader + 4096);
    return o;
  }();
  return options;
}

}  // namespace rouse::http::internal
