// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: fd_fixture.h
// -----------------------------------------------------------------------------
//
// Helpers shared by the tests of reactor/ and net/.

#ifndef ROUSE_TESTING_INTERNAL_FD_FIXTURE_H_
#define ROUSE_TESTING_INTERNAL_FD_FIXTURE_H_

#include <cstddef>
#include <string_view>
#include <utility>

#include "gtest/gtest.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse::reactor {

// Returns the number of descriptors that this process has open.
size_t CountOpenFds();

// A fixture that requires each test to leave the number of open descriptors
// unchanged.
class FdTest : public ::testing::Test {
 protected:
  FdTest() : fds_before_(CountOpenFds()) {}
  ~FdTest() override { EXPECT_EQ(CountOpenFds(), fds_before_); }

 private:
  const size_t fds_before_;
};

// Makes a connected pair of non-blocking Unix stream sockets.
std::pair<OwnedFd, OwnedFd> MakeSocketPair();

// Writes all of `data`. REQUIRES: the other end has room for `data`.
void WriteTo(int fd, std::string_view data);

}  // namespace rouse::reactor

#endif  // ROUSE_TESTING_INTERNAL_FD_FIXTURE_H_
