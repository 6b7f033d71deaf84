// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/model/axiomatic.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/log/check.h"
#include "absl/strings/str_cat.h"

namespace rouse::model::axiomatic {
namespace {

bool Acquires(std::memory_order order) {
  return order == std::memory_order_acquire ||
         order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

bool Releases(std::memory_order order) {
  return order == std::memory_order_release ||
         order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

// The result of an instruction in one execution.
struct Event {
  bool reads = false;
  bool writes = false;
  bool fence = false;
  bool plain = false;
  int location = 0;
  int value_read = 0;
  int value_written = 0;
  std::memory_order order = std::memory_order_relaxed;
  int thread = -1;  // -1: the initial store of a location
  size_t instruction = 0;
};

constexpr int kMostEvents = 32;

// A relation of events: for each event, the set of related events.
class Relation {
 public:
  void Add(int from, int to) { rows_[from] |= 1u << to; }
  bool Has(int from, int to) const { return (rows_[from] >> to & 1) != 0; }
  uint32_t from(int event) const { return rows_[event]; }
  void Join(const Relation& other) {
    for (int i = 0; i < kMostEvents; ++i) rows_[i] |= other.rows_[i];
  }
  // Each function below considers the first `count` events, which are all
  // events.
  void Close(int count) {
    for (int through = 0; through < count; ++through) {
      for (int i = 0; i < count; ++i) {
        if (Has(i, through)) rows_[i] |= rows_[through];
      }
    }
  }
  bool IsIrreflexive(int count) const {
    for (int i = 0; i < count; ++i) {
      if (Has(i, i)) return false;
    }
    return true;
  }
  bool IsAcyclic(int count) const {
    Relation closed = *this;
    closed.Close(count);
    return closed.IsIrreflexive(count);
  }

 private:
  std::array<uint32_t, kMostEvents> rows_{};
};

template <class F>
void ForEach(uint32_t set, F f) {
  for (; set != 0; set &= set - 1) f(std::countr_zero(set));
}

using Trace = std::vector<Event>;
// For each atomic, the values that a load can return.
using Domains = std::vector<std::set<int>>;

// Returns the values that some store might leave in each atomic, and perhaps
// other values.
Domains DomainsOf(const Program& program) {
  // Each value is stored with the additions that make the value. An addition is
  // a bit, because no addition happens twice.
  using Made = std::set<std::pair<int, uint32_t>>;
  std::vector<Made> made(program.atomics, {{0, 0}});
  for (bool changed = true; changed;) {
    changed = false;
    uint32_t addition = 1;
    for (const auto& thread : program.threads) {
      for (const Instruction& i : thread) {
        Made more;
        switch (i.kind) {
          case Instruction::kStore:
          case Instruction::kExchange:
          case Instruction::kCompareExchange:
          case Instruction::kWeakCompareExchange:
            more.insert({i.value, 0});
            break;
          case Instruction::kAdd:
            for (const auto& [value, additions] : made[i.location]) {
              if ((additions & addition) == 0) {
                more.insert({value + i.value, additions | addition});
              }
            }
            addition <<= 1;
            break;
          default:
            continue;
        }
        for (const auto& value : more) {
          changed |= made[i.location].insert(value).second;
        }
      }
    }
  }
  Domains domains(program.atomics);
  for (int location = 0; location < program.atomics; ++location) {
    for (const auto& [value, additions] : made[location]) {
      domains[location].insert(value);
    }
  }
  return domains;
}

// Everything that one thread might do if the thread's loads returned any value.
class Traces {
 public:
  Traces(const std::vector<Instruction>& code, int thread,
         int spurious_failures, const Domains& domains)
      : code_(code), thread_(thread), domains_(domains) {
    Extend(0, 0, spurious_failures);
  }
  std::vector<Trace>& all() { return all_; }

 private:
  // `last` is the value of the last atomic read.
  void Extend(size_t at, int last, int spurious_left) {
    if (at == code_.size()) {
      all_.push_back(trace_);
      return;
    }
    const Instruction& i = code_[at];
    if (i.guarded && last == 0) return Extend(at + 1, last, spurious_left);
    Event event{.location = i.location,
                .order = i.order,
                .thread = thread_,
                .instruction = at};
    switch (i.kind) {
      case Instruction::kFence:
        event.fence = true;
        break;
      case Instruction::kStore:
        event.writes = true;
        event.value_written = i.value;
        break;
      case Instruction::kReadPlain:
        event.plain = event.reads = true;
        break;
      case Instruction::kWritePlain:
        event.plain = event.writes = true;
        event.value_written = i.value;
        break;
      default:
        for (const int value : domains_[i.location]) {
          Read(event, at, value, spurious_left);
        }
        return;
    }
    Push(event, last, spurious_left);
  }

  void Read(Event event, size_t at, int value, int spurious_left) {
    const Instruction& i = code_[at];
    event.reads = true;
    event.value_read = value;
    switch (i.kind) {
      case Instruction::kExchange:
        event.writes = true;
        event.value_written = i.value;
        break;
      case Instruction::kAdd:
        event.writes = true;
        event.value_written = value + i.value;
        break;
      case Instruction::kCompareExchange:
      case Instruction::kWeakCompareExchange: {
        Event failed = event;
        failed.order = i.failure;
        if (value != i.expected) return Push(failed, value, spurious_left);
        if (i.kind == Instruction::kWeakCompareExchange && spurious_left > 0) {
          Push(failed, value, spurious_left - 1);
        }
        event.writes = true;
        event.value_written = i.value;
        break;
      }
      default:
        break;
    }
    Push(event, value, spurious_left);
  }

  void Push(const Event& event, int last, int spurious_left) {
    trace_.push_back(event);
    Extend(event.instruction + 1, last, spurious_left);
    trace_.pop_back();
  }

  const std::vector<Instruction>& code_;
  const int thread_;
  const Domains& domains_;
  Trace trace_;
  std::vector<Trace> all_;
};

class Enumeration {
 public:
  Enumeration(const Program& program, int spurious_failures, SOrder s)
      : program_(program), s_(s) {
    const Domains domains = DomainsOf(program);
    for (size_t t = 0; t < program.threads.size(); ++t) {
      traces_.push_back(
          std::move(Traces(program.threads[t], static_cast<int>(t),
                           spurious_failures, domains)
                        .all()));
    }
    for (int location = 0; location < program.atomics; ++location) {
      events_.push_back({.writes = true, .location = location});
    }
    Combine(0);
  }

  Allowed& allowed() { return allowed_; }

 private:
  bool SeqCst(int event) const {
    return !events_[event].plain &&
           events_[event].order == std::memory_order_seq_cst;
  }
  bool IsAtomicWrite(int event) const {
    return events_[event].writes && !events_[event].plain;
  }

  // Tries each combination of one trace for each thread.
  void Combine(size_t thread) {
    if (thread == traces_.size()) {
      count_ = static_cast<int>(events_.size());
      CHECK_LE(count_, kMostEvents);
      sequenced_ = Relation();
      for (int a = 0; a < count_; ++a) {
        for (int b = a + 1; b < count_; ++b) {
          const int before = events_[a].thread;
          if (before < 0 ? events_[b].thread >= 0
                         : before == events_[b].thread) {
            sequenced_.Add(a, b);
          }
        }
      }
      from_.assign(count_, -1);
      return ReadFrom(0);
    }
    const size_t before = events_.size();
    for (const Trace& trace : traces_[thread]) {
      events_.insert(events_.end(), trace.begin(), trace.end());
      Combine(thread + 1);
      events_.resize(before);
    }
  }

  // Tries each store from which each atomic read can take the value.
  void ReadFrom(int event) {
    while (event < count_ && (!events_[event].reads || events_[event].plain)) {
      ++event;
    }
    if (event == count_) return Synchronize();
    const Event& read = events_[event];
    for (int store = 0; store < count_; ++store) {
      if (store == event || !IsAtomicWrite(store)) continue;
      const Event& written = events_[store];
      if (written.location != read.location ||
          written.value_written != read.value_read) {
        continue;
      }
      // Atomicity: at most one read-modify-write comes just after this store.
      bool taken = false;
      for (int other = 0; other < event; ++other) {
        taken |= read.writes && events_[other].writes && from_[other] == store;
      }
      if (taken) continue;
      from_[event] = store;
      ReadFrom(event + 1);
      from_[event] = -1;
    }
  }

  // Derives happens-before from program order and reads-from.
  void Synchronize() {
    execution_ = sequenced_;
    for (int read = 0; read < count_; ++read) {
      if (from_[read] >= 0) execution_.Add(from_[read], read);
    }
    // This rule excludes load buffering.
    if (!execution_.IsAcyclic(count_)) return;

    synchronizes_ = Relation();
    for (int read = 0; read < count_; ++read) {
      if (from_[read] < 0) continue;
      // The loop goes back along the release sequence: a read-modify-write
      // continues the sequence of the store that it reads from.
      for (int store = from_[read]; store >= 0; store = from_[store]) {
        for (int release = 0; release < count_; ++release) {
          if (!IsRelease(release, store)) continue;
          for (int acquire = 0; acquire < count_; ++acquire) {
            if (IsAcquire(read, acquire)) synchronizes_.Add(release, acquire);
          }
        }
        if (!events_[store].reads) break;
      }
    }
    happens_ = sequenced_;
    happens_.Join(synchronizes_);
    happens_.Close(count_);
    CHECK(happens_.IsIrreflexive(count_))
        << "program order and reads-from form a cycle";

    order_.clear();
    OrderStores(0);
  }

  // Returns whether `release` makes `store` a release: `release` is the store
  // itself, or a fence before the store in the same thread.
  bool IsRelease(int release, int store) const {
    const Event& event = events_[release];
    if (!Releases(event.order) || event.plain || event.thread < 0) return false;
    return release == store || (event.fence && sequenced_.Has(release, store));
  }
  bool IsAcquire(int read, int acquire) const {
    const Event& event = events_[acquire];
    if (!Acquires(event.order) || event.plain) return false;
    return acquire == read || (event.fence && sequenced_.Has(read, acquire));
  }

  // Tries each modification order of each location from `location` on.
  void OrderStores(int location) {
    if (location == program_.atomics) return Judge();
    std::vector<int> stores;
    for (int store = program_.atomics; store < count_; ++store) {
      if (IsAtomicWrite(store) && events_[store].location == location) {
        stores.push_back(store);
      }
    }
    // This tries every order, because next_permutation() begins with the sorted
    // order.
    do {
      std::vector<int> order = {location};
      order.insert(order.end(), stores.begin(), stores.end());
      if (!IsAtomic(order)) continue;
      order_.push_back(std::move(order));
      OrderStores(location + 1);
      order_.pop_back();
    } while (std::ranges::next_permutation(stores).found);
  }

  // Returns whether each read-modify-write reads the store just before its own.
  bool IsAtomic(const std::vector<int>& order) const {
    for (size_t i = 1; i < order.size(); ++i) {
      if (events_[order[i]].reads && from_[order[i]] != order[i - 1]) {
        return false;
      }
    }
    return true;
  }

  // Counts the graph and records its outcome, if the graph breaks no rule.
  void Judge() {
    // The relation "coherence-ordered before".
    Relation coherence;
    for (const std::vector<int>& order : order_) {
      for (size_t i = 0; i < order.size(); ++i) {
        for (size_t j = i + 1; j < order.size(); ++j) {
          coherence.Add(order[i], order[j]);
        }
        for (int read = 0; read < count_; ++read) {
          if (from_[read] != order[i]) continue;
          coherence.Add(order[i], read);
          for (size_t j = i + 1; j < order.size(); ++j) {
            if (order[j] != read) coherence.Add(read, order[j]);
          }
        }
      }
    }
    coherence.Close(count_);
    for (int a = 0; a < count_; ++a) {
      if (coherence.Has(a, a)) return;
      bool overtaken = false;
      ForEach(happens_.from(a),
              [&](int b) { overtaken |= coherence.Has(b, a); });
      if (overtaken) return;
    }
    if (!HasS(coherence)) return;
    ++allowed_.graphs;
    Conclude();
  }

  // Returns whether an order S exists: [atomics.order]/4.
  bool HasS(const Relation& coherence) const {
    Relation before;
    for (int a = 0; a < count_; ++a) {
      const uint32_t firsts = At(a, /*fences_before=*/true);
      if (firsts == 0) continue;
      ForEach(coherence.from(a), [&](int b) {
        const uint32_t seconds = At(b, /*fences_before=*/false);
        ForEach(firsts, [&](int x) {
          ForEach(seconds, [&](int y) { before.Add(x, y); });
        });
      });
    }
    before.Join(s_ == SOrder::kExecution ? execution_ : StronglyHappens());
    return before.IsAcyclic(count_);
  }

  // Returns the event, if it is in S, and the fences of S before the event or
  // after the event.
  uint32_t At(int event, bool fences_before) const {
    uint32_t in_s = SeqCst(event) ? 1u << event : 0;
    for (int fence = 0; fence < count_; ++fence) {
      if (!events_[fence].fence || !SeqCst(fence)) continue;
      const bool ordered = fences_before ? happens_.Has(fence, event)
                                         : happens_.Has(event, fence);
      if (ordered) in_s |= 1u << fence;
    }
    return in_s;
  }

  // Returns "strongly happens before" ([intro.races]/12) between members of S.
  Relation StronglyHappens() const {
    Relation strongly = sequenced_;
    for (int a = 0; a < count_; ++a) {
      ForEach(synchronizes_.from(a), [&](int b) {
        if (SeqCst(a) && SeqCst(b)) strongly.Add(a, b);
      });
      ForEach(sequenced_.from(a), [&](int b) {
        ForEach(happens_.from(b), [&](int c) {
          ForEach(sequenced_.from(c), [&](int d) { strongly.Add(a, d); });
        });
      });
    }
    strongly.Close(count_);
    Relation in_s;
    for (int a = 0; a < count_; ++a) {
      if (!SeqCst(a)) continue;
      ForEach(strongly.from(a), [&](int b) {
        if (SeqCst(b)) in_s.Add(a, b);
      });
    }
    return in_s;
  }

  void Conclude() {
    Outcome outcome;
    std::vector<size_t> begin;
    for (const auto& thread : program_.threads) {
      begin.push_back(outcome.size());
      outcome.resize(outcome.size() + thread.size(), kLeftOut);
    }
    for (int e = program_.atomics; e < count_; ++e) {
      const Event& event = events_[e];
      int& result = outcome[begin[event.thread] + event.instruction];
      result = kReadsNothing;
      if (event.plain) {
        int last = -1;  // the last write before, if there is no race
        for (int other = program_.atomics; other < count_; ++other) {
          const Event& beside = events_[other];
          if (other == e || !beside.plain ||
              beside.location != event.location ||
              (!beside.writes && !event.writes)) {
            continue;
          }
          if (happens_.Has(e, other)) continue;
          if (!happens_.Has(other, e)) {
            allowed_.race = true;
            return;
          }
          if (last < 0 || happens_.Has(last, other)) last = other;
        }
        if (event.reads) result = last < 0 ? 0 : events_[last].value_written;
      } else if (event.reads) {
        result = event.value_read;
      }
    }
    for (const std::vector<int>& order : order_) {
      outcome.push_back(events_[order.back()].value_written);
    }
    allowed_.outcomes.insert(std::move(outcome));
  }

  const Program& program_;
  const SOrder s_;
  std::vector<std::vector<Trace>> traces_;  // of each thread
  Allowed allowed_;

  // The current graph. The initial stores are the first events.
  std::vector<Event> events_;
  int count_ = 0;
  std::vector<int> from_;  // the store that each event reads from, or -1
  std::vector<std::vector<int>> order_;  // of the stores of each location
  Relation sequenced_;                   // and the initial stores first
  Relation execution_;                   // program order and reads-from
  Relation synchronizes_;
  Relation happens_;
};

}  // namespace

Allowed Enumerate(const Program& program, int spurious_failures, SOrder s) {
  return std::move(Enumeration(program, spurious_failures, s).allowed());
}

std::string ToString(const Program& program) {
  constexpr std::array kKinds = {"load",  "store",      "exchange",
                                 "add",   "cas",        "weak_cas",
                                 "fence", "read plain", "write plain"};
  constexpr std::array kOrders = {"relaxed", "consume", "acquire",
                                  "release", "acq_rel", "seq_cst"};
  const auto name = [&](std::memory_order order) {
    return kOrders[static_cast<size_t>(order)];
  };
  std::string text;
  for (const auto& thread : program.threads) {
    for (const Instruction& i : thread) {
      absl::StrAppend(&text, i.guarded ? "if read: " : "", kKinds[i.kind]);
      switch (i.kind) {
        case Instruction::kFence:
          absl::StrAppend(&text, " ", name(i.order));
          break;
        case Instruction::kReadPlain:
          absl::StrAppend(&text, " ", i.location);
          break;
        case Instruction::kWritePlain:
          absl::StrAppend(&text, " ", i.location, " = ", i.value);
          break;
        case Instruction::kLoad:
          absl::StrAppend(&text, " ", i.location, " ", name(i.order));
          break;
        case Instruction::kCompareExchange:
        case Instruction::kWeakCompareExchange:
          absl::StrAppend(&text, " ", i.location, " from ", i.expected, " to ",
                          i.value, " ", name(i.order), " ", name(i.failure));
          break;
        default:
          absl::StrAppend(&text, " ", i.location, " ", i.value, " ",
                          name(i.order));
          break;
      }
      text += "; ";
    }
    text += "\n";
  }
  return text;
}

}  // namespace rouse::model::axiomatic
