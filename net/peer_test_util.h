// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: peer_test_util.h
// -----------------------------------------------------------------------------
//
// For tests with programs that are not ours.

#ifndef ROUSE_NET_PEER_TEST_UTIL_H_
#define ROUSE_NET_PEER_TEST_UTIL_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/net/pipe.h"
#include "rouse/net/unix/unix_test_util.h"

namespace rouse {

// Whether `program` is installed.
bool IsInstalled(std::string_view program);

// Leaves the test if it is not.
#define ROUSE_SKIP_WITHOUT(program)                       \
  if (!::rouse::IsInstalled(program)) {                   \
    GTEST_SKIP() << "there is no " << (program)           \
                 << " here: install it to run this test"; \
  }                                                       \
  static_assert(true, "")

// PeerProcess
//
// A program with pipes to its standard input and output and from its standard
// error. Needs a current reactor. Killed, if it still runs, when it is
// destroyed.
class PeerProcess {
 public:
  // `args` begins with the program, which is installed.
  explicit PeerProcess(const std::vector<std::string>& args);
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;
  ~PeerProcess();

  // Null once it has been closed.
  std::unique_ptr<PipeWriter> in;
  std::unique_ptr<PipeReader> out;
  std::unique_ptr<PipeReader> err;

  // Writes `input`, closes the input, and reads all of the output.
  Co<absl::StatusOr<std::string>> Communicate(std::string_view input);

  // Reads `from` to the first line that has `word` in it.
  static Co<absl::StatusOr<std::string>> FindLine(const PipeReader& from,
                                                  std::string_view word);

  // Waits until it ends: the thread is blocked. Whether it has succeeded.
  bool HasSucceeded();

 private:
  Co<absl::Status> Feed(std::string_view input);

  pid_t pid_ = -1;  // -1 when it has ended
};

// A test with a name for each thing that a peer needs.
using PeerTest = UnixTest;

}  // namespace rouse

#endif  // ROUSE_NET_PEER_TEST_UTIL_H_
