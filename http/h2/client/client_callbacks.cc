// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <nghttp2/nghttp2.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/http/h2/client/client_session.h"
#include "rouse/http/h2/client/client_stream.h"
#include "rouse/http/h2/shared/fields.h"
#include "rouse/http/h2/shared/shared_stream.h"
#include "rouse/http/headers.h"

namespace rouse::http::internal {

ClientStream* ClientSession::StreamOf(int32_t id) const {
  return static_cast<ClientStream*>(
      nghttp2_session_get_stream_user_data(session(), id));
}

void ClientSession::OnBeginHeaders(const nghttp2_frame& /*frame*/) {
  head_.Begin(link_->limits.max_header_bytes, link_->limits.max_header_count);
}

void ClientSession::OnField(const nghttp2_frame& frame, std::string_view name,
                            std::string_view value) {
  ClientStream* const stream = StreamOf(frame.hd.stream_id);
  absl::Status added;
  if (stream != nullptr && stream->has_head) {
    added = head_.AddTrailer(name, value, stream->in_trailers);
  } else {
    added = head_.Add(name, value);
  }
  if (stream != nullptr && stream->failure.ok()) {
    stream->failure = std::move(added);
  }
  transport_.OnHeaderBytes(head_.bytes());
}

void ClientSession::OnFrame(const nghttp2_frame& frame) {
  const bool ends = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  const bool is_ack = (frame.hd.flags & NGHTTP2_FLAG_ACK) != 0;
  ClientStream* const stream = StreamOf(frame.hd.stream_id);
  switch (frame.hd.type) {
    case NGHTTP2_HEADERS:
      if (stream == nullptr) return;
      if (!stream->has_head && stream->failure.ok()) OnHead(*stream, ends);
      if (!stream->failure.ok()) {
        nghttp2_submit_rst_stream(session(), NGHTTP2_FLAG_NONE, stream->id,
                                  NGHTTP2_PROTOCOL_ERROR);
      } else if (ends && stream->has_head) {
        OnEnd(*stream);
      }
      return;
    case NGHTTP2_DATA:
      if (ends && stream != nullptr) OnEnd(*stream);
      return;
    case NGHTTP2_RST_STREAM:
      if (stream != nullptr) stream->was_reset = true;
      return;
    case NGHTTP2_SETTINGS:
      if (is_ack) return;
      OnSettings(nghttp2_session_get_remote_settings(
          session(), NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS));
      return;
    case NGHTTP2_GOAWAY:
      Retire();
      return;
    default:
      return;
  }
}

void ClientSession::OnStreamClose(int32_t id, uint32_t error) {
  ClientStream* const stream = StreamOf(id);
  if (stream != nullptr) Remove(*stream, error);
}

void ClientSession::OnSent(const nghttp2_frame& frame) {
  if (frame.hd.type != NGHTTP2_HEADERS && frame.hd.type != NGHTTP2_DATA) return;
  ClientStream* const stream = StreamOf(frame.hd.stream_id);
  if (stream == nullptr) return;
  stream->is_begun = true;
  const ThreadMutexLock lock(&link_->mu);
  stream->progressed = clock_.Time();
  stream->is_sent |= (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
}

void ClientSession::OnHeadersNotSent(const nghttp2_frame& frame, int error) {
  ClientStream* const stream = StreamOf(frame.hd.stream_id);
  // nghttp2 then closes the stream of a request. It does not close the stream
  // of trailers.
  if (stream == nullptr) return;
  stream->not_sent = error;
  if (frame.headers.cat == NGHTTP2_HCAT_REQUEST) return;
  nghttp2_submit_rst_stream(session(), NGHTTP2_FLAG_NONE, frame.hd.stream_id,
                            NGHTTP2_INTERNAL_ERROR);
}

ssize_t ClientSession::ReadBody(int32_t id, SharedStream& shared, char* to,
                                size_t most, uint32_t& flags) {
  auto& stream = static_cast<ClientStream&>(shared);
  size_t size;
  const Headers* trailers;
  if (!stream.streams_out) {
    const std::string_view left =
        stream.request.body.text().substr(stream.text_sent);
    size = left.copy(to, most);
    stream.text_sent += size;
    trailers = &stream.request.body.trailers();
    if (size == left.size()) flags |= NGHTTP2_DATA_FLAG_EOF;
  } else {
    const ThreadMutexLock lock(&link_->mu);
    size = stream.out.view().copy(to, most);
    stream.out.Consume(size);
    trailers = &stream.out_trailers;
    if (stream.out.size() < kMaxUnsent) woken_.Add(stream.writer);
    if (stream.out.empty() && stream.out_is_complete) {
      flags |= NGHTTP2_DATA_FLAG_EOF;
    } else if (size == 0) {
      stream.is_deferred = true;
      return NGHTTP2_ERR_DEFERRED;
    }
  }
  if ((flags & NGHTTP2_DATA_FLAG_EOF) != 0 &&
      SubmitTrailers(session(), id, *trailers, &flags) != 0) {
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }
  return static_cast<ssize_t>(size);
}

}  // namespace rouse::http::internal
