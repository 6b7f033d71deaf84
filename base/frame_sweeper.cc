#include "rouse/base/frame_sweeper.h"

#include <atomic>

#include "absl/base/attributes.h"
#include "absl/time/clock.h"
#include "rouse/base/frame_depot.h"
#include "rouse/base/thread_mutex.h"

#ifndef ROUSE_MODEL
#include <pthread.h>
#include <signal.h>

#include <initializer_list>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/log/log.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/futex.h"
#include "rouse/base/thread.h"
#endif

namespace rouse::internal {

void FrameSweeper::Add(Client* client) {
  {
    const ThreadMutexLock lock(&mu_);
    client->sweep_ = sweep_;
    clients_.PushBack(client);
  }
  Notify();
}

void FrameSweeper::Remove(Client* client) {
  const ThreadMutexLock lock(&mu_);
  client->Unlink();
}

bool FrameSweeper::Sweep(Kind kind) noexcept {
  const ThreadMutexLock sweep_lock(&sweep_mu_);
  // Before it looks at anything: what comes later is news again. Acquire pairs
  // with the release of Notify.
  news_.exchange(0, std::memory_order_acquire);
  bool has_more = false;
  {
    const ThreadMutexLock lock(&mu_);
    ++sweep_;
  }
  for (;;) {
    // Between steps, clients come and go.
    const ThreadMutexLock lock(&mu_);
    Client* const client = clients_.Front();
    if (client == nullptr || client->sweep_ == sweep_) break;
    if (client->SweepStep(kind)) continue;
    has_more |= client->HasMore();
    client->sweep_ = sweep_;
    client->Unlink();
    clients_.PushBack(client);
  }
  if (kind == Kind::kAll) {
    TheFrameDepot().ReleaseAll();
  } else {
    has_more |= TheFrameDepot().Age();
  }
  return has_more;
}

#ifdef ROUSE_MODEL

// Models call Sweep().
void FrameSweeper::Wake() noexcept {}

#else

namespace {

absl::StatusOr<Thread> StartThread(absl::AnyInvocable<void() &&> body) {
  ROUSE_TRY { return Thread::Start("rouse-frames", std::move(body)); }
  ROUSE_CATCH_ALL {
    return absl::ResourceExhaustedError("no memory for a thread");
  }
}

}  // namespace

void FrameSweeper::Wake() noexcept {
  // Relaxed: the thread uses nothing that this one has written but news_.
  if (has_thread_.exchange(true, std::memory_order_relaxed)) {
    return FutexWakeOne(news_);
  }
  // It handles none of the program's signals, but for its own faults.
  sigset_t blocked;
  sigset_t before;
  sigfillset(&blocked);
  for (const int fault : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP}) {
    sigdelset(&blocked, fault);
  }
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  absl::StatusOr<Thread> thread = StartThread([this] { RunThread(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (thread.ok()) return thread->Detach();
  LOG_FIRST_N(WARNING, 1)
      << "FramePool: keeps free memory until FramePool::Trim() is called, for "
         "lack of a thread that gives it back: "
      << thread.status();
  // Whoever has news next tries again.
  has_thread_.store(false, std::memory_order_relaxed);
  news_.store(0, std::memory_order_relaxed);
}

void FrameSweeper::RunThread() {
  for (;;) {
    while (!HasNews()) FutexWait(news_, 0);
    do {
      absl::SleepFor(kPeriod);
    } while (Sweep(Kind::kAging));
  }
}

#endif

FrameSweeper& TheFrameSweeper() {
  union Immortal {
    constexpr Immortal() : sweeper() {}
    ~Immortal() {}
    FrameSweeper sweeper;
  };
  ABSL_CONST_INIT static Immortal immortal;
  return immortal.sweeper;
}

}  // namespace rouse::internal
