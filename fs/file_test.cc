// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/fs/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/fs/fs_fixture.h"
#include "rouse/fs/metadata.h"
#include "rouse/fs/operation.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/future.h"
#include "rouse/future/many/join_all.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/runtime/runtime.h"
#include "rouse/testing/expect_panic.h"

namespace rouse::fs {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

static_assert(Future<Operation<std::string>>);

// With an I/O back end, this is a test of that back end: see fs_fixture.h.
class OpenFileTest : public FsTest {
 protected:
  File Open(OpenOptions options = ForUpdate().Create()) {
    return Run(File::Open(Path("a"), options.Via(backend_))).value();
  }
};

TEST_F(OpenFileTest, ReadsAndWritesAtOffsets) {
  const File file = Open();
  EXPECT_THAT(Run(file.WriteAt(3, "def")), IsOk());
  EXPECT_THAT(Run(file.WriteAt(0, "abc")), IsOk());
  EXPECT_EQ(Get("a"), "abcdef");
  EXPECT_THAT(Run(file.ReadAt(2, 3)), IsOkAndHolds("cde"));
  EXPECT_THAT(Run(file.ReadAt(4, 100)), IsOkAndHolds("ef"));
  EXPECT_THAT(Run(file.ReadAt(6, 100)), IsOkAndHolds(""));
  EXPECT_THAT(Run(file.ReadAt(100, 0)), IsOkAndHolds(""));
}

TEST_F(OpenFileTest, ReadsMoreThanOneStep) {
  const File file = Open();
  const std::string large(5'000'000, 'x');
  EXPECT_THAT(Run(file.WriteAt(7, large)), IsOk());
  EXPECT_THAT(Run(file.ReadAt(7, 10'000'000)), IsOkAndHolds(large));
}

TEST_F(OpenFileTest, AnOperationDoesNothingBeforeItIsPolled) {
  const File file = Open();
  {
    const auto write = file.WriteAt(0, "abc");
  }
  {
    const auto create = File::Open(Path("b"), ForWriting().Create());
  }
  EXPECT_EQ(Get("a"), "");
  EXPECT_EQ(CountEntries(), 1u);
}

TEST_F(OpenFileTest, AMissingFileIsNotFoundWithItsPath) {
  EXPECT_THAT(Run(File::Open(Path("no"))),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr(Path("no"))));
}

TEST_F(OpenFileTest, CreateNewFailsIfTheFileExists) {
  EXPECT_THAT(Run(File::Open(Path("a"), ForWriting().CreateNew(0600))), IsOk());
  EXPECT_THAT(Run(File::Open(Path("a"), ForWriting().CreateNew())),
              StatusIs(absl::StatusCode::kAlreadyExists));
  struct stat raw;
  ASSERT_EQ(stat(Path("a").c_str(), &raw), 0);
  EXPECT_EQ(raw.st_mode & 0777u, 0600u);
}

TEST_F(OpenFileTest, OptionsTruncateAndAppend) {
  Put("a", "old");
  EXPECT_THAT(Run(Open(ForWriting()).WriteAt(1, "X")), IsOk());
  EXPECT_EQ(Get("a"), "oXd");
  EXPECT_THAT(Run(Open(ForWriting().Append()).WriteAt(0, "+")), IsOk());
  EXPECT_EQ(Get("a"), "oXd+");
  Open(ForWriting().Truncate());
  EXPECT_EQ(Get("a"), "");
}

TEST_F(OpenFileTest, ErrorsNameTheCallAndThePath) {
  Put("a", "text");
  const File file = Open(ForReading());
  EXPECT_THAT(Run(file.WriteAt(0, "x")),
              StatusIs(testing::_, HasSubstr("pwrite of '" + Path("a") + "'")));
  EXPECT_THAT(Run(file.SetSize(1)),
              StatusIs(testing::_, HasSubstr("ftruncate of")));
}

