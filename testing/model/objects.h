// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: objects.h
// -----------------------------------------------------------------------------
//
// The shared objects of an execution: atomics, mutexes, condition variables and
// the queues of futexes. Internal to the model checker.

#ifndef ROUSE_TESTING_MODEL_OBJECTS_H_
#define ROUSE_TESTING_MODEL_OBJECTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rouse/testing/model/memory.h"
#include "rouse/testing/model/site.h"
#include "rouse/testing/model/vector_clock.h"

namespace rouse::model {

// ObjectHandle
//
// Identifies a shared object in the current execution. An object that outlives
// the execution begins anew in the next execution, with its first value.
struct ObjectHandle {
  uint32_t execution = 0;
  int32_t id = -1;
};

// Kinds of objects that the checker treats differently from others.
inline constexpr std::string_view kMutex = "mutex";
inline constexpr std::string_view kFutex = "futex";

struct Object {
  // Returns whether the object's construction happens before the next step of a
  // thread with this happens-before clock.
  bool IsMadeFor(const VectorClock& happened) const {
    return maker < 0 || happened[maker] >= made_at;
  }

  const void* address = nullptr;
  std::string_view kind;
  Site made;
  int maker = -1;  // -1: made before the execution, or unknown
  uint16_t made_at = 0;
  bool destroyed = false;
  VectorClock accesses;
  // The thread that holds the mutex.
  int owner = -1;
  View view;  // of a mutex or a queue
  std::vector<int> waiters;
};

// Objects
//
// The objects of an execution, by number. Each object has the location of the
// same number in `Memory`.
class Objects {
 public:
  explicit Objects(Memory& memory) : memory_(memory) {}
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;

  // Forgets all objects, for a new execution.
  void BeginExecution();

  // Returns the number of a new object. `kind` must be a string literal.
  int New(const void* address, uint64_t value, std::string_view kind,
          const Site& site);
  // Does the same, and makes the handle identify the object.
  void New(ObjectHandle& handle, const void* address, uint64_t value,
           std::string_view kind, const Site& site) {
    handle.id = New(address, value, kind, site);
    handle.execution = execution_;
  }
  // Returns the number of the handle's object. The first use in an execution
  // makes the object, with the value `initial`.
  int Resolve(ObjectHandle& handle, const void* address, uint64_t initial,
              std::string_view kind, const Site& site) {
    if (!Contains(handle)) New(handle, address, initial, kind, site);
    return handle.id;
  }
  bool Contains(const ObjectHandle& handle) const {
    return handle.execution == execution_;
  }

  Object& operator[](int number) { return objects_[number]; }
  const Object& operator[](int number) const { return objects_[number]; }
  int count() const { return count_; }

  // Returns an object as the checker's messages name it: "mutex #3 of x.cc:7".
  std::string Describe(int number) const;

 private:
  Memory& memory_;
  uint32_t execution_ = 0;
  std::vector<Object> objects_;  // beyond `count_`, unused
  int count_ = 0;
};

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_OBJECTS_H_
