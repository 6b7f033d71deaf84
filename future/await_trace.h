// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: await_trace.h
// -----------------------------------------------------------------------------
//
// `AwaitTrace` shows where an unfinished future waits. A trace lists the
// coroutines that await one another, from the outermost to the innermost, each
// with the location of its `co_await`, and finally the future awaited by the
// innermost coroutine.
//
//   rouse::Co<> serve = Serve(stream);
//   ... poll it ...
//   rouse::AwaitTrace trace;
//   trace.Add(serve);
//   std::cout << trace.ToString();
//
//   Serve at server.cc:88
//   ReadFrame at frame.cc:21
//   awaiting rouse::TcpStream::ReadFuture
//
// A future that waits for several futures at once has a branch for each:
//
//   Serve at server.cc:88
//   awaiting Select
//   - ReadFrame at frame.cc:21
//     awaiting rouse::TcpStream::ReadFuture
//   - awaiting rouse::Sleep
//
// # Cost
//
// A coroutine keeps the location in its frame, in 8 bytes, and writes it at
// every `co_await`, in two instructions. (With g++ 12, the frame grows by 8
// more bytes for each `co_await` in the source.) All other work is done when a
// trace is requested.
//
// # User-defined futures
//
// A combinator, which is a future made of other futures, describes its branches
// with a member function. Without the function, the combinator is shown as a
// leaf:
//
//   void Trace(rouse::AwaitTrace& trace) const {
//     rouse::AwaitTrace::Branches branches(trace, "Both");
//     branches.Add(first_);
//     branches.Add(second_);
//   }
//
// `Trace()` can be called on any thread, between two polls and never during a
// poll. `Trace()` must change nothing, and must read only data that no other
// thread writes in the meantime. The function must be short and must not block.
// Nor may it list tasks or shut down their scheduler, because both operations
// would wait for `Trace()` to return.

#ifndef ROUSE_FUTURE_AWAIT_TRACE_H_
#define ROUSE_FUTURE_AWAIT_TRACE_H_

#include "rouse/base/cxx20.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"

namespace rouse {

class AwaitTrace;

// Satisfied by futures and streams that report where they wait.
template <class F>
concept Traceable = requires(const F& future, AwaitTrace& trace) {
  { future.Trace(trace) } -> std::same_as<void>;
};

namespace internal {

// Returns a string that contains the name of `T` between two parts independent
// of `T`.
template <class T>
constexpr std::string_view NameOfTypeWithin() {
  return std::source_location::current().function_name();
}

// Returns the name of `T` as the compiler writes it. The result remains valid
// forever.
template <class T>
constexpr std::string_view TypeName() {
  constexpr std::string_view kKnown = "double";
  constexpr std::string_view kWithin = NameOfTypeWithin<double>();
  constexpr size_t kBefore = kWithin.find(kKnown);
  constexpr size_t kAbout = kWithin.size() - kKnown.size();
  constexpr std::string_view kName = NameOfTypeWithin<T>();
  return kName.substr(kBefore, kName.size() - kAbout);
}

// Extracts a function's name with its scopes from the compiler's description
// `function`, without return type, parameters and template arguments.
std::string_view ShortFunctionName(std::string_view function);

}  // namespace internal

// AwaitTrace
//
// Value type, not thread-safe. The length of a trace has no limit except the
// length of the chain.
class AwaitTrace {
 public:
  // Describes a coroutine, or another future, of the chain.
  struct Step {
    // What the step describes.
    enum class Kind : uint8_t {
      kAwait,     // a coroutine
      kLeaf,      // an awaited future that awaits nothing
      kBranches,  // a combinator that waits for the following branches
    };

    Kind kind;
    // True if a branch begins here.
    bool begins_branch;
    // Number of combinators that enclose the step.
    uint32_t depth;
    // Name of a function or a type. The name remains valid forever.
    std::string_view name;
    // Location of a coroutine's `co_await`. The line is one of the lines of the
    // expression.
    std::source_location where;
    // Further information about a leaf; may be empty.
    std::string detail;
  };

  // Branches
  //
  // Adds the step of a combinator, and is the scope for adding the awaited
  // futures. `name` must remain valid forever.
  class Branches {
   public:
    Branches(AwaitTrace& trace, std::string_view name) : trace_(trace) {
      trace_.AddStep(Step::Kind::kBranches, name);
      ++trace_.depth_;
    }
    Branches(const Branches&) = delete;
    Branches& operator=(const Branches&) = delete;
    ~Branches() {
      --trace_.depth_;
      trace_.begins_branch_ = false;
    }

    // Adds the steps of a future that the combinator awaits.
    template <class F>
    void Add(const F& future) {
      trace_.begins_branch_ = true;
      trace_.Add(future);
    }

   private:
    AwaitTrace& trace_;
  };

  // Adds the steps that `future` reports in `Trace()`. A `future` without
  // `Trace()` is added as a leaf.
  // REQUIRES: `future` is not being polled and has not ended.
  template <class F>
  void Add(const F& future) {
    if constexpr (Traceable<F>) {
      future.Trace(*this);
    } else {
      AddLeaf(internal::TypeName<F>());
    }
  }

  // Adds a coroutine that awaits at `where`.
  void AddAwait(const std::source_location& where);

  // Adds an awaited future as a leaf. `type` must remain valid forever.
  void AddLeaf(std::string_view type, std::string detail = "");

  // Returns the steps, beginning with the outermost.
  const std::vector<Step>& steps() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return steps_;
  }

  // Returns the trace with a line for each step, indented by `indent` spaces.
  std::string ToString(size_t indent = 0) const;

  template <class Sink>
  friend void AbslStringify(Sink& sink, const AwaitTrace& trace) {
    sink.Append(trace.ToString());
  }

 private:
  Step& AddStep(Step::Kind kind, std::string_view name);

  std::vector<Step> steps_;
  uint32_t depth_ = 0;
  // True if the next step begins a branch.
  bool begins_branch_ = false;
};

}  // namespace rouse

#endif  // ROUSE_FUTURE_AWAIT_TRACE_H_