TEST_F(OpenFileTest, OffsetsThatNoFileHasAreInvalid) {
  const File file = Open();
  const uint64_t max = std::numeric_limits<uint64_t>::max();
  EXPECT_THAT(Run(file.ReadAt(max, 1)),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Run(file.WriteAt(max, "x")),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Run(file.SetSize(max)),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(OpenFileTest, APathWithAZeroByteIsInvalid) {
  EXPECT_THAT(Run(File::Open(std::string("a\0b", 3))),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(OpenFileTest, SizePermissionsAndMetadata) {
  const File file = Open();
  EXPECT_THAT(Run(file.WriteAt(0, "abcdef")), IsOk());
  EXPECT_THAT(Run(file.SetSize(4)), IsOk());
  EXPECT_THAT(Run(file.SetPermissions(0640)), IsOk());
  EXPECT_THAT(Run(file.Sync()), IsOk());
  EXPECT_THAT(Run(file.SyncData()), IsOk());
  const Metadata data = Run(file.GetMetadata()).value();
  EXPECT_TRUE(data.IsFile());
  EXPECT_FALSE(data.IsDir());
  EXPECT_EQ(data.size(), 4u);
  EXPECT_EQ(data.permissions(), 0640u);
}

TEST_F(OpenFileTest, LocksExcludeOtherOpenFiles) {
  const File file = Open();
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): is tested.
  const File copy = file;
  const File other = Open();
  EXPECT_THAT(Run(file.Lock()), IsOk());
  EXPECT_THAT(Run(copy.TryLock()), IsOk());
  EXPECT_THAT(Run(other.TryLock()),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr(Path("a"))));
  EXPECT_THAT(Run(file.LockShared()), IsOk());
  EXPECT_THAT(Run(other.TryLockShared()), IsOk());
  EXPECT_THAT(Run(other.Unlock()), IsOk());
  EXPECT_THAT(Run(file.Unlock()), IsOk());
  EXPECT_THAT(Run(other.TryLock()), IsOk());
}

TEST_F(OpenFileTest, ManyOperationsAtOnceShareAFile) {
  const File file = Open();
  std::vector<Operation<void>> writes;
  for (size_t i = 0; i < 50; ++i) {
    writes.push_back(file.WriteAt(i * 2, std::string(2, 'a')));
  }
  for (const absl::Status& status : Run(JoinAll(std::move(writes)))) {
    EXPECT_THAT(status, IsOk());
  }
  EXPECT_EQ(Get("a"), std::string(100, 'a'));
}

// The thread writes into memory of the operation.
TEST_F(OpenFileTest, DestroyingAnOperationThatRunsIsSafe) {
  Put("a", std::string(1'000'000, 'x'));
  for (int i = 0; i < 100; ++i) {
    const File file = Open();
    auto read = file.ReadAt(0, 1'000'000);
    auto write = file.WriteAt(0, std::string(100'000, 'x'));
    (void)waker_.Poll(read);
    (void)waker_.Poll(write);
  }
  EXPECT_EQ(Get("a"), std::string(1'000'000, 'x'));
}

TEST_F(OpenFileTest, ACopyAndAnOperationKeepTheFileOpen) {
  std::optional<File> file = Open();
  auto write = file->WriteAt(0, "abc");
  const File copy = *file;
  file.reset();
  EXPECT_THAT(Run(std::move(write)), IsOk());
  EXPECT_THAT(Run(copy.ReadAt(0, 3)), IsOkAndHolds("abc"));
}

TEST_F(OpenFileTest, AdoptsADescriptor) {
  Put("a", "abc");
  const File file(OwnedFd(open(Path("a").c_str(), O_RDONLY | O_CLOEXEC)),
                  "my file", backend_);
  EXPECT_THAT(Run(file.ReadAt(1, 9)), IsOkAndHolds("bc"));
  EXPECT_THAT(Run(file.WriteAt(0, "x")),
              StatusIs(testing::_, HasSubstr("'my file'")));
}

// Whether the page cache has the bytes does not matter.
TEST_F(OpenFileTest, ReadsWhatIsNotInThePageCache) {
  const std::string text(200'000, 'x');
  Put("a", text);
  const File file = Open();
  EXPECT_THAT(Run(file.Sync()), IsOk());
  // The length 0 means the whole file.
  for (const off_t dropped : {0, 8192}) {
    ASSERT_EQ(posix_fadvise(file.fd(), 0, dropped, POSIX_FADV_DONTNEED), 0);
    EXPECT_THAT(Run(file.ReadAt(100, 30'000)),
                IsOkAndHolds(text.substr(0, 30'000)));
  }
}

TEST_F(OpenFileTest, PipesHaveNoOffsets) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const File reader(OwnedFd(ends[0]), "reader", backend_);
  const File writer(OwnedFd(ends[1]), "writer", backend_);
  EXPECT_THAT(Run(reader.ReadAt(0, 1)),
              StatusIs(testing::_, HasSubstr("pread of 'reader'")));
  EXPECT_THAT(Run(writer.WriteAt(0, "x")),
              StatusIs(testing::_, HasSubstr("pwrite of 'writer'")));
}

TEST_F(OpenFileTest, EmptyReadsAndWritesHaveNoEffect) {
  const File file = Open();
  EXPECT_THAT(Run(file.ReadAt(5, 0)), IsOkAndHolds(""));
  EXPECT_THAT(Run(file.WriteAt(5, "")), IsOk());
  EXPECT_EQ(Get("a"), "");
}

TEST_F(OpenFileTest, ADirectoryCannotBeRead) {
  const File file =
      Run(File::Open(folder_, ForReading().Via(backend_))).value();
  EXPECT_THAT(Run(file.ReadAt(0, 10)),
              StatusIs(testing::_, HasSubstr("pread of '" + folder_ + "'")));
}

TEST_F(OpenFileTest, PollingAFinishedOperationIsAPanic) {
  auto open = File::Open(Path("no"));
  const auto poll = [&]() -> Co<> { (void)co_await open; };
  Run(poll());
  EXPECT_PANIC((void)waker_.Poll(open), "polled after it completed");
  const File file = Open();
  auto read = file.ReadAt(0, 1);
  auto write = file.WriteAt(0, "x");
  const auto moved_read = std::move(read);
  const auto moved_write = std::move(write);
  // NOLINTBEGIN(bugprone-use-after-move)
  EXPECT_PANIC((void)waker_.Poll(read), "was moved from");
  EXPECT_PANIC((void)waker_.Poll(write), "was moved from");
  // NOLINTEND(bugprone-use-after-move)
}

TEST_F(OpenFileTest, UsingAFileThatWasMovedFromIsAPanic) {
  File file = Open();
  const File moved = std::move(file);
  constexpr std::string_view kText =
      "fs::File was used after it was moved from; use the object";
  // NOLINTBEGIN(bugprone-use-after-move)
  EXPECT_PANIC((void)file.ReadAt(0, 1), kText);
  EXPECT_PANIC((void)file.ReadAt(0, File::kMaxCachedRead + 1), kText);
  EXPECT_PANIC((void)file.WriteAt(0, "x"), kText);
  EXPECT_PANIC((void)file.Sync(), kText);
  EXPECT_PANIC((void)file.SyncData(), kText);
  EXPECT_PANIC((void)file.SetSize(0), kText);
  EXPECT_PANIC((void)file.SetPermissions(0600), kText);
  EXPECT_PANIC((void)file.GetMetadata(), kText);
  EXPECT_PANIC((void)file.Lock(), kText);
  EXPECT_PANIC((void)file.fd(), kText);
  EXPECT_PANIC((void)file.path(), kText);
  file = moved;
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_THAT(Run(file.WriteAt(0, "x")), IsOk());
}

TEST(FileWithoutRuntime, IsFailedPrecondition) {
  EXPECT_THAT(BlockOn(File::Open("/etc/passwd")),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("Runtime::BlockOn")));
}

}  // namespace
}  // namespace rouse::fs
