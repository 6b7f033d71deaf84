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

#include <sys/wait.h>

#include <optional>

#include "absl/strings/str_format.h"

namespace rouse {

// ExitStatus
//
// Either the code that the process has returned, or the signal that has ended
// it. A value.
class ExitStatus {
 public:
  // From what waitpid(2) gives for a process that has ended.
  explicit ExitStatus(int raw) : raw_(raw) {}

  // Whether it returned 0.
  bool IsSuccess() const { return code() == 0; }

  // What it returned, 0 to 255; nothing if a signal has ended it.
  std::optional<int> code() const {
    if (!WIFEXITED(raw_)) return std::nullopt;
    return WEXITSTATUS(raw_);
  }

  // The signal that has ended it, if one has.
  std::optional<int> signal() const {
    if (!WIFSIGNALED(raw_)) return std::nullopt;
    return WTERMSIG(raw_);
  }

  // What waitpid(2) gave.
  int raw() const { return raw_; }

  friend bool operator==(ExitStatus, ExitStatus) = default;

  // "exit code 3", "signal 9".
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
