// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: thread_local.h
// -----------------------------------------------------------------------------
//
// Thread-local objects of the virtual machine's threads. Code under test uses
// base/thread_local.h.

#ifndef ROUSE_TESTING_SCALING_THREAD_LOCAL_H_
#define ROUSE_TESTING_SCALING_THREAD_LOCAL_H_

#include <memory>

#include "rouse/testing/scaling/machine.h"

namespace rouse::scaling {

// ThreadLocal
//
// An object for each thread, which is destroyed when the thread ends. Without a
// machine, the whole program shares one object.
template <class T, class Tag>
class ThreadLocal {
 public:
  ThreadLocal() = delete;

  static T& Get() {
    Machine* const machine = Machine::current();
    if (machine == nullptr) {
      static T& outside = *new T();
      return outside;
    }
    return *static_cast<T*>(machine->ThreadLocal(
        &key_, [] { return std::shared_ptr<void>(std::make_shared<T>()); }));
  }

 private:
  static inline char key_;
};

}  // namespace rouse::scaling

#endif  // ROUSE_TESTING_SCALING_THREAD_LOCAL_H_
