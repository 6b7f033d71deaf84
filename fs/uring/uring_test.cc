// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// What io_uring adds to the tests of fs/, which run in this package too.

#include "rouse/fs/uring/uring.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/log/log.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/fs/backend.h"
#include "rouse/fs/file.h"
#include "rouse/fs/fs_fixture.h"
#include "rouse/fs/operation.h"
#include "rouse/future/co.h"
#include "rouse/future/many/join_all.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/testing/internal/failing_calls.h"

namespace rouse::fs::uring {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

class UringTest : public FsTest {
 protected:
  File Open(std::shared_ptr<Backend> backend) {
    return Run(File::Open(Path("a"),
                          ForUpdate().Create().Via(std::move(backend))))
        .value();
  }
};

TEST_F(UringTest, MoreOperationsThanTheRingHas) {
  absl::StatusOr<std::shared_ptr<Backend>> ring =
      CreateBackend({.max_operations = 2});
  ASSERT_THAT(ring, IsOk());
  const File file = Open(*std::move(ring));
  std::vector<Operation<void>> writes;
  for (size_t i = 0; i < 300; ++i) {
    writes.push_back(file.WriteAt(i * 1000, std::string(1000, 'a')));
  }
  for (const absl::Status& status : Run(JoinAll(std::move(writes)))) {
    EXPECT_THAT(status, IsOk());
  }
  EXPECT_THAT(Run(file.Sync()), IsOk());
  ASSERT_EQ(posix_fadvise(file.fd(), 0, 0, POSIX_FADV_DONTNEED), 0);
  std::vector<Operation<std::string>> reads;
  for (size_t i = 0; i < 300; ++i) reads.push_back(file.ReadAt(i * 1000, 1000));
  for (const auto& read : Run(JoinAll(std::move(reads)))) {
    EXPECT_THAT(read, IsOkAndHolds(std::string(1000, 'a')));
  }
}

TEST_F(UringTest, AnOperationKeepsTheRing) {
  std::optional<File> file = Open(backend_);
  auto write = file->WriteAt(0, "text");
  auto sync = file->Sync();
  file.reset();
  backend_.reset();
  EXPECT_THAT(Run(std::move(write)), IsOk());
  EXPECT_THAT(Run(std::move(sync)), IsOk());
  EXPECT_EQ(Get("a"), "text");
}

// The kernel ends requests of a thread that ends.
TEST_F(UringTest, TheThreadThatBeganAnOperationMayEnd) {
  const File file = Open(backend_);
  for (int i = 0; i < 50; ++i) {
    std::optional<Operation<void>> write;
    std::optional<Operation<void>> sync;
    std::thread([&] {
      write.emplace(file.WriteAt(0, std::string(100'000, 'x')));
      sync.emplace(file.Sync());
      if (waker_.Poll(*write).IsReady()) write.reset();
      if (waker_.Poll(*sync).IsReady()) sync.reset();
    }).join();
    if (write.has_value()) {
      EXPECT_THAT(Run(*std::move(write)), IsOk());
    }
    if (sync.has_value()) {
      EXPECT_THAT(Run(*std::move(sync)), IsOk());
    }
  }
  EXPECT_EQ(Get("a"), std::string(100'000, 'x'));
}

TEST_F(UringTest, OperationsFailAfterTheRuntimeOfTheRing) {
  std::optional<Runtime> other =
      Builder::MultiThread().WorkerThreads(1).Build().value();
  std::shared_ptr<Backend> ring;
  {
    const EnterGuard enter = other->Enter();
    ring = CreateBackend().value();
  }
  const File file = Open(ring);
  EXPECT_THAT(Run(file.WriteAt(0, "text")), IsOk());
  other.reset();
  EXPECT_THAT(Run(file.WriteAt(0, "more")),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("runtime")));
}

// Tests that hold where the kernel refuses a ring, too.
class WithoutRingTest : public UringTest {
 protected:
  void SetUp() override {}
};

TEST_F(WithoutRingTest, NeedsARuntime) {
  absl::Status status;
  std::thread([&] { status = CreateBackend().status(); }).join();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(WithoutRingTest, ErrorsSayWhyTheKernelRefuses) {
  const std::pair<int, absl::StatusCode> errors[] = {
      {EPERM, absl::StatusCode::kPermissionDenied},
      {ENOSYS, absl::StatusCode::kUnimplemented},
      {ENOMEM, absl::StatusCode::kResourceExhausted},
      {EMFILE, absl::StatusCode::kResourceExhausted},
  };
  for (const auto& [error, code] : errors) {
    absl::Status status;
    if (!reactor::WithFailingCalls({SYS_io_uring_setup}, error, [&] {
          const EnterGuard enter = runtime_.Enter();
          status = CreateBackend().status();
        })) {
      GTEST_SKIP() << "no filters of system calls here";
    }
    EXPECT_THAT(status, StatusIs(code, HasSubstr("io_uring")));
  }
}

TEST_F(WithoutRingTest, AFileWithoutARingUsesThePool) {
  const absl::StatusOr<std::shared_ptr<Backend>> refused =
      absl::PermissionDeniedError("no io_uring");
  const File file = Open(refused.value_or(nullptr));
  EXPECT_THAT(Run(file.WriteAt(0, "text")), IsOk());
  EXPECT_THAT(Run(file.ReadAt(0, 4)), IsOkAndHolds("text"));
}

// The example of docs/guide/files.md.
rouse::Co<absl::StatusOr<rouse::fs::File>> OpenData(std::string path) {
  absl::StatusOr<std::shared_ptr<rouse::fs::Backend>> ring =
      rouse::fs::uring::CreateBackend();
  if (!ring.ok()) LOG(INFO) << "files use threads: " << ring.status();
  auto open = rouse::fs::File::Open(
      std::move(path), rouse::fs::ForUpdate().Via(ring.value_or(nullptr)));
  co_return co_await std::move(open);
}

TEST_F(WithoutRingTest, Example) {
  Put("a", "text");
  const absl::StatusOr<File> file = Run(OpenData(Path("a")));
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT(Run(file->WriteAt(4, "more")), IsOk());
  EXPECT_EQ(Get("a"), "textmore");
}

}  // namespace
}  // namespace rouse::fs::uring
