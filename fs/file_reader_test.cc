// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/fs/file_reader.h"

#include <string>
#include <string_view>

#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/fs/file.h"
#include "rouse/fs/fs_fixture.h"
#include "rouse/io/async_read.h"
#include "rouse/io/read.h"
#include "rouse/io/read_line.h"
#include "rouse/io/read_to_end.h"
#include "rouse/testing/expect_panic.h"

namespace rouse::fs {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

static_assert(AsyncBufRead<FileReader>);

class FileReaderTest : public FsTest {
 protected:
  File Open(std::string_view name, OpenOptions options = ForUpdate().Create()) {
    return Run(File::Open(Path(name), options.Via(backend_))).value();
  }
};

TEST_F(FileReaderTest, ReadsLines) {
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

TEST_F(FileReaderTest, ReadsFromAnOffsetAndSeeks) {
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

TEST_F(FileReaderTest, TheEndIsNotForEver) {
  Put("a", "old");
  const File file = Open("a");
  FileReader reader(file);
  std::string bytes;
  EXPECT_THAT(Run(ReadToEnd(reader, bytes)), IsOkAndHolds(3u));
  ASSERT_THAT(Run(file.WriteAt(3, "new")), IsOk());
  EXPECT_THAT(Run(ReadToEnd(reader, bytes)), IsOkAndHolds(3u));
  EXPECT_EQ(bytes, "oldnew");
}

TEST_F(FileReaderTest, ADestroyedReadLosesNothing) {
  Put("a", "text");
  FileReader reader(Open("a"));
  char buffer[4];
  std::string bytes;
  {
    auto read = Read(reader, absl::MakeSpan(buffer));
    // The thread may be faster than the poll.
    if (waker_.Poll(read).IsReady()) bytes.assign(buffer, sizeof(buffer));
  }
  EXPECT_EQ(reader.position(), bytes.size());
  EXPECT_THAT(Run(ReadToEnd(reader, bytes)), IsOk());
  EXPECT_EQ(bytes, "text");
}

TEST_F(FileReaderTest, AReaderIsUsableAfterAnError) {
  Put("a", "text");
  FileReader reader(Open("a", ForWriting()));
  char buffer[4];
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(Run(Read(reader, absl::MakeSpan(buffer))),
                StatusIs(testing::_, HasSubstr("pread of '")));
    EXPECT_EQ(reader.position(), 0u);
  }
}

TEST_F(FileReaderTest, ConsumingMoreThanTheBufferIsAPanic) {
  Put("a", "text");
  FileReader reader(Open("a"));
  EXPECT_PANIC(reader.Consume(1), "the buffer has only 0 bytes; not 1");
}

}  // namespace
}  // namespace rouse::fs
