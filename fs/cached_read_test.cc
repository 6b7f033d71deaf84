// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests of reads that the page cache serves, and of files with a back end: see
// file.h and backend.h.

#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/fs/backend.h"
#include "rouse/fs/file.h"
#include "rouse/fs/fs_fixture.h"
#include "rouse/fs/operation.h"
#include "rouse/fs/posix.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/testing/internal/failing_calls.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::fs {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

class CachedReadTest : public FsTest {
 protected:
  File Open(OpenOptions options = ForUpdate().Create()) {
    return Run(File::Open(Path("a"), std::move(options))).value();
  }

  // Returns a file whose file system can read from the page cache without
  // waiting: the directory of tests may be on a tmpfs, which cannot.
  static std::optional<File> MakeCachedFile(std::string_view text) {
    for (const std::string& folder :
         {::testing::TempDir(), std::string("/var/tmp"), std::string(".")}) {
      std::string path = absl::StrCat(folder, "/rouse-cached-XXXXXX");
      OwnedFd fd(mkstemp(path.data()));
      if (!fd.IsValid()) continue;
      unlink(path.c_str());
      if (!internal::WriteFd(fd.get(), path, text).ok()) continue;
      char byte;
      const iovec part = {&byte, 1};
      if (preadv2(fd.get(), &part, 1, 0, RWF_NOWAIT) != 1) continue;
      return File(std::move(fd), path);
    }
    return std::nullopt;
  }

  // Calls `body` on another thread. Returns the number of times that `body`
  // tried the page cache, which fails with `error`, or -1 if calls cannot be
  // counted here.
  static int CountTries(int error, absl::FunctionRef<void()> body) {
    int tries = 0;
    const auto fails = [&] {
      ++tries;
      return true;
    };
    const bool can_count =
        reactor::WithCallsThatMayFail({SYS_preadv2}, error, fails, body);
    return can_count ? tries : -1;
  }
};

TEST_F(CachedReadTest, IsReadyInItsFirstPoll) {
  const std::string text = "0123456789";
  const std::optional<File> file = MakeCachedFile(text);
  if (!file.has_value()) GTEST_SKIP() << "no file system has such reads here";
  const std::pair<uint64_t, size_t> reads[] = {
      {0, 4}, {0, 10}, {0, 11}, {3, 1000}, {10, 10}, {99, 1}, {0, 0}};
  for (const auto& [offset, size] : reads) {
    auto read = file->ReadAt(offset, size);
    auto result = waker_.Poll(read);
    ASSERT_TRUE(result.IsReady()) << offset << " " << size;
    EXPECT_THAT(*result, IsOkAndHolds(text.substr(
                             std::min<size_t>(offset, text.size()), size)));
  }
  EXPECT_EQ(waker_.clones(), 0);
}

TEST_F(CachedReadTest, UsesTheBudget) {
  const std::optional<File> file = MakeCachedFile("text");
  if (!file.has_value()) GTEST_SKIP() << "no file system has such reads here";
  int count = 0;
  const auto read_often = [&]() -> Co<> {
    for (; count < 1000; ++count) {
      auto read = file->ReadAt(0, 4);
      EXPECT_THAT(co_await std::move(read), IsOkAndHolds("text"));
    }
  };
  auto reads = read_often();
  EXPECT_TRUE(waker_.Poll(reads).IsPending());
  EXPECT_GT(count, 0);
  EXPECT_LT(count, 1000);
  Run(std::move(reads));
  EXPECT_EQ(count, 1000);
}

