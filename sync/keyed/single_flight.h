// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: single_flight.h
// -----------------------------------------------------------------------------
//
// `SingleFlight<K, V>` lets concurrent callers that need the same result share
// one computation. Example: a hundred requests for a page that is not in the
// cache fetch the page once.
//
//   rouse::SingleFlight<std::string, absl::StatusOr<Page>> fetches;
//
//   rouse::Co<absl::StatusOr<Page>> Get(std::string url) {
//     const auto fetch = [&] { return Fetch(url); };
//     co_return co_await fetches.Run(url, fetch);
//   }
//
// Nothing is kept after the computation: the next caller starts another. To
// keep the value, use a `OnceCell`, or a cache in `fetch`.

#ifndef ROUSE_SYNC_KEYED_SINGLE_FLIGHT_H_
#define ROUSE_SYNC_KEYED_SINGLE_FLIGHT_H_

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/macros.h"
#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/future/await_trace.h"
#include "rouse/sync/once/once_cell.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

template <class K, class V, class F>
class SingleFlightFuture;

// SingleFlight
//
// `SingleFlight` is thread-safe and needs no runtime. `K` can be the key of an
// Abseil hash table, and `V` can be copied; use a `std::shared_ptr` for a value
// that is expensive to copy. A run costs one allocation. The runs of all keys
// together have a short thread mutex, taken when a call begins and ends; the
// hash and the comparison of keys run under it.
//
// The object must outlive its futures.
template <class K, class V>
class SingleFlight {
 public:
  SingleFlight() = default;
  SingleFlight(const SingleFlight&) = delete;
  SingleFlight& operator=(const SingleFlight&) = delete;
  ~SingleFlight() { ABSL_ASSERT(size() == 0); }

  // Returns a future of the result for `key`, a `V`. If no run for `key` is in
  // progress, the future starts one at its first poll: the run is the future
  // that `make()` returns, with the output `V` or an argument for a constructor
  // of `V`. Otherwise the future waits for the run, and gives a copy of its
  // result, even if the result is an error. `make` is called at most once by
  // each future, and lives as long as the future of this call.
  //
  // The run belongs to the task of the caller that started it. If that caller's
  // future is destroyed or throws an exception, the turn passes to the caller
  // that has waited longest, which calls its own `make`. Therefore do not keep
  // a future without polling it, because the others wait for it. A `make` that
  // waits for its own key waits forever.
  //
  // A call that is made after the run has ended starts another run. A call that
  // is made while the run ends may get the result of that run.
  template <class F>
    requires std::invocable<std::decay_t<F>&>
  [[nodiscard]] SingleFlightFuture<K, V, std::decay_t<F>> Run(K key, F&& make)
      ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return SingleFlightFuture<K, V, std::decay_t<F>>(*this, std::move(key),
                                                     std::forward<F>(make));
  }

  // Returns the number of keys for which a run is in progress, or for which a
  // call was made and not polled yet.
  size_t size() const ABSL_LOCKS_EXCLUDED(mu_) {
    const ThreadMutexLock lock(&mu_);
    return flights_.size();
  }

 private:
  template <class, class, class>
  friend class SingleFlightFuture;

  struct Flight {
    explicit Flight(K&& key) : key(std::move(key)) {}

    const K key;
    OnceCell<V> result;
    // Under the mutex.
    size_t users = 0;
    bool is_listed = true;
  };

  // Flights are found by their keys.
  struct Hash {
    using is_transparent = void;
    size_t operator()(const K& key) const { return absl::Hash<K>{}(key); }
    size_t operator()(const Flight* flight) const {
      return absl::Hash<K>{}(flight->key);
    }
  };
  struct Equal {
    using is_transparent = void;
    // NOLINTNEXTLINE(bugprone-return-const-ref-from-parameter): used at once
    static const K& KeyOf(const K& key) { return key; }
    static const K& KeyOf(const Flight* flight) { return flight->key; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return KeyOf(a) == KeyOf(b);
    }
  };

  // Returns the flight for `key`, with another user.
  Flight* Join(K&& key) ABSL_LOCKS_EXCLUDED(mu_) {
    const ThreadMutexLock lock(&mu_);
    const auto found = flights_.find(key);
    Flight* flight;
    if (found != flights_.end()) {
      flight = *found;
    } else {
      auto made = std::make_unique<Flight>(std::move(key));
      flights_.insert(made.get());
      flight = made.release();
    }
    ++flight->users;
    return flight;
  }

  // Adds a user to a flight that has one.
  void Add(Flight& flight) ABSL_LOCKS_EXCLUDED(mu_) {
    const ThreadMutexLock lock(&mu_);
    ++flight.users;
  }

  // Makes later calls start another flight.
  void End(Flight& flight) ABSL_LOCKS_EXCLUDED(mu_) {
    const ThreadMutexLock lock(&mu_);
    Unlist(flight);
  }

  // Removes a user of `flight`, and deletes the flight after the last.
  void Leave(Flight* flight) ABSL_LOCKS_EXCLUDED(mu_) {
    std::unique_ptr<Flight> deleted;  // without the mutex
    const ThreadMutexLock lock(&mu_);
    if (--flight->users > 0) return;
    Unlist(*flight);
    deleted.reset(flight);
  }

  void Unlist(Flight& flight) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (std::exchange(flight.is_listed, false)) flights_.erase(&flight);
  }

  mutable ThreadMutex mu_;
  absl::flat_hash_set<Flight*, Hash, Equal> flights_ ABSL_GUARDED_BY(mu_);
};

// SingleFlightFuture
//
// See `SingleFlight::Run()`. Can be moved only before the first poll.
template <class K, class V, class F>
class [[nodiscard]] SingleFlightFuture {
 public:
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  SingleFlightFuture(SingleFlightFuture&&) = default;
  SingleFlightFuture& operator=(SingleFlightFuture&&) = delete;

  PollResult<V> Poll(Context& cx) {
    PollResult<const V&> result = get_.Poll(cx);
    if (result.IsPending()) return kPending;
    use_.flights->End(*use_.flight);
    return PollResult<V>(std::in_place, *result);
  }

  void Trace(AwaitTrace& trace) const { get_.Trace(trace); }

 private:
  friend class SingleFlight<K, V>;
  using Flights = SingleFlight<K, V>;

  template <class Make>
  SingleFlightFuture(Flights& flights, K&& key, Make&& make)
      : use_(flights, std::move(key)),
        get_(use_.flight->result.GetOrInit(std::forward<Make>(make))) {}

  struct Use {
    Use(Flights& flights, K&& key)
        : flights(&flights), flight(flights.Join(std::move(key))) {}
    // The flight has two users, so that a move of the future that panics, or
    // throws, leaves the future as it was.
    Use(const Use& other) : flights(other.flights), flight(other.flight) {
      flights->Add(*flight);
    }
    Use& operator=(const Use&) = delete;
    ~Use() { flights->Leave(flight); }

    Flights* flights;
    typename Flights::Flight* flight;
  };

  Use use_;  // destroyed after `get_`
  GetOrInitFuture<V, F> get_;
};

}  // namespace rouse

#endif  // ROUSE_SYNC_KEYED_SINGLE_FLIGHT_H_
