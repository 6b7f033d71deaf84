// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: frame_blocks.h
// -----------------------------------------------------------------------------
//
// Defines helpers for the tests of `FramePool`.

#ifndef ROUSE_TESTING_INTERNAL_FRAME_BLOCKS_H_
#define ROUSE_TESTING_INTERNAL_FRAME_BLOCKS_H_

#include <cstddef>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "rouse/base/frame/frame_pool.h"

namespace rouse {

// Runs `work` to completion on a new thread.
template <class F>
void OnThread(F work) {
  std::thread thread(work);
  thread.join();
}

// Owns a thread that has run `work`, and that does not end before the object is
// destroyed.
class LastingThread {
 public:
  template <class F>
  explicit LastingThread(F work)
      : thread_([this, work] {
          work();
          worked_.Notify();
          may_end_.WaitForNotification();
        }) {
    worked_.WaitForNotification();
  }
  LastingThread(const LastingThread&) = delete;
  LastingThread& operator=(const LastingThread&) = delete;
  ~LastingThread() {
    may_end_.Notify();
    thread_.join();
  }

 private:
  absl::Notification worked_;
  absl::Notification may_end_;
  std::thread thread_;
};

// Allocates as many blocks of `size` bytes as fit into `bytes`.
inline std::vector<void*> AllocateBytes(size_t bytes, size_t size) {
  std::vector<void*> blocks;
  for (size_t i = 0; i < bytes / size; ++i) {
    blocks.push_back(FramePool::Allocate(size));
  }
  return blocks;
}

inline void FreeAll(const std::vector<void*>& blocks, size_t size) {
  for (void* block : blocks) FramePool::Free(block, size);
}

}  // namespace rouse

#endif  // ROUSE_TESTING_INTERNAL_FRAME_BLOCKS_H_
