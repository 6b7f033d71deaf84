// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs coroutines in an event loop that is not Rouse's: a loop around poll(2),
// which stands for the loop of a window system, a game or an older server.
//
//   printf 'one\ntwo words\n' | tools/bazel run //examples/foreign_loop

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_split.h"
#include "rouse/future/co.h"
#include "rouse/future/join.h"
#include "rouse/sync/mpsc.h"
#include "rouse/sync/oneshot.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace {

using Lines = rouse::mpsc::UnboundedSender<std::string>;

// A line, and where to send the number of its words.
struct Request {
  Request(std::string line, rouse::oneshot::Sender<size_t> answer)
      : line(std::move(line)), answer(std::move(answer)) {}

  std::string line;
  rouse::oneshot::Sender<size_t> answer;
};

// Asks a worker thread about each line. No coroutine knows the loop.
rouse::Co<> Answer(rouse::mpsc::UnboundedReceiver<std::string> lines,
                   rouse::mpsc::Sender<Request> worker,
                   rouse::mpsc::Sender<size_t> sum) {
  while (std::optional<std::string> line = co_await lines.Receive()) {
    auto [sender, receiver] = rouse::oneshot::Channel<size_t>();
    Request request(*line, std::move(sender));
    absl::Status sent = co_await worker.Send(std::move(request));
    absl::StatusOr<size_t> words = co_await receiver;
    if (!sent.ok() || !words.ok()) co_return;
    printf("%s: %zu words\n", line->c_str(), *words);
    (void)co_await sum.Send(*words);
  }
}

rouse::Co<> Sum(rouse::mpsc::Receiver<size_t> numbers) {
  size_t sum = 0;
  while (std::optional<size_t> number = co_await numbers.Receive()) {
    sum += *number;
  }
  printf("in all: %zu words\n", sum);
}

// Runs on a thread of its own, which may block.
void CountWords(rouse::mpsc::Receiver<Request> requests) {
  while (std::optional<Request> request = requests.BlockingReceive()) {
    const std::vector<std::string_view> words =
        absl::StrSplit(request->line, ' ', absl::SkipEmpty());
    request->answer.Send(words.size());
  }
}

// An eventfd, by which any thread ends the poll(2) of the loop.
class Doorbell {
 public:
  Doorbell() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;
  ~Doorbell() { close(fd_); }

  int fd() const { return fd_; }
  void Ring() const { eventfd_write(fd_, 1); }
  void Clear() const {
    eventfd_t rings;
    eventfd_read(fd_, &rings);
  }

 private:
  const int fd_;
};

// Reads from standard input and sends the complete lines. Returns false at the
// end of the input. `rest` is the beginning of the next line.
bool ReadLines(std::string& rest, const Lines& lines) {
  char buffer[4096];
  const ssize_t size = read(STDIN_FILENO, buffer, sizeof(buffer));
  if (size < 0) return errno == EINTR || errno == EAGAIN;
  rest.append(buffer, size);
  if (size == 0 && !rest.empty()) rest.push_back('\n');
  for (size_t end; (end = rest.find('\n')) != std::string::npos;) {
    (void)lines.Send(rest.substr(0, end));
    rest.erase(0, end + 1);
  }
  return size > 0;
}

}  // namespace

int main() {
  setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // an answer appears at once
  auto [lines, received] = rouse::mpsc::UnboundedChannel<std::string>();
  auto [worker, requests] = rouse::mpsc::Channel<Request>(8);
  auto [sum, numbers] = rouse::mpsc::Channel<size_t>(8);
  const std::jthread thread(CountWords, std::move(requests));
  auto tasks = rouse::Join(
      Answer(std::move(received), std::move(worker), std::move(sum)),
      Sum(std::move(numbers)));

  // Shared, because a waker may outlive this function.
  const auto doorbell = std::make_shared<const Doorbell>();
  const rouse::Waker waker =
      rouse::Waker::FromCallable([doorbell] { doorbell->Ring(); });
  std::optional<Lines> input(std::move(lines));
  std::string rest;
  doorbell->Ring();  // for the first poll of the coroutines
  for (;;) {
    pollfd fds[] = {{doorbell->fd(), POLLIN, 0},
                    {input.has_value() ? STDIN_FILENO : -1, POLLIN, 0}};
    if (doorbell->fd() < 0 || (poll(fds, 2, -1) < 0 && errno != EINTR)) {
      perror("foreign_loop: cannot wait for events");
      return 1;
    }
    if (fds[1].revents != 0 && !ReadLines(rest, *input)) input.reset();
    if (fds[0].revents == 0) continue;
    // Before the coroutines run, because a wake meanwhile asks for another run.
    doorbell->Clear();
    rouse::Context cx(waker);
    if (tasks.Poll(cx).IsReady()) return 0;
  }
}
