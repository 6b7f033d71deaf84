// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/internal/peer_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/future/try_join.h"
#include "rouse/io/read.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/write_all.h"
#include "rouse/net/pipe.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse {

bool IsInstalled(std::string_view program) {
  const char* path = getenv("PATH");
  if (path == nullptr) return false;
  for (const std::string_view directory : absl::StrSplit(path, ':')) {
    if (access(absl::StrCat(directory, "/", program).c_str(), X_OK) == 0) {
      return true;
    }
  }
  return false;
}

PeerProcess::PeerProcess(const std::vector<std::string>& args) {
  posix_spawn_file_actions_t actions;
  EXPECT_EQ(posix_spawn_file_actions_init(&actions), 0);
  OwnedFd ours[3];
  OwnedFd theirs[3];
  for (int fd = 0; fd < 3; ++fd) {
    int fds[2];
    EXPECT_EQ(pipe2(fds, O_CLOEXEC), 0);
    ours[fd] = OwnedFd(fds[fd == 0 ? 1 : 0]);
    theirs[fd] = OwnedFd(fds[fd == 0 ? 0 : 1]);
    EXPECT_EQ(posix_spawn_file_actions_adddup2(&actions, theirs[fd].get(), fd),
              0);
  }
  std::vector<char*> argv;
  for (const std::string& arg : args) {
    argv.push_back(const_cast<char*>(arg.c_str()));
  }
  argv.push_back(nullptr);
  EXPECT_EQ(
      posix_spawnp(&pid_, argv[0], &actions, nullptr, argv.data(), environ), 0)
      << args[0];
  EXPECT_EQ(posix_spawn_file_actions_destroy(&actions), 0);
  in = std::make_unique<PipeWriter>(
      PipeWriter::FromFd(std::move(ours[0])).value());
  out = std::make_unique<PipeReader>(
      PipeReader::FromFd(std::move(ours[1])).value());
  err = std::make_unique<PipeReader>(
      PipeReader::FromFd(std::move(ours[2])).value());
}

PeerProcess::~PeerProcess() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  HasSucceeded();
}

bool PeerProcess::HasSucceeded() {
  int status = -1;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

Co<absl::Status> PeerProcess::Feed(std::string_view input) {
  co_await OrReturn(WriteAll(*in, input));
  in.reset();
  co_return absl::OkStatus();
}

Co<absl::StatusOr<std::string>> PeerProcess::Communicate(
    std::string_view input) {
  std::string output;
  co_await OrReturn(TryJoin(Feed(input), ReadToEnd(*out, output)));
  co_return output;
}

Co<absl::StatusOr<std::string>> PeerProcess::FindLine(const PipeReader& from,
                                                      std::string_view word) {
  // Reads byte by byte, so that the bytes after the line stay in the pipe.
  std::string line;
  for (;;) {
    char byte;
    const size_t size = co_await OrReturn(Read(from, absl::MakeSpan(&byte, 1)));
    if (size == 0) {
      co_return absl::NotFoundError(absl::StrCat("no line with ", word));
    }
    if (byte != '\n') {
      line += byte;
    } else if (line.find(word) != std::string::npos) {
      co_return line;
    } else {
      line.clear();
    }
  }
}

}  // namespace rouse
