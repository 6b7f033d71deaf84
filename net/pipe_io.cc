#include "rouse/net/pipe_io.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse::internal {
namespace {

// More than that in one call gains nothing.
constexpr int kMaxParts = 64;

bool IsPipe(int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);
}

// While it lives SIGPIPE does not reach this thread. One that has come
// meanwhile is taken back.
class NoSigPipe {
 public:
  NoSigPipe() {
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  NoSigPipe(const NoSigPipe&) = delete;
  NoSigPipe& operator=(const NoSigPipe&) = delete;
  ~NoSigPipe() {
    // If it was blocked before it is its owner's business, also whether one is
    // pending.
    if (sigismember(&before_, SIGPIPE) == 1) return;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

  // After a write that has failed with EPIPE.
  void TakeBack() const {
    if (sigismember(&before_, SIGPIPE) == 1) return;
    const timespec now = {};
    while (sigtimedwait(&sigpipe_, nullptr, &now) < 0 && errno == EINTR) {
    }
  }

 private:
  sigset_t sigpipe_;
  sigset_t before_;
};

}  // namespace

absl::StatusOr<std::pair<PipeEnd, PipeEnd>> PipeEnd::OpenPair() {
  int fds[2];
  if (pipe2(fds, O_NONBLOCK | O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "pipe2");
  }
  return std::pair(PipeEnd(OwnedFd(fds[0])), PipeEnd(OwnedFd(fds[1])));
}

absl::StatusOr<PipeEnd> PipeEnd::OpenFifo(const std::string& path, int mode) {
  OwnedFd fd(open(path.c_str(), mode | O_NONBLOCK | O_CLOEXEC));
  if (!fd.IsValid()) {
    return absl::ErrnoToStatus(errno, absl::StrCat("open the FIFO ", path));
  }
  if (!IsPipe(fd.get())) {
    return absl::InvalidArgumentError(absl::StrCat("not a FIFO: ", path));
  }
  return PipeEnd(std::move(fd));
}

absl::StatusOr<PipeEnd> PipeEnd::Adopt(OwnedFd fd, int mode) {
  const int flags = fcntl(fd.get(), F_GETFL);
  if (flags < 0) return absl::ErrnoToStatus(errno, "fcntl(F_GETFL)");
  if (!IsPipe(fd.get())) return absl::InvalidArgumentError("not a pipe");
  const int found = flags & O_ACCMODE;
  if (found != mode && found != O_RDWR) {
    return absl::InvalidArgumentError(mode == O_RDONLY
                                          ? "not the reading end of a pipe"
                                          : "not the writing end of a pipe");
  }
  if (fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK) != 0) {
    return absl::ErrnoToStatus(errno, "fcntl(O_NONBLOCK)");
  }
  if (fcntl(fd.get(), F_SETFD, FD_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "fcntl(FD_CLOEXEC)");
  }
  return PipeEnd(std::move(fd));
}

ssize_t PipeEnd::Read(absl::Span<char> buffer) const {
  return read(fd(), buffer.data(), buffer.size());
}

ssize_t PipeEnd::Write(absl::Span<const std::string_view> parts) const {
  iovec vectors[kMaxParts];
  int count = 0;
  for (const std::string_view part : parts) {
    if (part.empty()) continue;
    if (count == kMaxParts) break;
    vectors[count++] = {const_cast<char*>(part.data()), part.size()};
  }
  ssize_t size;
  int error;
  {
    const NoSigPipe no_signal;
    size = writev(fd(), vectors, count);
    error = errno;
    if (size < 0 && error == EPIPE) no_signal.TakeBack();
  }
  errno = error;
  return size;
}

}  // namespace rouse::internal
