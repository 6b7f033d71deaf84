// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests of paths.h and read_dir.h.

#include "rouse/fs/paths.h"

#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/fs/fs_fixture.h"
#include "rouse/fs/metadata.h"
#include "rouse/fs/read_dir.h"
#include "rouse/future/stream.h"
#include "rouse/waker/poll_result.h"

namespace rouse::fs {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

static_assert(Stream<ReadDir>);

using PathsTest = FsTest;

TEST_F(PathsTest, MakesAndRemovesDirectories) {
  EXPECT_THAT(Run(CreateDir(Path("a"))), IsOk());
  EXPECT_THAT(Run(CreateDir(Path("a"))),
              StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_THAT(Run(CreateDirs(Path("a/b//c/"))), IsOk());
  EXPECT_THAT(Run(CreateDirs(Path("a/b/c"))), IsOk());
  EXPECT_THAT(Run(RemoveDir(Path("a"))), StatusIs(testing::_));
  Put("a/b/file", "text");
  EXPECT_THAT(Run(CreateDirs(Path("a/b/file/d"))),
              StatusIs(testing::_, HasSubstr(Path("a/b/file"))));
  EXPECT_THAT(Run(RemoveAll(Path("a"))), IsOkAndHolds(4u));
  EXPECT_THAT(Run(RemoveAll(Path("a"))), IsOkAndHolds(0u));
  EXPECT_EQ(CountEntries(), 0u);
}

TEST_F(PathsTest, RemoveAllDoesNotFollowLinks) {
  ASSERT_THAT(Run(CreateDir(Path("kept"))), IsOk());
  Put("kept/file", "text");
  ASSERT_THAT(Run(CreateDir(Path("gone"))), IsOk());
  ASSERT_THAT(Run(Symlink(Path("kept"), Path("gone/link"))), IsOk());
  EXPECT_THAT(Run(RemoveAll(Path("gone"))), IsOkAndHolds(2u));
  EXPECT_EQ(Get("kept/file"), "text");
  ASSERT_THAT(Run(Symlink(Path("kept"), Path("link"))), IsOk());
  EXPECT_THAT(Run(RemoveAll(Path("link/"))), IsOkAndHolds(1u));
  EXPECT_EQ(Get("kept/file"), "text");
}

TEST_F(PathsTest, RenamesAndRemovesFiles) {
  Put("a", "text");
  EXPECT_THAT(Run(Rename(Path("a"), Path("b"))), IsOk());
  EXPECT_THAT(Run(Exists(Path("a"))), IsOkAndHolds(false));
  EXPECT_THAT(Run(Exists(Path("b"))), IsOkAndHolds(true));
  EXPECT_THAT(Run(Exists(Path("b/c"))), IsOkAndHolds(false));
  EXPECT_THAT(Run(Rename(Path("a"), Path("b"))),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr(absl::StrCat("rename from '", Path("a"),
                                              "' to '", Path("b"), "'"))));
  EXPECT_THAT(Run(RemoveFile(Path("b"))), IsOk());
  EXPECT_THAT(Run(RemoveFile(Path("b"))),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr(Path("b"))));
}

