// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: unix_fixture.h
// -----------------------------------------------------------------------------
//
// Helpers shared by the tests of Unix sockets and pipes.

#ifndef ROUSE_TESTING_INTERNAL_UNIX_FIXTURE_H_
#define ROUSE_TESTING_INTERNAL_UNIX_FIXTURE_H_

#include <stdlib.h>
#include <unistd.h>

#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/net/unix_addr.h"
#include "rouse/testing/internal/tcp_fixture.h"

namespace rouse {

// A `TcpTest` that provides unique names.
class UnixTest : public TcpTest {
 protected:
  // Paths must be short, so this is not the test's own directory.
  UnixTest() {
    char directory[] = "/tmp/rouse_test_XXXXXX";
    EXPECT_NE(mkdtemp(directory), nullptr);
    directory_ = directory;
  }
  ~UnixTest() override {
    for (int i = 0; i < paths_; ++i) unlink(PathOf(i).c_str());
    EXPECT_EQ(rmdir(directory_.c_str()), 0);
  }

  // Returns a path at which no file exists.
  std::string NewPath() { return PathOf(paths_++); }
  UnixAddr NewPathAddr() { return UnixAddr::FromPath(NewPath()).value(); }

  // Returns an unused name, unique even among processes with the same ID in
  // other containers, whose names may be visible here.
  UnixAddr NewAbstractAddr() {
    return UnixAddr::FromAbstractName(
               absl::StrCat(directory_, "/", abstract_names_++))
        .value();
  }

  absl::Span<char> Buffer(size_t size = sizeof buffer_) {
    return absl::MakeSpan(buffer_, size);
  }

  char buffer_[64];

 private:
  std::string PathOf(int number) const {
    return absl::StrCat(directory_, "/", number);
  }

  std::string directory_;
  int paths_ = 0;
  int abstract_names_ = 0;
};

}  // namespace rouse

#endif  // ROUSE_TESTING_INTERNAL_UNIX_FIXTURE_H_
