// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: fs_fixture.h
// -----------------------------------------------------------------------------
//
// For tests of fs/: a runtime, and an empty directory that is removed at the
// end.

#ifndef ROUSE_FS_FS_FIXTURE_H_
#define ROUSE_FS_FS_FIXTURE_H_

#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"

namespace rouse::fs {

class FsTest : public ::testing::Test {
 protected:
  FsTest() : folder_(absl::StrCat(::testing::TempDir(), "/fs-XXXXXX")) {
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
  }
  ~FsTest() override { std::filesystem::remove_all(folder_); }

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
  Runtime runtime_ = Builder::CurrentThread().Build().value();
  const EnterGuard enter_ = runtime_.Enter();
};

}  // namespace rouse::fs

#endif  // ROUSE_FS_FS_FIXTURE_H_