// A part is in the cache, and the rest is not.
TEST_F(CachedReadTest, AThreadReadsWhatIsMissing) {
  const std::string text(60'000, 'x');
  const std::optional<File> file = MakeCachedFile(text);
  if (!file.has_value()) GTEST_SKIP() << "no file system has such reads here";
  ASSERT_THAT(Run(file->SyncData()), IsOk());
  ASSERT_EQ(posix_fadvise(file->fd(), 16'384, 0, POSIX_FADV_DONTNEED), 0);
  EXPECT_THAT(Run(file->ReadAt(10, 50'000)),
              IsOkAndHolds(text.substr(0, 50'000)));
  ASSERT_EQ(posix_fadvise(file->fd(), 0, 0, POSIX_FADV_DONTNEED), 0);
  EXPECT_THAT(Run(file->ReadAt(10, 50'000)),
              IsOkAndHolds(text.substr(0, 50'000)));
  EXPECT_THAT(Run(file->ReadAt(10, 60'000)), IsOkAndHolds(text.substr(10)));
}

TEST_F(CachedReadTest, AWriteOnlyFileCannotBeRead) {
  const File file = Open(ForWriting().Create());
  EXPECT_THAT(Run(file.ReadAt(0, 4)),
              StatusIs(testing::_, HasSubstr("pread of '" + Path("a") + "'")));
}

TEST_F(CachedReadTest, NeedsARuntimeLikeEveryOperation) {
  Put("a", "text");
  const File file = Open();
  absl::StatusOr<std::string> result;
  std::thread([&] { result = BlockOn(file.ReadAt(0, 4)); }).join();
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kFailedPrecondition));
}

// Whatever the kernel or a filter of system calls says, the bytes are read.
TEST_F(CachedReadTest, AThreadReadsWhereTheKernelCannot) {
  const std::string text(50'000, 'x');
  for (const int error : {EOPNOTSUPP, ENOSYS, EPERM, EAGAIN, EIO}) {
    Put("a", text);
    const File file = Open();
    if (!reactor::WithFailingCalls({SYS_preadv2}, error, [&] {
          for (int i = 0; i < 2; ++i) {
            EXPECT_THAT(Run(file.ReadAt(0, 50'000)), IsOkAndHolds(text));
            EXPECT_THAT(Run(file.ReadAt(49'998, 100)), IsOkAndHolds("xx"));
          }
        })) {
      GTEST_SKIP() << "no filters of system calls here";
    }
  }
}

TEST_F(CachedReadTest, ARefusalIsRemembered) {
  Put("a", "text");
  const auto tries_of = [this](const File& file, int error) {
    return CountTries(error, [&] {
      EXPECT_THAT(Run(file.ReadAt(0, 4)), IsOkAndHolds("text"));
    });
  };
  for (const int error : {EOPNOTSUPP, ENOSYS, EPERM}) {
    const File file = Open();
    const int tries = tries_of(file, error);
    if (tries < 0) GTEST_SKIP() << "calls cannot be counted here";
    EXPECT_EQ(tries, 1);
    EXPECT_EQ(tries_of(file, error), 0);
  }
  const File file = Open();
  EXPECT_EQ(tries_of(file, EAGAIN), 1);
  EXPECT_EQ(tries_of(file, EAGAIN), 1);
}

TEST_F(CachedReadTest, LargeReadsAreNotTried) {
  Put("a", std::string(100'000, 'x'));
  const File file = Open();
  const int tries = CountTries(EAGAIN, [&] {
    EXPECT_THAT(Run(file.ReadAt(0, File::kMaxCachedRead)), IsOk());
    EXPECT_THAT(Run(file.ReadAt(0, File::kMaxCachedRead + 1)), IsOk());
  });
  if (tries < 0) GTEST_SKIP() << "calls cannot be counted here";
  EXPECT_EQ(tries, 1);
}

// Such a read would wait for the device.
TEST_F(CachedReadTest, DirectReadsAreNotTried) {
  Put("a", "text");
  const absl::StatusOr<File> file =
      Run(File::Open(Path("a"), ForReading().Flags(O_DIRECT)));
  if (!file.ok()) GTEST_SKIP() << file.status();
  const int tries = CountTries(EAGAIN, [&] {
    // Fails, because the buffer is not aligned.
    Run(file->ReadAt(0, 4)).IgnoreError();
  });
  if (tries < 0) GTEST_SKIP() << "calls cannot be counted here";
  EXPECT_EQ(tries, 0);
}

// A back end that makes the calls at once.
class FakeBackend : public Backend {
 public:
  Operation<std::string> ReadAt(File file, uint64_t offset,
                                size_t size) override {
    return Answer<std::string>(
        absl::StrCat("read ", offset, " ", size, " of ", file.path()));
  }
  Operation<void> WriteAt(File, uint64_t offset, std::string data) override {
    return Answer<void>(
        absl::DataLossError(absl::StrCat("write ", offset, " ", data)));
  }
  Operation<void> Sync(File) override {
    return Answer<void>(absl::DataLossError("sync"));
  }
  Operation<void> SyncData(File) override {
    return Answer<void>(absl::DataLossError("sync data"));
  }

 private:
  template <class T>
  static Operation<T> Answer(typename Operation<T>::Result result) {
    return Operation<T>([result = std::move(result)](Context&) mutable
                            -> PollResult<typename Operation<T>::Result> {
      return std::move(result);
    });
  }
};

TEST_F(CachedReadTest, ABackendMakesTheCallsOfItsFiles) {
  Put("a", std::string(100'000, 'x'));
  const auto backend = std::make_shared<FakeBackend>();
  const File file = Open(ForUpdate().Via(backend));
  EXPECT_THAT(Run(file.ReadAt(7, 70'000)),
              IsOkAndHolds(absl::StrCat("read 7 70000 of ", Path("a"))));
  EXPECT_THAT(Run(file.WriteAt(3, "data")),
              StatusIs(absl::StatusCode::kDataLoss, "write 3 data"));
  EXPECT_THAT(Run(file.Sync()), StatusIs(absl::StatusCode::kDataLoss, "sync"));
  EXPECT_THAT(Run(file.SyncData()),
              StatusIs(absl::StatusCode::kDataLoss, "sync data"));
  // The pool makes the others.
  EXPECT_THAT(Run(file.SetSize(4)), IsOk());
  EXPECT_EQ(Get("a"), "xxxx");
}

TEST_F(CachedReadTest, ACopyOfAFileHasItsBackend) {
  const auto backend = std::make_shared<FakeBackend>();
  const File copy = Open(ForUpdate().Create().Via(backend));
  EXPECT_THAT(Run(copy.Sync()), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(Run(Open(ForUpdate().Via(nullptr)).Sync()), IsOk());
}

}  // namespace
}  // namespace rouse::fs
