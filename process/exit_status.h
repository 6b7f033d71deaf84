// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: exit_status.h
// -----------------------------------------------------------------------------
//
// How a child process has ended:
//
//   if (!status.IsSuccess()) LOG(ERROR) << "make: " << absl::StrCat(status);

#ifndef ROUSE_PROCESS_EXIT_STATUS_H_
#define ROUSE_PROCESS_EXIT_STATUS_H_

#include "rouse/base/cxx20.h"

#include <sys/wait.h>

#include <optional>

#include "absl/strings/str_format.h"

namespace rouse {

// ExitStatus
//
// The code returned by a process, or the signal that has ended the process. A
// value.
class ExitStatus {
 public:
  // Takes the status that waitpid(2) returns for a process that has ended.
  explicit ExitStatus(int raw) : raw_(raw) {}

  // Returns whether the process returned 0.
  bool IsSuccess() const { return code() == 0; }

  // Returns the code, 0 to 255, or nothing if a signal has ended the process.
  std::optional<int> code() const {
    if (!WIFEXITED(raw_)) return std::nullopt;
    return WEXITSTATUS(raw_);
  }

  // Returns the signal that has ended the process, or nothing.
  std::optional<int> signal() const {
    if (!WIFSIGNALED(raw_)) return std::nullopt;
    return WTERMSIG(raw_);
  }

  // Returns the status of waitpid(2).
  int raw() const { return raw_; }

  friend bool operator==(ExitStatus, ExitStatus) = default;

  // Formats the status as "exit code 3" or "signal 9".
  template <class Sink>
  friend void AbslStringify(Sink& sink, ExitStatus status) {
    if (status.code().has_value()) {
      absl::Format(&sink, "exit code %d", *status.code());
    } else {
      absl::Format(&sink, "signal %d", WTERMSIG(status.raw_));
    }
  }

 private:
  int raw_;
};

}  // namespace rouse

#endif  // ROUSE_PROCESS_EXIT_STATUS_H_
