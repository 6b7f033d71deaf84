// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: trace.h
// -----------------------------------------------------------------------------
//
// Records what the threads of an execution do. Internal to the model checker.

#ifndef ROUSE_TESTING_MODEL_TRACE_H_
#define ROUSE_TESTING_MODEL_TRACE_H_

#include <string>
#include <vector>

#include "rouse/testing/model/site.h"

namespace rouse::model {

// Trace
//
// The events of an execution, in the order in which they occurred. Building an
// event's text is expensive, so callers check `enabled()` first.
class Trace {
 public:
  void Enable() { enabled_ = true; }
  bool enabled() const { return enabled_; }

  // Forgets the events, for a new execution.
  void Clear() { events_.clear(); }

  // Records an event at a step of the execution.
  void Note(int thread, int step, std::string text, const Site& site);

  // Returns a line for each event.
  std::string Text() const;

 private:
  struct Event {
    int thread;
    int step;
    std::string text;
    Site site;
  };

  bool enabled_ = false;
  std::vector<Event> events_;
};

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_TRACE_H_
