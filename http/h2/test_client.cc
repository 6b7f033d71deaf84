// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h2/test_client.h"

#include <nghttp2/nghttp2.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/log/check.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "rouse/future/co.h"
#include "rouse/future/poll_fn.h"
#include "rouse/http/headers.h"
#include "rouse/io/duplex.h"
#include "rouse/testing/paused_time.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::http::h2 {
namespace {

nghttp2_nv Field(std::string_view name, std::string_view value) {
  const auto bytes = [](std::string_view text) {
    return const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NONE};
}

}  // namespace

struct TestClient::Callbacks {
  static TestClient& Self(void* data) {
    return *static_cast<TestClient*>(data);
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame,
                      const uint8_t* name, size_t name_size,
                      const uint8_t* value, size_t value_size, uint8_t,
                      void* data) {
    const std::string_view n(reinterpret_cast<const char*>(name), name_size);
    const std::string_view v(reinterpret_cast<const char*>(value), value_size);
    Reply& reply = Self(data).replies_[frame->hd.stream_id];
    if (n == ":status") {
      int status;
      CHECK(absl::SimpleAtoi(v, &status));
      if (status < 200) {
        reply.informational.push_back(status);
      } else {
        reply.status = status;
      }
    } else if (frame->headers.cat == NGHTTP2_HCAT_HEADERS &&
               reply.status != 0 && !reply.headers.empty()) {
      CHECK(reply.trailers.Add(n, v).ok());
    } else {
      CHECK(reply.headers.Add(n, v).ok());
    }
    return 0;
  }

  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* data) {
    TestClient& self = Self(data);
    switch (frame->hd.type) {
      case NGHTTP2_HEADERS:
      case NGHTTP2_DATA:
        if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
          self.replies_[frame->hd.stream_id].has_ended = true;
        }
        break;
      case NGHTTP2_SETTINGS:
        for (size_t i = 0; i < frame->settings.niv; ++i) {
          self.settings_[frame->settings.iv[i].settings_id] =
              frame->settings.iv[i].value;
        }
        break;
      default:
        break;
    }
    return 0;
  }

  static int OnData(nghttp2_session*, uint8_t, int32_t id, const uint8_t* bytes,
                    size_t size, void* data) {
    Self(data).replies_[id].body.append(reinterpret_cast<const char*>(bytes),
                                        size);
    return 0;
  }

  static int OnClose(nghttp2_session*, int32_t id, uint32_t error, void* data) {
    Reply& reply = Self(data).replies_[id];
    reply.is_closed = true;
    reply.error = error;
    return 0;
  }

  static ssize_t Read(nghttp2_session* session, int32_t id, uint8_t* buffer,
                      size_t length, uint32_t* flags, nghttp2_data_source*,
                      void* data) {
    Upload& upload = *Self(data).uploads_[id];
    if (upload.unsent.empty() && !upload.has_ended) {
      return NGHTTP2_ERR_DEFERRED;
    }
    const size_t size =
        upload.unsent.copy(reinterpret_cast<char*>(buffer), length);
    upload.unsent.erase(0, size);
    upload.sent += size;
    if (upload.unsent.empty() && upload.has_ended) {
      *flags |= NGHTTP2_DATA_FLAG_EOF;
      if (!upload.trailers.empty()) {
        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
        std::vector<nghttp2_nv> fields;
        for (const auto& [name, value] : upload.trailers) {
          fields.push_back(Field(name, value));
        }
        nghttp2_submit_trailer(session, id, fields.data(), fields.size());
      }
    }
    return static_cast<ssize_t>(size);
  }
};

TestClient::TestClient(DuplexStream stream, Options options)
    : stream_(std::move(stream)) {
  nghttp2_session_callbacks* callbacks;
  CHECK_EQ(nghttp2_session_callbacks_new(&callbacks), 0);
  nghttp2_session_callbacks_set_on_header_callback(callbacks,
                                                   &Callbacks::OnHeader);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks,
                                                       &Callbacks::OnFrame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks,
                                                            &Callbacks::OnData);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks,
                                                         &Callbacks::OnClose);
  nghttp2_option* option;
  CHECK_EQ(nghttp2_option_new(&option), 0);
  nghttp2_option_set_no_auto_window_update(option, !options.opens_windows);
  nghttp2_option_set_no_auto_ping_ack(option, !options.answers_pings);
  // The test may exceed the server's limit, which is not known at first.
  nghttp2_option_set_peer_max_concurrent_streams(option, 1 << 20);
  CHECK_EQ(nghttp2_session_client_new2(&session_, callbacks, this, option), 0);
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);
  std::vector<nghttp2_settings_entry> settings = {
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0}};
  if (options.stream_window >= 0) {
    settings.push_back({NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
                        static_cast<uint32_t>(options.stream_window)});
  }
  CHECK_EQ(nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(),
                                   settings.size()),
           0);
}

TestClient::~TestClient() { nghttp2_session_del(session_); }

int32_t TestClient::Get(std::string_view path, const Headers& headers) {
  return Send("GET", path, headers);
}

