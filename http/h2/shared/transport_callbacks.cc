// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The callbacks with which nghttp2 notifies a `Transport`, which is the user
// data of nghttp2's session.

#include <nghttp2/nghttp2.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "rouse/base/exceptions.h"
#include "rouse/http/h2/shared/fields.h"
#include "rouse/http/h2/shared/shared_stream.h"
#include "rouse/http/h2/shared/transport.h"
#include "rouse/http/serving/handler_call.h"

namespace rouse::http::internal {

struct Transport::Callbacks {
  // Calls `body`. An exception ends the connection.
  template <class F>
  static int Guard(void* user_data, F body) noexcept {
    Transport& self = *static_cast<Transport*>(user_data);
    ROUSE_TRY {
      body(self);
      return 0;
    }
    ROUSE_CATCH_ALL {
      self.callback_error_ = CurrentException();
      return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
  }

  static std::string_view Text(const uint8_t* data, size_t size) {
    return std::string_view(reinterpret_cast<const char*>(data), size);
  }

  static int OnBeginFrame(nghttp2_session*, const nghttp2_frame_hd* head,
                          void* user_data) {
    return Guard(user_data, [&](Transport& self) {
      if (IsUseless(*head)) self.OnUselessFrame();
    });
  }

  static int OnBeginHeaders(nghttp2_session*, const nghttp2_frame* frame,
                            void* user_data) {
    return Guard(user_data, [&](Transport& self) {
      self.budget_->Give();
      self.events_.OnBeginHeaders(*frame);
    });
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame,
                      const uint8_t* name, size_t name_size,
                      const uint8_t* value, size_t value_size, uint8_t,
                      void* user_data) {
    return Guard(user_data, [&](Transport& self) {
      self.events_.OnField(*frame, Text(name, name_size),
                           Text(value, value_size));
    });
  }

  static int OnFrameRecv(nghttp2_session*, const nghttp2_frame* frame,
                         void* user_data) {
    return Guard(user_data, [&](Transport& self) {
      if (frame->hd.type == NGHTTP2_DATA) self.OnDataFrame(*frame);
      self.events_.OnFrame(*frame);
    });
  }

  static int OnDataChunk(nghttp2_session*, uint8_t, int32_t id,
                         const uint8_t* data, size_t size, void* user_data) {
    return Guard(user_data, [&](Transport& self) {
      self.events_.OnData(id, Text(data, size));
    });
  }

  static int OnStreamClose(nghttp2_session*, int32_t id, uint32_t error,
                           void* user_data) {
    return Guard(user_data, [&](Transport& self) {
      self.events_.OnStreamClose(id, error);
    });
  }

  static int OnFrameSend(nghttp2_session*, const nghttp2_frame* frame,
                         void* user_data) {
    return Guard(user_data, [&](Transport& self) {
      if (frame->hd.type == NGHTTP2_GOAWAY) self.OnGoawaySent(*frame);
      self.events_.OnSent(*frame);
    });
  }

  static int OnFrameNotSend(nghttp2_session*, const nghttp2_frame* frame,
                            int error, void* user_data) {
    return Guard(user_data, [&](Transport& self) {
      if (frame->hd.type != NGHTTP2_HEADERS) return;
      self.events_.OnHeadersNotSent(*frame, error);
    });
  }

  static ssize_t ReadBody(nghttp2_session*, int32_t id, uint8_t* buffer,
                          size_t length, uint32_t* flags,
                          nghttp2_data_source* source, void* user_data) {
    ssize_t result = 0;
    const int guarded = Guard(user_data, [&](Transport& self) {
      result = self.events_.ReadBody(
          id, *static_cast<SharedStream*>(source->ptr),
          reinterpret_cast<char*>(buffer), length, *flags);
    });
    return guarded != 0 ? guarded : result;
  }
};

const nghttp2_session_callbacks* Transport::GetCallbacks() {
  static const nghttp2_session_callbacks* const callbacks = [] {
    nghttp2_session_callbacks* c = nullptr;
    if (nghttp2_session_callbacks_new(&c) != 0) return c;
    nghttp2_session_callbacks_set_on_begin_frame_callback(
        c, &Callbacks::OnBeginFrame);
    nghttp2_session_callbacks_set_on_begin_headers_callback(
        c, &Callbacks::OnBeginHeaders);
    nghttp2_session_callbacks_set_on_header_callback(c, &Callbacks::OnHeader);
    nghttp2_session_callbacks_set_on_frame_recv_callback(
        c, &Callbacks::OnFrameRecv);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        c, &Callbacks::OnDataChunk);
    nghttp2_session_callbacks_set_on_stream_close_callback(
        c, &Callbacks::OnStreamClose);
    nghttp2_session_callbacks_set_on_frame_send_callback(
        c, &Callbacks::OnFrameSend);
    nghttp2_session_callbacks_set_on_frame_not_send_callback(
        c, &Callbacks::OnFrameNotSend);
    return c;
  }();
  return callbacks;
}

nghttp2_data_provider Transport::BodyOf(SharedStream& stream) {
  nghttp2_data_provider provider;
  provider.source.ptr = &stream;
  provider.read_callback = &Callbacks::ReadBody;
  return provider;
}

}  // namespace rouse::http::internal
