// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: await_trace.h
// -----------------------------------------------------------------------------
//
// `AwaitTrace` says where a future that has not ended waits: the coroutines
// that await one another, from the outermost to the innermost, each with the
// place of its `co_await`, and what the innermost waits for.
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
// What waits for several futures at once gives a branch for each:
//
//   Serve at server.cc:88
//   awaiting Select
//   - ReadFrame at frame.cc:21
//     awaiting rouse::TcpStream::ReadFuture
//   - awaiting rouse::Sleep
//
// # What it costs
//
// A coroutine keeps the place in its frame, 8 bytes, and writes it at every
// `co_await`, which is two instructions. (g++ 12 has 8 more in the frame for
// each `co_await` in the source.) All else is done when it is asked for.
//
// # Futures of your own
//
// A future that is made of others, a combinator, says so by a member function,
// and is shown as a leaf if it does not:
//
//   void Trace(rouse::AwaitTrace& trace) const {
//     rouse::AwaitTrace::Branches branches(trace, "Both");
//     branches.Add(first_);
//     branches.Add(second_);
//   }
//
// It is called on any thread, between two polls and during none. It changes
// nothing, and reads only what no other thread writes meanwhile. It is short,
// does not block, and neither lists tasks nor shuts their scheduler down: both
// would wait for it.

#ifndef ROUSE_FUTURE_AWAIT_TRACE_H_
#define ROUSE_FUTURE_AWAIT_TRACE_H_

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

// A future, or a stream, that says itself what it waits for.
template <class F>
concept Traceable = requires(const F& future, AwaitTrace& trace) {
  { future.Trace(trace) } -> std::same_as<void>;
};

namespace internal {

// With the name of `T` in it, and the same about it for every `T`.
template <class T>
constexpr std::string_view NameOfTypeWithin() {
  return std::source_location::current().function_name();
}

// The name of `T` as the compiler writes it. Lasts for ever.
template <class T>
constexpr std::string_view TypeName() {
  constexpr std::string_view kKnown = "double";
  constexpr std::string_view kWithin = NameOfTypeWithin<double>();
  constexpr size_t kBefore = kWithin.find(kKnown);
  constexpr size_t kAbout = kWithin.size() - kKnown.size();
  constexpr std::string_view kName = NameOfTypeWithin<T>();
  return kName.substr(kBefore, kName.size() - kAbout);
}

// Of what a compiler gives as a function's name, the name with its scopes:
// without return type, parameters and template arguments.
std::string_view ShortFunctionName(std::string_view function);

}  // namespace internal

// AwaitTrace
//
// A value; not thread-safe. It has no limit: it is as long as the chain.
class AwaitTrace {
 public:
  struct Step {
    enum class Kind : uint8_t {
      kAwait,     // a coroutine
      kLeaf,      // what is awaited, and awaits nothing
      kBranches,  // what waits for all or any of the branches that follow
    };

    Kind kind;
    // Whether a branch begins here.
    bool begins_branch;
    // Within how many combinators the step is.
    uint32_t depth;
    // A function, or a type. Lasts for ever.
    std::string_view name;
    // Of a coroutine: its `co_await`. The line is one of the expression's.
    std::source_location where;
    // Of a leaf: what else it has to say; may be empty.
    std::string detail;
  };

  // Branches
  //
  // The step of a combinator, and a scope for what it waits for. `name` lasts
  // for ever.
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

    template <class F>
    void Add(const F& future) {
      trace_.begins_branch_ = true;
      trace_.Add(future);
    }

   private:
    AwaitTrace& trace_;
  };

  // What `future` waits for: as it says, or else itself as a leaf.
  // REQUIRES: it is not being polled, and has not ended.
  template <class F>
  void Add(const F& future) {
    if constexpr (Traceable<F>) {
      future.Trace(*this);
    } else {
      AddLeaf(internal::TypeName<F>());
    }
  }

  // A coroutine that awaits at `where`.
  void AddAwait(const std::source_location& where);

  // What is awaited. `type` lasts for ever.
  void AddLeaf(std::string_view type, std::string detail = "");

  const std::vector<Step>& steps() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return steps_;
  }

  // A line for each step, with `indent` spaces before it.
  std::string ToString(size_t indent = 0) const;

  template <class Sink>
  friend void AbslStringify(Sink& sink, const AwaitTrace& trace) {
    sink.Append(trace.ToString());
  }

 private:
  Step& AddStep(Step::Kind kind, std::string_view name);

  std::vector<Step> steps_;
  uint32_t depth_ = 0;
  // Of the step to come.
  bool begins_branch_ = false;
};

}  // namespace rouse

#endif  // ROUSE_FUTURE_AWAIT_TRACE_H_
