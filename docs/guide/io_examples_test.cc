// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The examples of io.md, word for word (io_quotes_test sees to that), and tests
// that run them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/future/stream.h"
#include "rouse/future/try_join.h"
#include "rouse/io/adapt/inspect.h"
#include "rouse/io/adapt/records.h"
#include "rouse/io/adapt/tee_reader.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/io/bridge/chunk_writer.h"
#include "rouse/io/bridge/reader_stream.h"
#include "rouse/io/bridge/stream_reader.h"
#include "rouse/io/bridge/sync_io_bridge.h"
#include "rouse/io/buf_reader.h"
#include "rouse/io/buffer/buf_stream.h"
#include "rouse/io/codec/delimited_message_codec.h"
#include "rouse/io/copy.h"
#include "rouse/io/duplex.h"
#include "rouse/io/flush.h"
#include "rouse/io/framed.h"
#include "rouse/io/memory/cursor.h"
#include "rouse/io/memory/simplex.h"
#include "rouse/io/read.h"
#include "rouse/io/read_line.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/seek/async_seek.h"
#include "rouse/io/seek/seek.h"
#include "rouse/io/text/read_to_string.h"
#include "rouse/io/write_all.h"
#include "rouse/process/standard_streams.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/spawn_blocking.h"
#include "rouse/sync/mpsc.h"