TEST_F(PathsTest, Links) {
  Put("a", "text");
  EXPECT_THAT(Run(HardLink(Path("a"), Path("hard"))), IsOk());
  EXPECT_THAT(Run(Symlink("a", Path("soft"))), IsOk());
  EXPECT_EQ(Get("hard"), "text");
  EXPECT_EQ(Get("soft"), "text");
  EXPECT_THAT(Run(ReadLink(Path("soft"))), IsOkAndHolds("a"));
  const std::string long_target(1000, 'x');
  EXPECT_THAT(Run(Symlink(long_target, Path("long"))), IsOk());
  EXPECT_THAT(Run(ReadLink(Path("long"))), IsOkAndHolds(long_target));
  EXPECT_THAT(Run(ReadLink(Path("a"))),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_TRUE(Run(GetMetadata(Path("soft")))->IsFile());
  EXPECT_TRUE(Run(GetSymlinkMetadata(Path("soft")))->IsSymlink());
  EXPECT_THAT(Run(Canonicalize(Path("soft"))),
              IsOkAndHolds(Run(Canonicalize(folder_)).value() + "/a"));
}

TEST_F(PathsTest, PermissionsCanBeChanged) {
  Put("a", "text");
  EXPECT_THAT(Run(SetPermissions(Path("a"), 0604)), IsOk());
  EXPECT_EQ(Run(GetMetadata(Path("a")))->permissions(), 0604u);
  EXPECT_THAT(Run(GetMetadata(Path("no"))),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(PathsTest, CopiesFiles) {
  const std::string text(300'000, 'x');
  Put("a", text);
  ASSERT_EQ(chmod(Path("a").c_str(), 0640), 0);
  Put("b", std::string(400'000, 'y'));
  EXPECT_THAT(Run(CopyFile(Path("a"), Path("b"))), IsOkAndHolds(text.size()));
  EXPECT_EQ(Get("b"), text);
  EXPECT_EQ(Run(GetMetadata(Path("b")))->permissions(), 0640u);
  Put("empty", "");
  EXPECT_THAT(Run(CopyFile(Path("empty"), Path("b"))), IsOkAndHolds(0u));
  EXPECT_EQ(Get("b"), "");
  EXPECT_THAT(Run(CopyFile("/proc/self/status", Path("status"))), IsOk());
  EXPECT_THAT(Get("status"), HasSubstr("Pid:"));
}

TEST_F(PathsTest, AFileIsNotCopiedOntoItself) {
  Put("a", "text");
  ASSERT_EQ(link(Path("a").c_str(), Path("b").c_str()), 0);
  EXPECT_THAT(Run(CopyFile(Path("a"), Path("b"))),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(Get("a"), "text");
  EXPECT_THAT(Run(CopyFile(folder_, Path("c"))),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(PathsTest, APathWithAZeroByteIsInvalid) {
  const std::string zero("a\0b", 3);
  EXPECT_THAT(Run(CreateDir(zero)),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Run(Rename(Path("a"), zero)),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Run(Exists(zero)), StatusIs(absl::StatusCode::kInvalidArgument));
}

using Entry = std::optional<absl::StatusOr<DirEntry>>;

TEST_F(PathsTest, ListsADirectory) {
  Put("file", "");
  ASSERT_THAT(Run(CreateDir(Path("dir"))), IsOk());
  ASSERT_THAT(Run(Symlink("file", Path("link"))), IsOk());
  ReadDir entries(folder_);
  std::set<std::string> names;
  while (Entry entry = Run(Next(entries))) {
    ASSERT_THAT(*entry, IsOk());
    names.insert((*entry)->name());
    if (!(*entry)->IsKindKnown()) continue;
    EXPECT_EQ((*entry)->IsFile(), (*entry)->name() == "file");
    EXPECT_EQ((*entry)->IsDir(), (*entry)->name() == "dir");
    EXPECT_EQ((*entry)->IsSymlink(), (*entry)->name() == "link");
  }
  EXPECT_THAT(names, UnorderedElementsAre("file", "dir", "link"));
  EXPECT_FALSE(Run(Next(entries)).has_value());
}

// More than one batch, and each batch is abandoned once.
TEST_F(PathsTest, ListsManyEntriesAlthoughPollsAreDestroyed) {
  std::set<std::string> expected;
  for (int i = 0; i < 600; ++i) {
    expected.insert(absl::StrCat(i));
    Put(absl::StrCat(i), "");
  }
  std::set<std::string> names;
  ReadDir entries(folder_);
  for (;;) {
    {
      auto next = Next(entries);
      PollResult<Entry> polled = waker_.Poll(next);
      if (polled.IsReady() && polled->has_value()) {
        names.insert((**polled)->name());
      }
    }
    const Entry entry = Run(Next(entries));
    if (!entry.has_value()) break;
    names.insert((*entry)->name());
  }
  EXPECT_EQ(names, expected);
}

TEST_F(PathsTest, AListEndsAfterAnError) {
  ReadDir entries(Path("no"));
  const Entry entry = Run(Next(entries));
  ASSERT_TRUE(entry.has_value());
  EXPECT_THAT(*entry, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_FALSE(Run(Next(entries)).has_value());
}

}  // namespace
}  // namespace rouse::fs
