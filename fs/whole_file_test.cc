// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/fs/whole_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/fs/fs_fixture.h"

namespace rouse::fs {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

using WholeFileTest = FsTest;

TEST_F(WholeFileTest, ReadsAFile) {
  const std::string text(100'000, 'x');
  Put("a", text);
  EXPECT_THAT(Run(ReadFile(Path("a"))), IsOkAndHolds(text));
  Put("empty", "");
  EXPECT_THAT(Run(ReadFile(Path("empty"))), IsOkAndHolds(""));
  EXPECT_THAT(Run(ReadFile(Path("no"))),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr(Path("no"))));
  EXPECT_THAT(Run(ReadFile(folder_)), StatusIs(testing::_, HasSubstr("read")));
}

// The system says that such a file has no bytes.
TEST_F(WholeFileTest, ReadsAFileWithoutASize) {
  EXPECT_THAT(Run(ReadFile("/proc/self/status")),
              IsOkAndHolds(HasSubstr("Pid:")));
}

TEST_F(WholeFileTest, TheLimitIsExact) {
  Put("a", "12345");
  EXPECT_THAT(Run(ReadFile(Path("a"), 5)), IsOkAndHolds("12345"));
  EXPECT_THAT(Run(ReadFile(Path("a"), 4)),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("limit of 4 bytes")));
  EXPECT_THAT(Run(ReadFile("/dev/zero", 100'000)),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_F(WholeFileTest, WritesAFile) {
  EXPECT_THAT(Run(WriteFile(Path("a"), "a longer text", 0600)), IsOk());
  EXPECT_THAT(Run(WriteFile(Path("a"), "short")), IsOk());
  EXPECT_EQ(Get("a"), "short");
  struct stat raw;
  ASSERT_EQ(stat(Path("a").c_str(), &raw), 0);
  EXPECT_EQ(raw.st_mode & 0777u, 0600u);
  EXPECT_THAT(Run(WriteFile(Path("no/a"), "x")),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(Run(WriteFile("/dev/full", "x")),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_F(WholeFileTest, ReplacesAFileAtOnce) {
  Put("a", "old");
  ASSERT_EQ(link(Path("a").c_str(), Path("old").c_str()), 0);
  EXPECT_THAT(Run(WriteFileAtomically(Path("a"), "new")), IsOk());
  EXPECT_EQ(Get("a"), "new");
  // The old file was not written to.
  EXPECT_EQ(Get("old"), "old");
  EXPECT_EQ(CountEntries(), 2u);
}

// After a crash, a process may find the temporary file of another one that had
// the same process id.
TEST_F(WholeFileTest, ATemporaryFileThatExistsIsNoObstacle) {
  for (int i = 0; i < 20; ++i) {
    Put(absl::StrCat(".rouse-", getpid(), "-", i, ".tmp"), "left behind");
  }
  EXPECT_THAT(Run(WriteFileAtomically(Path(std::string(250, 'x')), "new")),
              IsOk());
  EXPECT_EQ(Get(std::string(250, 'x')), "new");
}

TEST_F(WholeFileTest, AFailedReplacementLeavesNothingBehind) {
  ASSERT_EQ(mkdir(Path("dir").c_str(), 0777), 0);
  EXPECT_THAT(Run(WriteFileAtomically(Path("dir"), "new")),
              StatusIs(testing::_, HasSubstr("rename of '")));
  EXPECT_EQ(CountEntries(), 1u);
  EXPECT_THAT(Run(WriteFileAtomically(Path("no/a"), "new")),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(WholeFileTest, ReplacesAFileOfTheCurrentDirectory) {
  char before[4096];
  ASSERT_NE(getcwd(before, sizeof(before)), nullptr);
  ASSERT_EQ(chdir(folder_.c_str()), 0);
  const absl::Status status = Run(WriteFileAtomically("a", "text"));
  ASSERT_EQ(chdir(before), 0);
  EXPECT_THAT(status, IsOk());
  EXPECT_EQ(Get("a"), "text");
  EXPECT_EQ(CountEntries(), 1u);
}

}  // namespace
}  // namespace rouse::fs