namespace {

// -----------------------------------------------------------------------------
// Standard streams

std::string Answer(std::string_view line) { return absl::StrCat(line, "!\n"); }

rouse::Co<absl::Status> AnswerEachLine() {
  rouse::Stdin input;
  rouse::Stdout output;
  rouse::BufReader reader(input);
  auto lines = rouse::Lines(reader, /*limit=*/8192);
  while (auto line = co_await rouse::Next(lines)) {
    co_await rouse::OrReturn(line->status());
    co_await rouse::OrReturn(rouse::WriteAll(output, Answer(**line)));
  }
  co_return co_await rouse::Flush(output);
}

TEST(IoExamples, TheStandardStreamsOfATestWork) {
  // The standard input of a test is empty, or not open.
  rouse::Runtime runtime = rouse::Builder::CurrentThread().Build().value();
  const absl::Status status = runtime.BlockOn(AnswerEachLine());
  EXPECT_TRUE(status.ok() || absl::IsFailedPrecondition(status)) << status;
}

// -----------------------------------------------------------------------------
// Both directions

rouse::Co<absl::Status> AnswerRequests(rouse::DuplexStream stream) {
  rouse::BufStream connection(std::move(stream));
  std::string line;
  while (co_await rouse::OrReturn(rouse::ReadLine(connection, line, 8192))) {
    co_await rouse::OrReturn(rouse::WriteAll(connection, "you said "));
    co_await rouse::OrReturn(rouse::WriteAll(connection, Answer(line)));
    co_await rouse::OrReturn(rouse::Flush(connection));
    line.clear();
  }
  co_return co_await rouse::Shutdown(connection);
}

TEST(IoExamples, ABufStreamAnswers) {
  auto [client, server] = rouse::Duplex(1024);
  ASSERT_TRUE(rouse::BlockOn(rouse::WriteAll(client, "a\nb\n")).ok());
  ASSERT_TRUE(rouse::BlockOn(rouse::Shutdown(client)).ok());
  ASSERT_TRUE(rouse::BlockOn(AnswerRequests(std::move(server))).ok());
  std::string answers;
  ASSERT_TRUE(rouse::BlockOn(rouse::ReadToEnd(client, answers)).ok());
  EXPECT_EQ(answers, "you said a!\nyou said b!\n");
}

// -----------------------------------------------------------------------------
// Copies and inspection

rouse::Co<absl::StatusOr<size_t>> CopyAndCount(rouse::AsyncRead auto& from,
                                               rouse::AsyncWrite auto& log,
                                               rouse::AsyncWrite auto& to) {
  size_t lines = 0;
  const auto count = [&](std::string_view bytes) {
    for (char c : bytes) lines += c == '\n' ? 1 : 0;
  };
  rouse::TeeReader logged(from, log);
  rouse::InspectWriter counted(to, count);
  co_await rouse::OrReturn(rouse::Copy(logged, counted));
  co_return lines;
}

TEST(IoExamples, AStreamIsCopiedTwice) {
  rouse::Cursor from("a\nb\n");
  rouse::Cursor log((std::string()));
  rouse::Cursor to((std::string()));
  EXPECT_EQ(rouse::BlockOn(CopyAndCount(from, log, to)).value(), 2u);
  EXPECT_EQ(log.bytes(), "a\nb\n");
  EXPECT_EQ(to.bytes(), "a\nb\n");
}

// -----------------------------------------------------------------------------
// Several buffers

rouse::Co<absl::StatusOr<size_t>> ReadHeadAndBody(rouse::AsyncRead auto& reader,
                                                  absl::Span<char> head,
                                                  absl::Span<char> body) {
  absl::Span<char> buffers[] = {head, body};
  co_return co_await rouse::ReadVectored(reader, buffers);
}

TEST(IoExamples, OneReadFillsTwoBuffers) {
  rouse::Cursor reader("headbody");
  char head[4];
  char body[8];
  EXPECT_EQ(rouse::BlockOn(ReadHeadAndBody(reader, absl::MakeSpan(head),
                                           absl::MakeSpan(body)))
                .value(),
            8u);
  EXPECT_EQ(std::string_view(body, 4), "body");
}

// -----------------------------------------------------------------------------
// Positions

template <class File>
  requires rouse::AsyncSeek<File> && rouse::AsyncWrite<File>
rouse::Co<absl::StatusOr<uint64_t>> AppendRecord(File& file,
                                                 std::string_view record) {
  uint64_t begin =
      co_await rouse::OrReturn(rouse::Seek(file, 0, rouse::SeekFrom::kEnd));
  co_await rouse::OrReturn(rouse::WriteAll(file, record));
  co_await rouse::OrReturn(rouse::Flush(file));
  co_return begin;
}

TEST(IoExamples, ACursorIsAFileInMemory) {
  rouse::Cursor file(std::string("old,"));
  EXPECT_EQ(rouse::BlockOn(AppendRecord(file, "new,")).value(), 4u);
  EXPECT_EQ(file.bytes(), "old,new,");
}

// -----------------------------------------------------------------------------
// Text

rouse::Co<absl::StatusOr<std::string>> ReadPage(rouse::AsyncRead auto& reader) {
  std::string page;
  co_await rouse::OrReturn(rouse::ReadToString(reader, page, 1 << 20));
  co_return page;
}

TEST(IoExamples, APageIsText) {
  rouse::Cursor text("caf\xC3\xA9");
  EXPECT_TRUE(rouse::BlockOn(ReadPage(text)).ok());
  rouse::Cursor bytes("\xFF");
  EXPECT_TRUE(
      absl::IsInvalidArgument(rouse::BlockOn(ReadPage(bytes)).status()));
}

// -----------------------------------------------------------------------------
// Chunks and channels

rouse::Co<absl::Status> SendFile(rouse::AsyncRead auto& file,
                                 rouse::mpsc::Sender<std::string> sender) {
  rouse::ChunkWriter chunks(std::move(sender));
  co_await rouse::OrReturn(rouse::Copy(file, chunks));
  co_return absl::OkStatus();
}

rouse::Co<absl::StatusOr<std::string>> FirstLine(
    rouse::mpsc::Receiver<std::string> receiver) {
  rouse::StreamReader reader(std::move(receiver));
  std::string line;
  co_await rouse::OrReturn(rouse::ReadLine(reader, line, 8192));
  co_return line;
}

TEST(IoExamples, AChannelCarriesBytes) {
  auto [sender, receiver] = rouse::mpsc::Channel<std::string>(4);
  rouse::Cursor file("first\nsecond\n");
  auto both = rouse::TryJoin(SendFile(file, std::move(sender)),
                             FirstLine(std::move(receiver)));
  EXPECT_EQ(std::get<1>(rouse::BlockOn(std::move(both)).value()), "first");
}

rouse::Co<absl::StatusOr<size_t>> LargestRead(rouse::AsyncRead auto& reader) {
  rouse::ReaderStream chunks(reader);
  size_t largest = 0;
  while (auto chunk = co_await rouse::Next(chunks)) {
    co_await rouse::OrReturn(chunk->status());
    largest = std::max(largest, (*chunk)->size());
  }
  co_return largest;
}

TEST(IoExamples, AReaderIsAStreamOfChunks) {
  rouse::Cursor reader("12345");
  EXPECT_EQ(rouse::BlockOn(LargestRead(reader)).value(), 5u);
}

// -----------------------------------------------------------------------------
// Code that blocks

// A parser that knows nothing of Rouse, and reads by a callback.
template <class ReadBytes>
absl::StatusOr<int> CountDigits(ReadBytes read) {
  int digits = 0;
  char buffer[16];
  for (;;) {
    absl::StatusOr<size_t> size = read(absl::MakeSpan(buffer));
    if (!size.ok()) return size.status();
    if (*size == 0) return digits;
    for (size_t i = 0; i < *size; ++i) {
      digits += buffer[i] >= '0' && buffer[i] <= '9' ? 1 : 0;
    }
  }
}

rouse::Co<absl::StatusOr<int>> CountDigitsOf(rouse::SimplexReader stream) {
  auto parse = [stream = std::move(stream)]() mutable {
    rouse::SyncIoBridge bridge(std::move(stream));
    return CountDigits(
        [&](absl::Span<char> buffer) { return bridge.Read(buffer); });
  };
  co_return co_await rouse::SpawnBlocking(std::move(parse));
}

TEST(IoExamples, ABridgeLetsCodeBlock) {
  rouse::Runtime runtime = rouse::Builder::CurrentThread().Build().value();
  auto ends = rouse::Simplex(4);
  auto write = [](rouse::SimplexWriter writer) -> rouse::Co<absl::Status> {
    co_await rouse::OrReturn(rouse::WriteAll(writer, "a1b22c333"));
    co_return absl::OkStatus();
  };
  auto both = rouse::TryJoin(write(std::move(ends.second)),
                             CountDigitsOf(std::move(ends.first)));
  EXPECT_EQ(std::get<1>(runtime.BlockOn(std::move(both)).value()), 6);
}

// -----------------------------------------------------------------------------
// Protocol buffers

// Has the functions of a message of protobuf.
class Request {
 public:
  size_t ByteSizeLong() const { return name_.size(); }
  bool SerializeToArray(void* data, int size) const {
    if (static_cast<size_t>(size) < name_.size()) return false;
    std::memcpy(data, name_.data(), name_.size());
    return true;
  }
  bool ParseFromArray(const void* data, int size) {
    name_.assign(static_cast<const char*>(data), static_cast<size_t>(size));
    return true;
  }

  void set_name(std::string_view name) { name_ = name; }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

rouse::Co<absl::Status> SendRequest(rouse::DuplexStream& stream,
                                    std::string name) {
  rouse::Framed requests(stream, rouse::DelimitedMessageCodec<Request>());
  Request request;
  request.set_name(name);
  co_return co_await requests.Send(std::move(request));
}

TEST(IoExamples, AMessageIsAFrame) {
  auto [client, server] = rouse::Duplex(64);
  ASSERT_TRUE(rouse::BlockOn(SendRequest(client, "name")).ok());
  rouse::Framed requests(server, rouse::DelimitedMessageCodec<Request>());
  EXPECT_EQ(rouse::BlockOn(rouse::Next(requests))->value().name(), "name");
}

}  // namespace
