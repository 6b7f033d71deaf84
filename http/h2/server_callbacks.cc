// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <nghttp2/nghttp2.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/log/log.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/http/h2/server_session.h"
#include "rouse/http/h2/server_stream.h"
#include "rouse/http/h2/shared/fields.h"
#include "rouse/http/h2/shared/shared_stream.h"
#include "rouse/http/headers.h"
#include "rouse/http/serving/handler_call.h"

namespace rouse::http::internal {
namespace {

// The last stream of the first GOAWAY of a graceful end, which ends nothing.
constexpr int32_t kNoticeId = 0x7fffffff;

// The data of the PING between the two GOAWAY.
constexpr std::array<uint8_t, 8> kPing = {'d', 'r', 'a', 'i',
                                          'n', 'i', 'n', 'g'};

}  // namespace

ServerStream* ServerSession::StreamOf(int32_t id) const {
  return static_cast<ServerStream*>(
      nghttp2_session_get_stream_user_data(session(), id));
}

void ServerSession::OnBeginHeaders(const nghttp2_frame& frame) {
  fields_.Begin(options_->max_header_bytes, options_->max_header_count);
  header_id_ = frame.hd.stream_id;
  header_end_ = clock_.Time() + options_->header_timeout;
  clock_.ArmTimer(header_end_);
  if (frame.headers.cat == NGHTTP2_HCAT_REQUEST) {
    OnBeginRequest(frame.hd.stream_id);
  }
}

void ServerSession::OnField(const nghttp2_frame& frame, std::string_view name,
                            std::string_view value) {
  if (frame.headers.cat == NGHTTP2_HCAT_REQUEST) {
    fields_.Add(name, value);
  } else {
    ServerStream* const stream = StreamOf(frame.hd.stream_id);
    if (stream != nullptr) {
      fields_.AddTrailer(name, value, stream->in_trailers);
    }
  }
  transport_.OnHeaderBytes(fields_.bytes());
}

void ServerSession::OnFrame(const nghttp2_frame& frame) {
  const bool ends = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  const bool is_ack = (frame.hd.flags & NGHTTP2_FLAG_ACK) != 0;
  switch (frame.hd.type) {
    case NGHTTP2_HEADERS: {
      EndHeader(frame.hd.stream_id);
      ServerStream* const stream = StreamOf(frame.hd.stream_id);
      if (stream == nullptr) return;
      if (frame.headers.cat == NGHTTP2_HCAT_REQUEST) {
        OnRequest(*stream, ends);
      } else {
        OnTrailers(*stream);
        if (ends) OnRequestEnd(*stream);
      }
      return;
    }
    case NGHTTP2_DATA: {
      ServerStream* const stream = StreamOf(frame.hd.stream_id);
      if (ends && stream != nullptr) OnRequestEnd(*stream);
      return;
    }
    case NGHTTP2_SETTINGS:
      if (is_ack) return;
      if (!has_settings_) {
        has_settings_ = true;
        EndHeader(0);
      }
      return;
    case NGHTTP2_PING:
      if (is_ack && is_draining_ &&
          std::equal(kPing.begin(), kPing.end(), frame.ping.opaque_data)) {
        EndDrain();
      }
      return;
    default:
      return;
  }
}

void ServerSession::OnStreamClose(int32_t id, uint32_t /*error*/) {
  ServerStream* const stream = StreamOf(id);
  if (stream != nullptr) Remove(*stream);
}

void ServerSession::OnSent(const nghttp2_frame& frame) {
  switch (frame.hd.type) {
    case NGHTTP2_HEADERS:
    case NGHTTP2_DATA: {
      ServerStream* const stream = StreamOf(frame.hd.stream_id);
      if (stream == nullptr) return;
      if ((frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
        OnResponseEnd(*stream);
      } else if (frame.hd.type == NGHTTP2_HEADERS) {
        OnHeaderSent(*stream);
      }
      return;
    }
    case NGHTTP2_RST_STREAM:
      // A client can cause these at once, too (CVE-2025-8671). Other errors are
      // the server's, or have taken time.
      switch (frame.rst_stream.error_code) {
        case NGHTTP2_PROTOCOL_ERROR:
        case NGHTTP2_FLOW_CONTROL_ERROR:
        case NGHTTP2_STREAM_CLOSED:
          transport_.OnUselessFrame();
          return;
        case NGHTTP2_REFUSED_STREAM:
          // If nghttp2 has refused the stream, the HEADERS have taken a token
          // already.
          if (StreamOf(frame.hd.stream_id) == nullptr) return;
          transport_.OnUselessFrame();
          return;
        default:
          return;
      }
    case NGHTTP2_GOAWAY:
      if (frame.goaway.last_stream_id == kNoticeId) {
        // A PING that was submitted with the GOAWAY would be sent first, and
        // its answer would not say that the client knows of the end.
        nghttp2_submit_ping(session(), NGHTTP2_FLAG_NONE, kPing.data());
      }
      return;
    default:
      return;
  }
}

void ServerSession::OnHeadersNotSent(const nghttp2_frame& frame, int error) {
  if (error == NGHTTP2_ERR_STREAM_CLOSED ||
      error == NGHTTP2_ERR_STREAM_CLOSING ||
      error == NGHTTP2_ERR_SESSION_CLOSING) {
    return;
  }
  // The client would wait for ever.
  LOG(ERROR) << "http: a header for " << NameOfPeer(link_->peer)
             << " cannot be sent: " << nghttp2_strerror(error);
  nghttp2_submit_rst_stream(session(), NGHTTP2_FLAG_NONE, frame.hd.stream_id,
                            NGHTTP2_INTERNAL_ERROR);
}

ssize_t ServerSession::ReadBody(int32_t id, SharedStream& shared, char* to,
                                size_t most, uint32_t& flags) {
  auto& stream = static_cast<ServerStream&>(shared);
  size_t size;
  bool has_more;
  const Headers* trailers;
  if (stream.sends_text) {
    const std::string_view left =
        stream.response.body.text().substr(stream.text_sent);
    size = left.copy(to, most);
    stream.text_sent += size;
    has_more = size < left.size();
    trailers = &stream.response.body.trailers();
    if (!has_more) flags |= NGHTTP2_DATA_FLAG_EOF;
  } else {
    const ThreadMutexLock lock(&link_->mu);
    if (stream.out_has_failed) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    size = stream.out.view().copy(to, most);
    stream.out.Consume(size);
    has_more = !stream.out.empty();
    trailers = &stream.out_trailers;
    if (stream.out.size() < kMaxUnsent) woken_.Add(stream.writer);
    if (!has_more && stream.out_is_complete) {
      flags |= NGHTTP2_DATA_FLAG_EOF;
    } else if (size == 0) {
      stream.is_deferred = true;
      stream.is_waiting = false;
      return NGHTTP2_ERR_DEFERRED;
    }
  }
  stream.is_waiting = has_more;
  if (size > 0) data_sent_ = stream.waiting_since = clock_.Time();
  if (has_more) {
    // The bytes may have come after `TakeChanges()`, so that nothing else arms
    // the timer.
    clock_.ArmTimer(stream.waiting_since + options_->progress_timeout);
  }
  if ((flags & NGHTTP2_DATA_FLAG_EOF) != 0 &&
      SubmitTrailers(session(), id, *trailers, &flags) != 0) {
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }
  return static_cast<ssize_t>(size);
}

}  // namespace rouse::http::internal
