#include "rouse/examples/echo/server.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/log/log.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "rouse/future/co.h"
#include "rouse/future/poll_fn.h"
#include "rouse/future/select.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/scheduler/current.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/timer/timeout.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::echo {
namespace {

constexpr size_t kBufferSize = 4096;

// How long to wait for descriptors when there are none, and how often to say
// so.
constexpr absl::Duration kRetryAccept = absl::Milliseconds(50);
constexpr absl::Duration kLogInterval = absl::Seconds(1);

}  // namespace

// Counts one connection for as long as it is open.
class Connection {
 public:
  explicit Connection(std::shared_ptr<Connections> all) : all_(std::move(all)) {
    // Relaxed, and so below: counting up orders nothing.
    all_->open_.fetch_add(1, std::memory_order_relaxed);
    all_->served_.fetch_add(1, std::memory_order_relaxed);
  }
  Connection(Connection&& other) noexcept = default;
  Connection& operator=(Connection&&) = delete;
  ~Connection() {
    if (all_ == nullptr) return;
    // Release pairs with the acquire in AllClosed: what the connection did
    // comes before it counts as closed.
    if (all_->open_.fetch_sub(1, std::memory_order_release) == 1) {
      all_->all_closed_.Wake();
    }
  }

  void Echoed(size_t bytes) {
    all_->bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }

 private:
  std::shared_ptr<Connections> all_;  // null if moved from
};

Co<> Connections::AllClosed() {
  const auto all_closed = [this](Context& cx) -> PollResult<void> {
    all_closed_.Register(cx.waker());
    if (open_.load(std::memory_order_acquire) > 0) return kPending;
    return {};
  };
  co_await PollFn(all_closed);
}

namespace {

// A connection ends when its peer has sent its last byte, at an error, or when
// no byte has moved for too long; which of these, nobody asks. `connection`
// comes first, and so goes last: when it is counted as closed, it is.
Co<> Echo(Connection connection, TcpStream stream,
          absl::Duration idle_timeout) {
  char buffer[kBufferSize];
  for (;;) {
    const absl::StatusOr<size_t> size =
        co_await Timeout(idle_timeout, stream.Read(absl::MakeSpan(buffer)));
    if (!size.ok() || *size == 0) co_return;
    // `WriteAll()` would not tell how much of it was sent when it fails.
    std::string_view data(buffer, *size);
    while (!data.empty()) {
      const absl::StatusOr<size_t> written =
          co_await Timeout(idle_timeout, stream.Write(data));
      if (!written.ok()) co_return;
      connection.Echoed(*written);
      data.remove_prefix(*written);
    }
  }
}

// Says why there are no new connections, but not for every attempt.
class AcceptErrors {
 public:
  void Log(const absl::Status& error) {
    const Instant now = Now();
    if (now < next_) return;
    next_ = now + kLogInterval;
    LOG(ERROR) << "cannot accept connections, trying again: " << error;
  }

 private:
  Instant next_;
};

}  // namespace

absl::StatusOr<Server> Server::Listen(const SocketAddr& address,
                                      absl::Duration idle_timeout) {
  absl::StatusOr<TcpListener> listener = TcpListener::Bind(address);
  if (!listener.ok()) return listener.status();
  return Server(*std::move(listener), idle_timeout);
}

Co<absl::Status> Server::ServeUntil(Co<absl::Status> stop,
                                    absl::Duration grace) && {
  TcpListener listener = std::move(listener_);
  AcceptErrors errors;
  absl::Status stopped;
  for (;;) {
    auto event = co_await Select(stop, listener.Accept());
    if (event.index() == 0) {
      stopped = std::get<0>(std::move(event));
      break;
    }
    absl::StatusOr<TcpListener::Accepted>& accepted = std::get<1>(event);
    if (accepted.ok()) {
      Spawn(Echo(Connection(connections_), std::move(accepted->stream),
                 idle_timeout_));
      continue;
    }
    if (!absl::IsResourceExhausted(accepted.status())) {
      co_return accepted.status();
    }
    errors.Log(accepted.status());
    auto pause = co_await Select(stop, Sleep(kRetryAccept));
    if (pause.index() == 0) {
      stopped = std::get<0>(std::move(pause));
      break;
    }
  }
  {
    const TcpListener closed = std::move(listener);
  }
  (void)co_await Timeout(grace, connections_->AllClosed());
  co_return stopped;
}

}  // namespace rouse::echo
