// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: start.h
// -----------------------------------------------------------------------------
//
// Internal to process/: starts a child process as a `StartPlan` says.

#ifndef ROUSE_PROCESS_START_H_
#define ROUSE_PROCESS_START_H_

#include <sys/resource.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse::internal {

// StartPlan
//
// What a child does between its creation and its program. The child takes the
// steps in the order of the members.
struct StartPlan {
  // A descriptor of the calling process, and its number in the child. No `from`
  // may be the `to` of another element.
  struct Descriptor {
    int from;
    int to;
  };
  struct Limit {
    int resource;
    rlimit values;
  };

  bool new_session = false;
  std::optional<pid_t> process_group;
  std::vector<Descriptor> descriptors;
  std::vector<Limit> limits;
  std::optional<std::vector<gid_t>> groups;  // supplementary
  std::optional<gid_t> gid;
  std::optional<uid_t> uid;
  std::optional<std::string> directory;
  // A path or, without a slash, a name to be searched in the PATH of the
  // calling process.
  std::string program;
  std::vector<std::string> args;  // with the program's name
  std::vector<std::string> environment;
};

struct StartedProcess {
  pid_t pid;
  OwnedFd pidfd;
};

// Starts a child. Blocks until the program has been loaded, or a step has
// failed: the error names the step, and the child has been waited for. In the
// child no signal is blocked, ignored signals except SIGPIPE stay ignored, all
// other signals have their default action, and the timer slack is 50
// microseconds, as usual.
absl::StatusOr<StartedProcess> StartProcess(const StartPlan& plan);

}  // namespace rouse::internal

#endif  // ROUSE_PROCESS_START_H_
