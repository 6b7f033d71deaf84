// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: thread_local.h
// -----------------------------------------------------------------------------
//
// Thread-local objects for a model: each thread of the model has its own
// object. Code under test uses `rouse::ThreadLocal` (base/thread_local.h).

#ifndef ROUSE_TESTING_MODEL_THREAD_LOCAL_H_
#define ROUSE_TESTING_MODEL_THREAD_LOCAL_H_

#include <memory>

#include "rouse/testing/model/execution.h"

namespace rouse::model {

// ThreadLocal
//
// An object for each thread. A thread's first call of `Get()` constructs the
// object. When the thread ends, the objects are destroyed in reverse order of
// construction. Outside a model, the whole program shares one object, which is
// never destroyed.
template <class T, class Tag>
class ThreadLocal {
 public:
  ThreadLocal() = delete;

  // Returns the calling thread's object.
  static T& Get() {
    Execution* execution = Execution::current();
    if (execution == nullptr) {
      static T& outside = *new T();
      return outside;
    }
    return *static_cast<T*>(execution->ThreadLocal(
        &key_, [] { return std::shared_ptr<void>(std::make_shared<T>()); }));
  }

 private:
  static inline char key_;
};

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_THREAD_LOCAL_H_
