// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/model/execution.h"

#include <signal.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/base/config.h"
#include "absl/functional/function_ref.h"
#include "absl/log/check.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "rouse/testing/model/heap.h"
#include "rouse/testing/model/mutation.h"
#include "rouse/testing/model/objects.h"
#include "rouse/testing/model/plain_data.h"
#include "rouse/testing/model/search.h"
#include "rouse/testing/model/site.h"
#include "rouse/testing/model/static_storage.h"
#include "rouse/testing/model/threads.h"
#include "rouse/testing/model/vector_clock.h"

namespace rouse::model {
namespace {

// Accesses of plain data. All except the first are writes.
constexpr std::string_view kReadsPlain = "reads";
constexpr std::string_view kWritesPlain = "writes";
constexpr std::string_view kMakesPlain = "makes";
constexpr std::string_view kEndsPlain = "destroys";

// Installs signal handlers that fail the model when the code under test calls
// abort() (as a failed CHECK or assert does), or crashes. The handler does not
// return then, so the signal must not stay blocked.
void FailOnSignals() {
  static const bool installed = [] {
    struct sigaction action = {};
    action.sa_flags = SA_NODEFER;
    action.sa_handler = [](int number) {
      Execution* const execution = Execution::current();
      if (execution != nullptr && number == SIGABRT) {
        execution->Fail("the code under test aborted");
      }
      if (execution != nullptr && Execution::tracks_memory()) {
        execution->Fail("the code under test crashed");
      }
      // Ends the program when the handler returns.
      std::signal(number, SIG_DFL);
    };
    bool done = sigaction(SIGABRT, &action, nullptr) == 0;
#if !defined(ABSL_HAVE_ADDRESS_SANITIZER) && \
    !defined(ABSL_HAVE_THREAD_SANITIZER)
    // The sanitizers report a crash themselves, and better.
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
      done = sigaction(signal, &action, nullptr) == 0 && done;
    }
#endif
    return done;
  }();
  CHECK(installed);
}

}  // namespace

Execution::Execution(const Config& config, Search& search, Mutation* mutation)
    : Threads(config, search), mutation_(mutation) {}

Execution::~Execution() { CHECK(current_ == nullptr); }

Execution::Outcome Execution::Run(absl::FunctionRef<void()> body) {
  CHECK(current_ == nullptr) << "a model was run inside a model";
  FailOnSignals();
  has_fence_all_.reset();
  plain_.Clear();
  futexes_.clear();
  current_ = this;
  RunThreads(body);
  current_ = nullptr;
  if (!failed() && !draining()) CheckLeaks();
  heap_.Clear();
  AbandonUnfinished();
  if (failed()) return Outcome::kFailed;
  return draining() ? Outcome::kPruned : Outcome::kFinished;
}

// ---- Lifetimes of objects.

void Execution::Construct(ObjectHandle& handle, const void* address,
                          uint64_t value, std::string_view kind,
                          const Site& site) {
  const Inside inside;
  DoesOtherwise(site);
  Count(site);
  objects().New(handle, address, value, kind, site);
  Object& object = objects()[handle.id];
  // A function's static object exists already in later executions. In this
  // execution the compiler's guard, which the checker does not see, orders the
  // construction.
  if (InStaticStorage(address)) return;
  object.maker = running();
  object.made_at = memory().Tick(running());
  object.accesses[running()] = object.made_at;
}

void Execution::Destroy(ObjectHandle& handle, const Site& site) {
  if (!objects().Contains(handle)) return;
  const Inside inside;
  DoesOtherwise(site);
  if (objects()[handle.id].destroyed) {
    Fail(absl::StrFormat("double free: thread %d destroys %s again at %s",
                         running(), Describe(handle.id), Where(site)));
  }
  End(handle.id, "destroys", site);
}

void Execution::NotAlive(int number, const Site& site) {
  const Object& object = objects()[number];
  if (object.destroyed) {
    Fail(absl::StrFormat(
        "use after free: thread %d uses %s, which was destroyed, at %s",
        running(), Describe(number), Where(site)));
  }
  Fail(
      absl::StrFormat("data race: thread %d uses %s at %s, and its creation by "
                      "thread %d does not happen before",
                      running(), Describe(number), Where(site), object.maker));
}

void Execution::End(int number, std::string_view how, const Site& site) {
  Object& object = objects()[number];
  if (object.destroyed) return;
  const VectorClock& happened = memory().happened(running());
  for (int thread = 0; thread < thread_count(); ++thread) {
    if (thread == running() || object.accesses[thread] <= happened[thread]) {
      continue;
    }
    const bool unused =
        thread == object.maker && object.accesses[thread] == object.made_at;
    Fail(absl::StrFormat(
        "data race: thread %d %s %s at %s, and its %s by thread %d does not "
        "happen before",
        running(), how, Describe(number), Where(site),
        unused ? "creation" : "use", thread));
  }
  object.destroyed = true;
}

