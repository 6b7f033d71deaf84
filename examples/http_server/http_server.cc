// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// An HTTP/1.1 server on 127.0.0.1 that keeps notes, which runs until Ctrl-C:
//
//   tools/bazel run -c opt //examples/http_server -- --port=8080
//   curl -d 'buy milk' http://127.0.0.1:8080/notes
//   curl http://127.0.0.1:8080/notes

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/base/thread_annotations.h"
#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/log/initialize.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "rouse/http/server.h"
#include "rouse/rouse.h"

ABSL_FLAG(uint16_t, port, 8080, "The port; 0 lets the system choose.");
ABSL_FLAG(uint64_t, max_body, uint64_t{1} << 30, "Most bytes of a body.");
ABSL_FLAG(absl::Duration, grace, absl::Seconds(10),
          "Most time for the last responses after SIGINT or SIGTERM.");

namespace http = rouse::http;

namespace {

using Answer = rouse::Co<absl::StatusOr<http::Response>>;

// The most bytes of a note.
constexpr size_t kMaxNote = 4096;

std::atomic<uint64_t> total_requests;

// Returns `text` as a string of JSON.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      absl::StrAppend(&quoted, "\\", std::string_view(&c, 1));
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppendFormat(&quoted, "\\u%04x", c);
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

// The notes. Thread-safe, because connections run on several threads.
class Notes {
 public:
  int Add(std::string text) {
    const absl::MutexLock lock(&mu_);
    notes_[++last_id_] = std::move(text);
    return last_id_;
  }

  bool Remove(int id) {
    const absl::MutexLock lock(&mu_);
    return notes_.erase(id) > 0;
  }

  absl::StatusOr<std::string> Find(int id) const {
    const absl::MutexLock lock(&mu_);
    const auto found = notes_.find(id);
    if (found == notes_.end()) return absl::NotFoundError("no such note");
    return found->second;
  }

  std::string ToJson() const {
    const absl::MutexLock lock(&mu_);
    std::string json = "[";
    for (const auto& [id, text] : notes_) {
      absl::StrAppend(&json, json.size() > 1 ? ", " : "", "{\"id\": ", id,
                      ", \"text\": ", Quoted(text), "}");
    }
    return json + "]\n";
  }

