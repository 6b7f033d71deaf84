// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: peer_process.h
// -----------------------------------------------------------------------------
//
// Helpers for tests against programs from other projects.

#ifndef ROUSE_TESTING_INTERNAL_PEER_PROCESS_H_
#define ROUSE_TESTING_INTERNAL_PEER_PROCESS_H_

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
#include "rouse/testing/internal/unix_fixture.h"

namespace rouse {

// Returns whether `program` is installed.
bool IsInstalled(std::string_view program);

// Skips the test if `program` is not installed.
#define ROUSE_SKIP_WITHOUT(program)                       \
  if (!::rouse::IsInstalled(program)) {                   \
    GTEST_SKIP() << "there is no " << (program)           \
                 << " here: install it to run this test"; \
  }                                                       \
  static_assert(true, "")

// PeerProcess
//
// Runs a program with pipes to its standard input and from its standard output
// and error. Needs a current reactor. The destructor kills the program if it is
// still running.
class PeerProcess {
 public:
  // Starts the program. REQUIRES: `args` begins with the name of an installed
  // program.
  explicit PeerProcess(const std::vector<std::string>& args);
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;
  ~PeerProcess();

  // The pipes are null after they have been closed.
  std::unique_ptr<PipeWriter> in;
  std::unique_ptr<PipeReader> out;
  std::unique_ptr<PipeReader> err;

  // Writes `input`, closes the input, and reads all of the output.
  Co<absl::StatusOr<std::string>> Communicate(std::string_view input);

  // Reads `from` up to the first line that contains `word`.
  static Co<absl::StatusOr<std::string>> FindLine(const PipeReader& from,
                                                  std::string_view word);

  // Blocks the calling thread until the program ends. Returns whether the
  // program succeeded.
  bool HasSucceeded();

 private:
  Co<absl::Status> Feed(std::string_view input);

  pid_t pid_ = -1;  // -1 after the program has ended
};

// A test with a unique name for each object that a peer needs.
using PeerTest = UnixTest;

}  // namespace rouse

#endif  // ROUSE_TESTING_INTERNAL_PEER_PROCESS_H_
