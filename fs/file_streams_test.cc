// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests of `FileReader` and `FileWriter`.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/log_severity.h"
#include "absl/log/scoped_mock_log.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/fs/file.h"
#include "rouse/fs/file_reader.h"
#include "rouse/fs/file_writer.h"
#include "rouse/fs/fs_fixture.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/io/copy.h"
#include "rouse/io/flush.h"
#include "rouse/io/read.h"
#include "rouse/io/read_line.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/write.h"
#include "rouse/io/write_all.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"

namespace rouse::fs {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

static_assert(AsyncBufRead<FileReader>);
static_assert(AsyncWrite<FileWriter>);

class FileStreamsTest : public FsTest {
 protected:
  File Open(std::string_view name, OpenOptions options = ForUpdate().Create()) {
    return Run(File::Open(Path(name), options)).value();
  }
};

TEST_F(FileStreamsTest, ReadsLines) {
  Put("a", "one\ntwo\n\nlast");
  FileReader reader(Open("a"), 0, /*chunk=*/5);
  std::string lines;
  for (;;) {
    std::string line;
    if (Run(ReadLine(reader, line)).value() == 0) break;
    absl::StrAppend(&lines, line, "|");
  }
  EXPECT_EQ(lines, "one|two||last|");
  EXPECT_EQ(reader.position(), 13u);
}

TEST_F(FileStreamsTest, ReadsFromAnOffsetAndSeeks) {
  Put("a", "0123456789");
  FileReader reader(Open("a"), 4);
  std::string bytes;
  EXPECT_THAT(Run(ReadToEnd(reader, bytes)), IsOkAndHolds(6u));
  EXPECT_EQ(bytes, "456789");
  reader.Seek(8);
  EXPECT_EQ(reader.position(), 8u);
  bytes.clear();
  EXPECT_THAT(Run(ReadToEnd(reader, bytes)), IsOkAndHolds(2u));
  EXPECT_EQ(bytes, "89");
}

TEST_F(FileStreamsTest, TheEndIsNotForEver) {
  Put("a", "old");
  const File file = Open("a");
  FileReader reader(file);
  std::string bytes;
  EXPECT_THAT(Run(ReadToEnd(reader, bytes)), IsOkAndHolds(3u));
  ASSERT_THAT(Run(file.WriteAt(3, "new")), IsOk());
  EXPECT_THAT(Run(ReadToEnd(reader, bytes)), IsOkAndHolds(3u));
  EXPECT_EQ(bytes, "oldnew");
}

TEST_F(FileStreamsTest, ADestroyedReadLosesNothing) {
  Put("a", "text");
  CountingWaker waker;
  FileReader reader(Open("a"));
  char buffer[4];
  std::string bytes;
  {
    auto read = Read(reader, absl::MakeSpan(buffer));
    // The thread may be faster than the poll.
    if (waker.Poll(read).IsReady()) bytes.assign(buffer, sizeof(buffer));
  }
  EXPECT_EQ(reader.position(), bytes.size());
  EXPECT_THAT(Run(ReadToEnd(reader, bytes)), IsOk());
  EXPECT_EQ(bytes, "text");
}

TEST_F(FileStreamsTest, AReaderIsUsableAfterAnError) {
  Put("a", "text");
  FileReader reader(Open("a", ForWriting()));
  char buffer[4];
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(Run(Read(reader, absl::MakeSpan(buffer))),
                StatusIs(testing::_, HasSubstr("pread of '")));
    EXPECT_EQ(reader.position(), 0u);
  }
}

TEST_F(FileStreamsTest, ConsumingMoreThanTheBufferIsAPanic) {
  Put("a", "text");
  FileReader reader(Open("a"));
  EXPECT_PANIC(reader.Consume(1), "the buffer has only 0 bytes; not 1");
}

TEST_F(FileStreamsTest, WritesManySmallPieces) {
  FileWriter writer(Open("a"), 0, /*chunk=*/7);
  std::string expected;
  for (int i = 0; i < 100; ++i) {
    const std::string piece = absl::StrCat(i, ",");
    ASSERT_THAT(Run(WriteAll(writer, piece)), IsOk());
    expected += piece;
  }
  EXPECT_EQ(writer.position(), expected.size());
  EXPECT_LE(writer.flushed(), expected.size());
  EXPECT_THAT(Run(Flush(writer)), IsOk());
  EXPECT_EQ(writer.flushed(), expected.size());
  EXPECT_EQ(Get("a"), expected);
}

TEST_F(FileStreamsTest, WritesAtAnOffset) {
  Put("a", "abcdef");
  FileWriter writer(Open("a"), 2);
  ASSERT_THAT(Run(WriteAll(writer, "CD")), IsOk());
  ASSERT_THAT(Run(Shutdown(writer)), IsOk());
  EXPECT_EQ(Get("a"), "abCDef");
}

TEST_F(FileStreamsTest, CopiesAFile) {
  const std::string text(300'000, 'x');
  Put("a", text);
  FileReader reader(Open("a"));
  FileWriter writer(Open("b"));
  EXPECT_THAT(Run(Copy(reader, writer)), IsOkAndHolds(text.size()));
  EXPECT_THAT(Run(Flush(writer)), IsOk());
  EXPECT_EQ(Get("b"), text);
}

TEST_F(FileStreamsTest, AnErrorOfAWriteStays) {
  Put("a", "");
  FileWriter writer(Open("a", ForReading()), 0, /*chunk=*/2);
  EXPECT_THAT(Run(Write(writer, "ab")), IsOkAndHolds(2u));
  EXPECT_THAT(Run(Flush(writer)),
              StatusIs(testing::_, HasSubstr("pwrite of '")));
  EXPECT_THAT(Run(Write(writer, "cd")),
              StatusIs(testing::_, HasSubstr("pwrite of '")));
  EXPECT_THAT(Run(Flush(writer)),
              StatusIs(testing::_, HasSubstr("pwrite of '")));
  EXPECT_EQ(writer.flushed(), 0u);
}

TEST_F(FileStreamsTest, ADestroyedFlushLosesNothing) {
  CountingWaker waker;
  FileWriter writer(Open("a"));
  ASSERT_THAT(Run(WriteAll(writer, "text")), IsOk());
  {
    auto flush = Flush(writer);
    (void)waker.Poll(flush);
  }
  EXPECT_THAT(Run(Flush(writer)), IsOk());
  EXPECT_EQ(Get("a"), "text");
}

TEST_F(FileStreamsTest, AWriterThatWasNotFlushedLogsAnError) {
  absl::ScopedMockLog log(absl::MockLogDefault::kDisallowUnexpected);
  EXPECT_CALL(
      log, Log(absl::LogSeverity::kError, testing::_,
               HasSubstr(absl::StrCat("up to 4 bytes for '", Path("a"), "'"))));
  std::optional<FileWriter> writer(std::in_place, Open("a"));
  ASSERT_THAT(Run(WriteAll(*writer, "text")), IsOk());
  log.StartCapturingLogs();
  FileWriter moved(*std::move(writer));
  writer.reset();
  {
    const FileWriter last(std::move(moved));
  }
  log.StopCapturingLogs();
}

}  // namespace
}  // namespace rouse::fs