 private:
  mutable absl::Mutex mu_;
  int last_id_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<int, std::string> notes_ ABSL_GUARDED_BY(mu_);
};

// Answers requests for "/notes".
Answer AllNotes(Notes& notes, http::Request request) {
  if (request.method == "GET") co_return http::Response::Json(notes.ToJson());
  if (request.method != "POST") {
    co_return http::Response::Text("use GET or POST\n", 405);
  }
  absl::StatusOr<std::string> text = co_await request.body.ReadAll(kMaxNote);
  if (absl::IsResourceExhausted(text.status())) {
    co_return http::Response::Text("a note has at most 4096 bytes\n", 413);
  }
  co_await rouse::OrReturn(text.status());
  const int id = notes.Add(*std::move(text));
  http::Response response =
      http::Response::Json(absl::StrCat("{\"id\": ", id, "}\n"), 201);
  co_await rouse::OrReturn(
      response.headers.Set("Location", absl::StrCat("/notes/", id)));
  co_return response;
}

// Answers requests for "/notes/ID".
Answer OneNote(const http::Request& request, Notes& notes, int id) {
  if (request.method == "DELETE") {
    co_return http::Response(notes.Remove(id) ? 204 : 404);
  }
  absl::StatusOr<std::string> text = notes.Find(id);
  if (!text.ok()) co_return http::Response::Text("no such note\n", 404);
  co_return http::Response::Json(
      absl::StrCat("{\"id\": ", id, ", \"text\": ", Quoted(*text), "}\n"));
}

// Reads an upload of any size with a buffer of 64 KiB.
Answer Upload(http::Request request) {
  std::string buffer(size_t{64} << 10, '\0');
  uint64_t size = 0;
  uint32_t sum = 0;
  for (;;) {
    const size_t part = co_await rouse::OrReturn(
        rouse::Read(request.body, absl::MakeSpan(buffer)));
    if (part == 0) break;
    size += part;
    for (size_t i = 0; i < part; ++i) {
      sum = sum * 31 + static_cast<unsigned char>(buffer[i]);
    }
  }
  co_return http::Response::Json(
      absl::StrCat("{\"bytes\": ", size, ", \"sum\": ", sum, "}\n"));
}

// Yields `size` bytes, as fast as the client takes them.
rouse::Gen<std::string> Digits(uint64_t size) {
  while (size > 0) {
    std::string part(std::min<uint64_t>(size, 16384), '7');
    size -= part.size();
    co_yield std::move(part);
  }
}

http::Response Download(const http::Request& request) {
  uint64_t size = 0;
  std::string_view number = request.query();
  if (!absl::ConsumePrefix(&number, "bytes=") ||
      !absl::SimpleAtoi(number, &size)) {
    return http::Response::Text("use /download?bytes=N\n", 400);
  }
  http::Response response;
  response.body = http::Body::FromStream(Digits(size));
  return response;
}

// Answers after a while, to show what happens at the end of the server.
Answer Slow(const http::Request& request) {
  absl::Duration time;
  if (!absl::ParseDuration(request.query(), &time)) {
    co_return http::Response::Text("use /slow?250ms\n", 400);
  }
  co_await rouse::Sleep(time);
  co_return http::Response::Text("done\n");
}

Answer Handle(Notes& notes, http::Request request) {
  // Relaxed: a statistic. `main()` reads it after the runtime has ended.
  total_requests.fetch_add(1, std::memory_order_relaxed);
  std::string_view path = request.path();
  if (path == "/") co_return http::Response::Text("hello\n");
  if (path == "/notes") {
    co_return co_await AllNotes(notes, std::move(request));
  }
  if (path == "/upload") co_return co_await Upload(std::move(request));
  if (path == "/download") co_return Download(request);
  if (path == "/slow") co_return co_await Slow(request);
  if (path == "/echo") {
    // The request's body becomes the response's, while it arrives.
    http::Response response;
    response.body = std::move(request.body);
    co_return response;
  }
  if (path == "/fail") co_return absl::DataLossError("the disk is broken");
  int id;
  if (absl::ConsumePrefix(&path, "/notes/") && absl::SimpleAtoi(path, &id)) {
    co_return co_await OneNote(request, notes, id);
  }
  co_return http::Response::Text("no such page\n", 404);
}

rouse::Co<absl::Status> Main() {
  auto listener = co_await rouse::OrReturn(rouse::TcpListener::Bind(
      rouse::SocketAddr::Localhost(absl::GetFlag(FLAGS_port))));
  absl::PrintF("http_server: listening on %v\n", *listener.local_addr());
  fflush(stdout);
  Notes notes;
  http::ServerOptions options;
  options.max_body_bytes = absl::GetFlag(FLAGS_max_body);
  options.drain_timeout = absl::GetFlag(FLAGS_grace);
  const rouse::CancellationToken stop = options.stop;
  const auto handle = [&notes](http::Request request) {
    return Handle(notes, std::move(request));
  };
  auto serving = http::Serve(std::move(listener), handle, std::move(options));
  auto first = co_await rouse::Select(serving, rouse::ShutdownSignal());
  if (first.index() == 0) co_return std::get<0>(first);
  co_await rouse::OrReturn(std::get<1>(first));
  // Finishes the requests under way.
  stop.Cancel();
  co_return co_await serving;
}

}  // namespace

int main(int argc, char** argv) {
  absl::InitializeLog();
  if (absl::ParseCommandLine(argc, argv).size() > 1) {
    absl::FPrintF(stderr, "http_server: unexpected argument; see --help\n");
    return 1;
  }
  const int status = rouse::RunMain(Main());
  if (status != 0) return status;
  absl::PrintF("http_server: answered %d requests\n", total_requests.load());
}