int32_t TestClient::Send(std::string_view method, std::string_view path,
                         const Headers& headers,
                         std::shared_ptr<Upload> upload) {
  std::vector<nghttp2_nv> fields = {
      Field(":method", method), Field(":scheme", "http"),
      Field(":authority", "example.com"), Field(":path", path)};
  for (const auto& [name, value] : headers) {
    fields.push_back(Field(name, value));
  }
  nghttp2_data_provider provider;
  provider.source.ptr = nullptr;
  provider.read_callback = &Callbacks::Read;
  const int32_t id =
      nghttp2_submit_request(session_, nullptr, fields.data(), fields.size(),
                             upload != nullptr ? &provider : nullptr, nullptr);
  CHECK_GT(id, 0);
  if (upload != nullptr) uploads_[id] = std::move(upload);
  return id;
}

int32_t TestClient::Post(std::string_view path, std::string_view body,
                         const Headers& headers) {
  auto upload = std::make_shared<Upload>();
  upload->unsent = body;
  upload->has_ended = true;
  return Send("POST", path, headers, std::move(upload));
}

int32_t TestClient::SendFields(
    const std::vector<std::pair<std::string, std::string>>& fields) {
  std::vector<nghttp2_nv> list;
  for (const auto& [name, value] : fields) list.push_back(Field(name, value));
  const int32_t id = nghttp2_submit_request(session_, nullptr, list.data(),
                                            list.size(), nullptr, nullptr);
  CHECK_GT(id, 0);
  return id;
}

void TestClient::Resume(int32_t id) {
  CHECK_EQ(nghttp2_session_resume_data(session_, id), 0);
}

void TestClient::Reset(int32_t id, uint32_t error) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, error);
}

void TestClient::OpenWindow(int32_t id, int32_t bytes) {
  nghttp2_submit_window_update(session_, NGHTTP2_FLAG_NONE, id, bytes);
}

void TestClient::SendRaw(std::string_view bytes) {
  const uint8_t* data;
  for (ssize_t size; (size = nghttp2_session_mem_send(session_, &data)) > 0;) {
    out_.append(reinterpret_cast<const char*>(data), size);
  }
  absl::StrAppend(&out_, bytes);
}

void TestClient::EndWriting() { CHECK(stream_.ShutdownWrite().ok()); }

int32_t TestClient::window(int32_t id) const {
  return id == 0 ? nghttp2_session_get_remote_window_size(session_)
                 : nghttp2_session_get_stream_remote_window_size(session_, id);
}

void TestClient::FindGoaways(std::string_view bytes) {
  absl::StrAppend(&in_, bytes);
  constexpr size_t kHead = 9;
  for (;;) {
    const auto number = [this](size_t begin, size_t size) {
      uint32_t result = 0;
      for (const char c : in_.substr(begin, size)) {
        result = result << 8 | static_cast<unsigned char>(c);
      }
      return result;
    };
    if (in_.size() < kHead) return;
    const size_t size = kHead + number(0, 3);
    if (in_.size() < size) return;
    if (number(3, 1) == NGHTTP2_GOAWAY) {
      goaways_.emplace_back(static_cast<int32_t>(number(kHead, 4)),
                            number(kHead + 4, 4));
    }
    in_.erase(0, size);
  }
}

bool TestClient::Step(Context& cx) {
  const UnconstrainedScope unconstrained(cx);
  bool moved = false;
  if (!has_failed_) SendRaw("");
  while (!out_.empty()) {
    PollResult<absl::StatusOr<size_t>> written = stream_.PollWrite(cx, out_);
    if (written.IsPending()) break;
    moved = true;
    if (!written->ok()) {
      out_.clear();
      break;
    }
    out_.erase(0, **written);
  }
  char bytes[4096];
  while (reads_ && !has_ended_) {
    PollResult<absl::StatusOr<size_t>> size =
        stream_.PollRead(cx, absl::MakeSpan(bytes));
    if (size.IsPending()) break;
    moved = true;
    if (!size->ok() || **size == 0) {
      has_ended_ = true;
      break;
    }
    FindGoaways(std::string_view(bytes, **size));
    if (has_failed_) continue;
    has_failed_ =
        nghttp2_session_mem_recv(
            session_, reinterpret_cast<const uint8_t*>(bytes), **size) < 0;
  }
  return moved;
}

Co<> TestClient::Pump() {
  for (int quiet = 0; quiet < 2;) {
    auto step = [this](Context& cx) -> PollResult<bool> { return Step(cx); };
    const bool moved = co_await PollFn(step);
    quiet = moved ? 0 : quiet + 1;
    co_await Advance(absl::ZeroDuration());
  }
}

std::string Frame(uint8_t type, uint8_t flags, uint32_t id,
                  std::string_view payload) {
  std::string frame;
  for (const int shift : {16, 8, 0}) {
    frame += static_cast<char>(payload.size() >> shift);
  }
  frame += static_cast<char>(type);
  frame += static_cast<char>(flags);
  for (const int shift : {24, 16, 8, 0}) {
    frame += static_cast<char>(id >> shift);
  }
  return absl::StrCat(frame, payload);
}

std::string Preface() {
  return absl::StrCat("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                      Frame(NGHTTP2_SETTINGS, 0, 0));
}

std::string HeaderBlock(std::string_view method) {
  // Literals without indexing, whose names are in the static table.
  const auto literal = [](char index, std::string_view value) {
    return absl::StrCat(std::string_view(&index, 1),
                        std::string(1, static_cast<char>(value.size())), value);
  };
  return absl::StrCat(literal(2, method), literal(6, "http"), literal(1, "x"),
                      literal(4, "/"));
}

}  // namespace rouse::http::h2
