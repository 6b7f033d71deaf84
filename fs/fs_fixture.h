// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: fs_fixture.h
// -----------------------------------------------------------------------------
//
// For tests of fs/: a runtime, a back end, and an empty directory that is
// removed at the end. A test of open files runs twice: //fs:file_test uses the
// blocking pool, and //fs/uring:file_test is the same source with io_uring.

#ifndef ROUSE_FS_FS_FIXTURE_H_
#define ROUSE_FS_FS_FIXTURE_H_

#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rouse/fs/backend.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/testing/counting_waker.h"

namespace rouse::fs {

using BackendFactory = absl::StatusOr<std::shared_ptr<Backend>> (*)();

// Returns the function that makes the back end of each test, or null for the
// blocking pool. Set by the library //fs/uring:uring_fixture, before main().
inline BackendFactory& TestBackend() {
  static BackendFactory factory = nullptr;
  return factory;
}

class FsTest : public ::testing::Test {
 protected:
  FsTest() : folder_(absl::StrCat(::testing::TempDir(), "/fs-XXXXXX")) {
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
  }
  ~FsTest() override { std::filesystem::remove_all(folder_); }

  void SetUp() override {
    if (TestBackend() == nullptr) return;
    absl::StatusOr<std::shared_ptr<Backend>> backend = TestBackend()();
    // The kernel has no io_uring, or forbids it.
    const absl::Status& status = backend.status();
    if (absl::IsUnimplemented(status) || absl::IsPermissionDenied(status)) {
      GTEST_SKIP() << status;
    }
    ASSERT_TRUE(status.ok()) << status;
    backend_ = *std::move(backend);
  }

  template <class F>
  auto Run(F&& future) {
    return runtime_.BlockOn(std::forward<F>(future));
  }

  // Returns a path in the directory.
  std::string Path(std::string_view name) const {
    return absl::StrCat(folder_, "/", name);
  }

  void Put(std::string_view name, std::string_view text) const {
    std::ofstream(Path(name)) << text;
  }
  std::string Get(std::string_view name) const {
    std::ifstream file(Path(name));
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  // Returns the number of entries of the directory.
  size_t CountEntries() const {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  std::string folder_;
  // Outlives the runtime: a thread of the runtime can still be waking this
  // waker after the future that registered the waker was destroyed.
  CountingWaker waker_;
  Runtime runtime_ = Builder::CurrentThread().Build().value();
  const EnterGuard enter_ = runtime_.Enter();
  std::shared_ptr<Backend> backend_;  // null for the blocking pool
};

}  // namespace rouse::fs

#endif  // ROUSE_FS_FS_FIXTURE_H_
