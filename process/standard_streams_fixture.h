// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: standard_streams_fixture.h
// -----------------------------------------------------------------------------
//
// For tests of standard_streams.h: pipes, terminals and files in the place of
// the standard streams.

#ifndef ROUSE_PROCESS_STANDARD_STREAMS_FIXTURE_H_
#define ROUSE_PROCESS_STANDARD_STREAMS_FIXTURE_H_

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "rouse/process/standard_streams.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse::internal {

struct Pipe {
  Pipe() {
    int fds[2];
    EXPECT_EQ(pipe2(fds, O_CLOEXEC), 0);
    reader.Reset(fds[0]);
    writer.Reset(fds[1]);
  }

  OwnedFd reader;
  OwnedFd writer;
};

// A pseudoterminal: `terminal` is the standard stream of a program, and `user`
// is what the user types and sees.
struct Terminal {
  Terminal() : user(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    EXPECT_EQ(grantpt(user.get()), 0);
    EXPECT_EQ(unlockpt(user.get()), 0);
    char name[128];
    EXPECT_EQ(ptsname_r(user.get(), name, sizeof name), 0);
    terminal.Reset(open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
    EXPECT_TRUE(terminal.IsValid());
  }

  OwnedFd user;
  OwnedFd terminal;
};

inline OwnedFd TemporaryFile() {
  std::string path = testing::TempDir() + "/rouse_standard_XXXXXX";
  OwnedFd file(mkostemp(path.data(), O_CLOEXEC));
  EXPECT_TRUE(file.IsValid());
  unlink(path.c_str());
  return file;
}

// Writes all of `data` to any kind of file with room for it.
inline void Put(int fd, std::string_view data) {
  ASSERT_EQ(write(fd, data.data(), data.size()),
            static_cast<ssize_t>(data.size()));
}

inline StandardInput Input(int fd) {
  return StandardInput(fd, "standard input");
}
inline StandardOutput Output(int fd) {
  return StandardOutput(fd, "standard output");
}

inline bool IsNonBlocking(int fd) {
  return (fcntl(fd, F_GETFL) & O_NONBLOCK) != 0;
}

// Returns all bytes of a file.
inline std::string ContentOf(int fd) {
  struct stat status;
  EXPECT_EQ(fstat(fd, &status), 0);
  std::string bytes(static_cast<size_t>(status.st_size), '\0');
  EXPECT_EQ(pread(fd, bytes.data(), bytes.size(), 0),
            static_cast<ssize_t>(bytes.size()));
  return bytes;
}

}  // namespace rouse::internal

#endif  // ROUSE_PROCESS_STANDARD_STREAMS_FIXTURE_H_