// ---- Marked steps.

bool Execution::ConditionAt(bool condition, const Site& site) {
  const Inside inside;
  return mutation_ == nullptr ? condition
                              : mutation_->ConditionAt(site, condition);
}

bool Execution::MakesCall(const Site& site) {
  const Inside inside;
  return mutation_ == nullptr || !mutation_->IsSkipped(site, Role::kCall);
}

bool Execution::KeepsOrder(const Site& site) {
  const Inside inside;
  return mutation_ == nullptr || !mutation_->IsSwapped(site);
}

// ---- Plain data.

void Execution::ReadPlain(const void* address, const Site& site) {
  AccessPlain(address, kReadsPlain, site);
}

void Execution::WritePlain(const void* address, const Site& site) {
  AccessPlain(address, kWritesPlain, site);
}

void Execution::ConstructPlain(const void* address, const Site& site) {
  const Inside inside;
  if (InStaticStorage(address)) return;
#ifdef ABSL_HAVE_THREAD_SANITIZER
  // The checker does not see the heap. Another object at this address may have
  // been freed, and only the allocator orders the two objects.
  plain_.Forget(address);
#endif
  AccessPlain(address, kMakesPlain, site);
}

void Execution::DestroyPlain(const void* address, const Site& site) {
  const Inside inside;
  if (InStaticStorage(address)) return;
  // A destructor has no place of its own. The message names the place where the
  // data was last written or constructed.
  AccessPlain(address, kEndsPlain, plain_.LastWriteOr(address, site));
}

void Execution::AccessPlain(const void* address, std::string_view how,
                            const Site& site) {
  const bool write = how != kReadsPlain;
  const Inside inside;
  if (how == kMakesPlain || how == kEndsPlain) {
    DoesOtherwise(site);
  } else if (rehearsing()) {
    const Deed& cue = Cue(Deed::kPlain, nullptr, site);
    if (cue.read != reinterpret_cast<uintptr_t>(address) ||
        cue.written != static_cast<uint64_t>(write)) {
      GivesUp(site);
    }
    return;
  } else {
    self().spin.Did({.kind = Deed::kPlain,
                     .read = reinterpret_cast<uintptr_t>(address),
                     .written = static_cast<uint64_t>(write)});
  }
  Count(site);
  const auto [data, is_new] = plain_.FindOrAdd(address);
  if (data.freed || (is_new && heap_.InKeptBlock(address))) {
    Fail(
        absl::StrFormat("use after free: thread %d uses plain data in a block "
                        "that has been freed, at %s",
                        running(), Where(site)));
  }
  if (tracing() && how != kMakesPlain) {
    Note(absl::StrCat(how, " plain data"), site);
  }
  const std::optional<PlainData::Race> race = data.FindRace(
      running(), thread_count(), write, memory().happened(running()));
  if (race.has_value()) {
    Fail(absl::StrFormat(
        "data race: thread %d %s plain data at %s, and thread %d %s it at %s; "
        "neither happens before the other",
        running(), how, Where(site), race->thread,
        race->wrote ? "wrote" : "read", Where(race->site)));
  }
  data.Record(running(), write, memory().Tick(running()), site);
}

// ---- Blocks.

void Execution::Allocated(void* block, size_t size) {
  const Inside inside;
  heap_.Allocated(block, size);
}

bool Execution::Freed(void* block) {
  const Inside inside;
  Heap::Block* const found = heap_.Find(block);
  if (found == nullptr) return false;
  const size_t size = found->size;
  if (found->freed) {
    Fail(
        absl::StrFormat("double free: thread %d frees a block of %d bytes "
                        "again",
                        running(), size));
  }
  found->freed = true;
  heap_.Keep(block);
  const char* begin = static_cast<const char*>(block);
  const char* end = begin + size;
  for (int i = 0; i < objects().count(); ++i) {
    const Object& object = objects()[i];
    const char* address = static_cast<const char*>(object.address);
    if (address >= begin && address < end) End(i, "frees", object.made);
  }
  for (const auto& [address, data] : plain_.InBlock(block, size)) {
    AccessPlain(address, kEndsPlain, data->last_write);
    data->freed = true;
  }
  return true;
}

void Execution::CheckLeaks() {
  // A block is a leak only if it holds an atomic or a similar object, which the
  // caches of libraries do not hold. The loop is in the order in which those
  // objects were made, because every execution has other addresses.
  for (int i = 0; i < objects().count(); ++i) {
    const Object& object = objects()[i];
    if (object.destroyed || object.maker < 0) continue;
    const Heap::Blocks::value_type* found = heap_.FindUnfreed(object.address);
    if (found == nullptr) continue;
    const auto& [block, state] = *found;
    SetFailed(
        absl::StrFormat("leak: a block of %d bytes with %s was never freed",
                        state.size, Describe(i)));
    heap_.Keep(block);
    return;
  }
}

}  // namespace rouse::model
