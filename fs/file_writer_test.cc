// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/fs/file_writer.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/log_severity.h"
#include "absl/log/scoped_mock_log.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/fs/file.h"
#include "rouse/fs/file_reader.h"
#include "rouse/fs/fs_fixture.h"
#include "rouse/io/async_write.h"
#include "rouse/io/copy.h"
#include "rouse/io/flush.h"
#include "rouse/io/write.h"
#include "rouse/io/write_all.h"

namespace rouse::fs {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

static_assert(AsyncWrite<FileWriter>);

class FileWriterTest : public FsTest {
 protected:
  File Open(std::string_view name, OpenOptions options = ForUpdate().Create()) {
    return Run(File::Open(Path(name), options.Via(backend_))).value();
  }
};

TEST_F(FileWriterTest, WritesManySmallPieces) {
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

TEST_F(FileWriterTest, WritesAtAnOffset) {
  Put("a", "abcdef");
  FileWriter writer(Open("a"), 2);
  ASSERT_THAT(Run(WriteAll(writer, "CD")), IsOk());
  ASSERT_THAT(Run(Shutdown(writer)), IsOk());
  EXPECT_EQ(Get("a"), "abCDef");
}

TEST_F(FileWriterTest, CopiesAFile) {
  const std::string text(300'000, 'x');
  Put("a", text);
  FileReader reader(Open("a"));
  FileWriter writer(Open("b"));
  EXPECT_THAT(Run(Copy(reader, writer)), IsOkAndHolds(text.size()));
  EXPECT_THAT(Run(Flush(writer)), IsOk());
  EXPECT_EQ(Get("b"), text);
}

TEST_F(FileWriterTest, AnErrorOfAWriteStays) {
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

TEST_F(FileWriterTest, ADestroyedFlushLosesNothing) {
  FileWriter writer(Open("a"));
  ASSERT_THAT(Run(WriteAll(writer, "text")), IsOk());
  {
    auto flush = Flush(writer);
    (void)waker_.Poll(flush);
  }
  EXPECT_THAT(Run(Flush(writer)), IsOk());
  EXPECT_EQ(Get("a"), "text");
}

TEST_F(FileWriterTest, AWriterThatWasNotFlushedLogsAnError) {
  absl::ScopedMockLog log(absl::MockLogDefault::kDisallowUnexpected);
  EXPECT_CALL(
      log, Log(absl::LogSeverity::kError, testing::_,
               HasSubstr(absl::StrCat("up to 4 bytes for '", Path("a"), "'"))));
  std::optional<FileWriter> writer(std::in_place, Open("a"));
  ASSERT_THAT(Run(WriteAll(*writer, "text")), IsOk());
  log.StartCapturingLogs();
  FileWriter moved(*std::move(writer));
  writer.reset();  // NOLINT(bugprone-use-after-move): the optional
  {
    const FileWriter last(std::move(moved));
  }
  log.StopCapturingLogs();
}

}  // namespace
}  // namespace rouse::fs
