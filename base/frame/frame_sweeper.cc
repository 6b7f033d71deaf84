// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/frame/frame_sweeper.h"

#include <atomic>

#include "absl/base/attributes.h"
#include "rouse/base/frame/frame_depot.h"
#include "rouse/base/thread_mutex.h"

#ifndef ROUSE_TWIN
#include <pthread.h>
#include <signal.h>

#include <cerrno>
#include <cstdio>
#include <initializer_list>
#include <thread>

#include "rouse/base/futex.h"
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
  // The exchange comes before any check, so that later news sets the flag
  // again. Acquire pairs with the release of Notify.
  news_.exchange(0, std::memory_order_acquire);
  bool has_more = false;
  {
    const ThreadMutexLock lock(&mu_);
    ++sweep_;
  }
  for (;;) {
    // Clients can come and go between steps.
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

#ifdef ROUSE_TWIN

// Models call Sweep() themselves, and the simulator does without.
void FrameSweeper::Wake() noexcept {}

#else

void FrameSweeper::Wake() noexcept {
  // Relaxed: the sweeper's thread uses nothing that this thread has written,
  // except news_.
  if (has_thread_.exchange(true, std::memory_order_relaxed)) {
    return FutexWakeOne(news_);
  }
  // The thread handles none of the program's signals, except for its own
  // faults.
  sigset_t blocked;
  sigset_t before;
  sigfillset(&blocked);
  for (const int fault : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP}) {
    sigdelset(&blocked, fault);
  }
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  // This is not a `Thread`, because every library with frames would then depend
  // on `Thread` and on absl/status.
  pthread_t thread;
  const int error = pthread_create(
      &thread, nullptr,
      [](void* sweeper) -> void* {
        pthread_setname_np(pthread_self(), "rouse-frames");
        static_cast<FrameSweeper*>(sweeper)->RunThread();
        return nullptr;
      },
      this);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error == 0) {
    pthread_detach(thread);
    return;
  }
  // Relaxed: the flag orders nothing.
  static std::atomic<bool> has_warned{false};
  if (!has_warned.exchange(true, std::memory_order_relaxed)) {
    // "%m" describes errno, and allocates nothing: memory may be short here.
    errno = error;
    std::fprintf(
        stderr,
        "rouse: FramePool cannot start the thread that returns free memory to "
        "the system: %m; call FramePool::Trim() to return the memory\n");
  }
  // The next thread with news tries again. Relaxed: nothing was handed to a
  // thread.
  has_thread_.store(false, std::memory_order_relaxed);
  news_.store(0, std::memory_order_relaxed);
}

void FrameSweeper::RunThread() {
  for (;;) {
    while (!HasNews()) FutexWait(news_, 0);
    do {
      std::this_thread::sleep_for(kPeriod);
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
