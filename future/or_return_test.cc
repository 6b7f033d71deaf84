// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/or_return.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co/co.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;

absl::Status Error() { return absl::NotFoundError("no such row"); }

// Pending a number of times, then returns an outcome.
template <class T>
class After {
 public:
  After(int polls, T outcome) : left_(polls), outcome_(std::move(outcome)) {}
  PollResult<T> Poll(Context&) {
    if (left_-- > 0) return kPending;
    return std::move(outcome_);
  }

 private:
  int left_;
  T outcome_;
};

// Records whether the code after an OrReturn was reached.
Co<absl::Status> Check(absl::Status status, bool* went_on) {
  co_await OrReturn(std::move(status));
  *went_on = true;
  co_return absl::OkStatus();
}

TEST(OrReturn, ContinuesAfterAnOkStatus) {
  bool went_on = false;
  Co<absl::Status> co = Check(absl::OkStatus(), &went_on);
  EXPECT_EQ(PollOnce(co).value(), absl::OkStatus());
  EXPECT_TRUE(went_on);
}

TEST(OrReturn, EndsTheCoroutineWithTheErrorOfAStatus) {
  bool went_on = false;
  Co<absl::Status> co = Check(Error(), &went_on);
  EXPECT_EQ(PollOnce(co).value(), Error());
  EXPECT_FALSE(went_on);
}

TEST(OrReturn, AnErrorIsNotReturnedAsAValue) {
  auto body = [](absl::Status x) -> Co<absl::StatusOr<absl::Status>> {
    co_await OrReturn(std::move(x));
    co_return absl::OkStatus();
  };
  Co<absl::StatusOr<absl::Status>> co = body(Error());
  EXPECT_EQ(PollOnce(co).value().status(), Error());
}

TEST(OrReturn, MovesTheValueOutOfATemporaryStatusOr) {
  auto body = [](absl::StatusOr<std::unique_ptr<int>> x)
      -> Co<absl::StatusOr<std::unique_ptr<int>>> {
    co_return co_await OrReturn(std::move(x));
  };
  auto co = body(std::make_unique<int>(3));
  EXPECT_EQ(**PollOnce(co).value(), 3);
  auto fails = body(Error());
  EXPECT_EQ(PollOnce(fails).value().status(), Error());
}

TEST(OrReturn, ReturnsAReferenceToTheValueOfAnLvalue) {
  absl::StatusOr<int> value = 3;
  auto body = [](absl::StatusOr<int>& value) -> Co<absl::Status> {
    int& got = co_await OrReturn(value);
    got = 4;
    co_return absl::OkStatus();
  };
  Co<absl::Status> co = body(value);
  EXPECT_EQ(PollOnce(co).value(), absl::OkStatus());
  EXPECT_EQ(*value, 4);
}

TEST(OrReturn, CopiesTheErrorOfAnLvalue) {
  absl::StatusOr<int> outcome = Error();
  absl::Status status = Error();
  auto body = [](absl::StatusOr<int>& outcome) -> Co<absl::Status> {
    co_await OrReturn(outcome);
    co_return absl::OkStatus();
  };
  auto of_status = [](absl::Status& status) -> Co<absl::Status> {
    co_await OrReturn(status);
    co_return absl::OkStatus();
  };
  Co<absl::Status> first = body(outcome);
  Co<absl::Status> second = of_status(status);
  EXPECT_EQ(PollOnce(first).value(), Error());
  EXPECT_EQ(PollOnce(second).value(), Error());
  EXPECT_EQ(outcome.status(), Error());
  EXPECT_EQ(status, Error());
}

TEST(OrReturn, TakesConstants) {
  auto body = [](const absl::StatusOr<std::string>& lvalue)
      -> Co<absl::StatusOr<std::string>> {
    const std::string& of_lvalue = co_await OrReturn(lvalue);
    static_assert(
        std::is_same_v<decltype(internal::ValueOf(
                           std::declval<const absl::StatusOr<std::string>>())),
                       std::string>);
    co_return of_lvalue;
  };
  const absl::StatusOr<std::string> good = "a";
  const absl::StatusOr<std::string> bad = Error();
  auto first = body(good);
  auto second = body(bad);
  EXPECT_EQ(*PollOnce(first).value(), "a");
  EXPECT_EQ(PollOnce(second).value().status(), Error());
}

// The future is not a coroutine. It is ready at once, or after two polls.
TEST(OrReturn, AwaitsAFutureOfAStatusOr) {
  auto body = [](After<absl::StatusOr<int>> f) -> Co<absl::StatusOr<int>> {
    co_return 1 + co_await OrReturn(std::move(f));
  };
  for (int polls : {0, 2}) {
    auto good = body(After<absl::StatusOr<int>>(polls, 1));
    auto bad = body(After<absl::StatusOr<int>>(polls, Error()));
    for (int i = 0; i < polls; ++i) {
      EXPECT_TRUE(PollOnce(good).IsPending());
      EXPECT_TRUE(PollOnce(bad).IsPending());
    }
    EXPECT_EQ(*PollOnce(good).value(), 2);
    EXPECT_EQ(PollOnce(bad).value().status(), Error());
  }
}

TEST(OrReturn, AwaitsAFutureOfAStatus) {
  for (int polls : {0, 1}) {
    auto body = [](int polls, absl::Status status) -> Co<absl::Status> {
      After<absl::Status> future(polls, std::move(status));
      co_await OrReturn(future);
      co_return absl::AlreadyExistsError("went on");
    };
    auto good = body(polls, absl::OkStatus());
    auto bad = body(polls, Error());
    for (int i = 0; i < polls; ++i) {
      EXPECT_TRUE(PollOnce(good).IsPending());
      EXPECT_TRUE(PollOnce(bad).IsPending());
    }
    EXPECT_TRUE(absl::IsAlreadyExists(PollOnce(good).value()));
    EXPECT_EQ(PollOnce(bad).value(), Error());
  }
}

// Like `SleepResult`: is not a status, but has an `ok()` and converts to one.
class Done {
 public:
  explicit Done(bool ok) : ok_(ok) {}
  bool ok() const { return ok_; }
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator absl::Status() const { return ok_ ? absl::OkStatus() : Error(); }

 private:
  bool ok_;
};

TEST(OrReturn, TakesATypeThatConvertsToAStatus) {
  auto body = [](const Done& done) -> Co<absl::StatusOr<int>> {
    static_assert(std::is_void_v<decltype(internal::ValueOf(done))>);
    co_await OrReturn(done);
    co_await OrReturn(Done(done));
    co_return 1;
  };
  const Done ok(true);
  const Done failed(false);
  auto good = body(ok);
  auto bad = body(failed);
  EXPECT_EQ(*PollOnce(good).value(), 1);
  EXPECT_EQ(PollOnce(bad).value().status(), Error());
}

TEST(OrReturn, AwaitsAFutureOfATypeThatConvertsToAStatus) {
  auto body = [](int polls, bool ok) -> Co<absl::StatusOr<int>> {
    After<Done> future(polls, Done(ok));
    co_await OrReturn(future);
    co_return 1;
  };
  for (int polls : {0, 1}) {
    auto good = body(polls, true);
    auto bad = body(polls, false);
    for (int i = 0; i < polls; ++i) {
      EXPECT_TRUE(PollOnce(good).IsPending());
      EXPECT_TRUE(PollOnce(bad).IsPending());
    }
    EXPECT_EQ(*PollOnce(good).value(), 1);
    EXPECT_EQ(PollOnce(bad).value().status(), Error());
  }
}

TEST(OrReturn, AwaitsAChildOfATypeThatConvertsToAStatus) {
  auto child = [](bool ok) -> Co<Done> { co_return Done(ok); };
  auto body = [&child](bool ok) -> Co<absl::Status> {
    co_await OrReturn(child(ok));
    co_return absl::AlreadyExistsError("went on");
  };
  auto good = body(true);
  auto bad = body(false);
  EXPECT_TRUE(absl::IsAlreadyExists(PollOnce(good).value()));
  EXPECT_EQ(PollOnce(bad).value(), Error());
}

Co<absl::StatusOr<int>> Child(int polls, absl::StatusOr<int> outcome) {
  After<absl::StatusOr<int>> future(polls, std::move(outcome));
  co_return co_await future;
}

Co<absl::StatusOr<int>> OfChild(int polls, absl::StatusOr<int> outcome) {
  co_return 1 + co_await OrReturn(Child(polls, std::move(outcome)));
}

TEST(OrReturn, AwaitsAChild) {
  for (int polls : {0, 2}) {
    auto good = OfChild(polls, 1);
    auto bad = OfChild(polls, Error());
    for (int i = 0; i < polls; ++i) {
      EXPECT_TRUE(PollOnce(good).IsPending());
      EXPECT_TRUE(PollOnce(bad).IsPending());
    }
    EXPECT_EQ(*PollOnce(good).value(), 2);
    EXPECT_EQ(PollOnce(bad).value().status(), Error());
  }
}

TEST(OrReturn, AwaitsAChildThatIsAnLvalue) {
  auto body = [](Co<absl::StatusOr<int>>& child) -> Co<absl::StatusOr<int>> {
    co_return co_await OrReturn(child);
  };
  auto child = Child(1, Error());
  auto co = body(child);
  EXPECT_TRUE(PollOnce(co).IsPending());
  EXPECT_EQ(PollOnce(co).value().status(), Error());
}

TEST(OrReturn, AwaitsAChildOfAStatus) {
  auto body = [](absl::Status status) -> Co<absl::StatusOr<int>> {
    bool went_on = false;
    co_await OrReturn(Check(std::move(status), &went_on));
    co_return 1;
  };
  auto good = body(absl::OkStatus());
  auto bad = body(Error());
  EXPECT_EQ(*PollOnce(good).value(), 1);
  EXPECT_EQ(PollOnce(bad).value().status(), Error());
}

// An error climbs a deep chain in constant stack, whether the chain had to
// wait or not.
Co<absl::StatusOr<int>> Deep(int depth, int polls, absl::StatusOr<int> end) {
  if (depth == 0) co_return co_await OrReturn(Child(polls, std::move(end)));
  co_return 1 + co_await OrReturn(Deep(depth - 1, polls, std::move(end)));
}

TEST(OrReturn, AnErrorClimbsADeepChain) {
  for (int polls : {0, 1}) {
    auto co = Deep(100'000, polls, Error());
    if (polls == 1) {
      EXPECT_TRUE(PollOnce(co).IsPending());
    }
    EXPECT_EQ(PollOnce(co).value().status(), Error());
  }
}

TEST(OrReturn, AValueClimbsADeepChain) {
  for (int polls : {0, 1}) {
    auto co = Deep(100'000, polls, 1);
    if (polls == 1) {
      EXPECT_TRUE(PollOnce(co).IsPending());
    }
    EXPECT_EQ(*PollOnce(co).value(), 100'001);
  }
}

Co<absl::StatusOr<int>> Logged(Log* log, int depth, int polls) {
  const Local outer(log, "outer " + std::to_string(depth));
  const Local inner(log, "inner " + std::to_string(depth));
  if (depth == 0) co_return co_await OrReturn(Child(polls, Error()));
  co_return co_await OrReturn(Logged(log, depth - 1, polls));
}

TEST(OrReturn, AnErrorDestroysLocalsInsideOut) {
  for (int polls : {0, 1}) {
    Log log;
    {
      auto co = Logged(&log, 1, polls);
      for (int i = 0; i < polls; ++i) EXPECT_TRUE(PollOnce(co).IsPending());
      EXPECT_THAT(log, ElementsAre());
      EXPECT_EQ(PollOnce(co).value().status(), Error());
    }
    EXPECT_THAT(log, ElementsAre("inner 0", "outer 0", "inner 1", "outer 1"));
  }
}

// As after a return, the locals of the callee are destroyed before the caller
// continues.
TEST(OrReturn, LocalsAreDestroyedBeforeTheCallerContinues) {
  Log log;
  auto callee = [](Log* log) -> Co<absl::Status> {
    const Local local(log, "callee");
    co_await OrReturn(Error());
    co_return absl::OkStatus();
  };
  auto body = [&callee](Log* log) -> Co<> {
    const absl::Status status = co_await callee(log);
    log->emplace_back("caller");
    EXPECT_EQ(status, Error());
  };
  Co<> co = body(&log);
  EXPECT_TRUE(PollOnce(co).IsReady());
  EXPECT_THAT(log, ElementsAre("callee", "caller"));
}

TEST(OrReturn, CanBeDestroyedWhilePending) {
  Log log;
  {
    auto co = Logged(&log, 1, 5);
    EXPECT_TRUE(PollOnce(co).IsPending());
  }
  EXPECT_THAT(log, ElementsAre("inner 0", "outer 0", "inner 1", "outer 1"));
}

#ifdef ABSL_HAVE_EXCEPTIONS

class Thrower {
 public:
  explicit Thrower(int polls) : left_(polls) {}
  PollResult<absl::Status> Poll(Context&) {
    if (left_-- > 0) return kPending;
    throw std::runtime_error("thrown");
  }

 private:
  int left_;
};

TEST(OrReturn, AnExceptionOfAFutureIsThrownWhereItIsAwaited) {
  for (int polls : {0, 1}) {
    auto body = [](int polls) -> Co<absl::Status> {
      try {
        co_await OrReturn(Thrower(polls));
      } catch (const std::runtime_error&) {
        co_return absl::AbortedError("caught");
      }
      co_return absl::OkStatus();
    };
    Co<absl::Status> co = body(polls);
    for (int i = 0; i < polls; ++i) EXPECT_TRUE(PollOnce(co).IsPending());
    EXPECT_TRUE(absl::IsAborted(PollOnce(co).value()));
  }
}

TEST(OrReturn, AnExceptionOfAChildPassesThrough) {
  for (int polls : {0, 1}) {
    auto child = [](int polls) -> Co<absl::StatusOr<int>> {
      Thrower thrower(polls);
      co_await OrReturn(thrower);
      co_return 1;
    };
    auto body = [&child](int polls) -> Co<absl::Status> {
      co_await OrReturn(child(polls));
      co_return absl::OkStatus();
    };
    Co<absl::Status> co = body(polls);
    for (int i = 0; i < polls; ++i) EXPECT_TRUE(PollOnce(co).IsPending());
    EXPECT_THROW((void)PollOnce(co), std::runtime_error);
  }
}

// A coroutine may also return any type to which an error converts. This
// conversion may refuse.
class Reluctant {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor)
  Reluctant(const absl::Status& status) {
    if (!status.ok()) throw std::runtime_error("reluctant");
  }
};

TEST(OrReturn, AResultThatThrowsEndsTheCoroutineWithTheException) {
  for (int polls : {0, 1}) {
    auto body = [](int polls) -> Co<Reluctant> {
      co_await OrReturn(After<absl::Status>(polls, Error()));
      co_return absl::OkStatus();
    };
    auto parent = [](int polls) -> Co<Reluctant> {
      co_await OrReturn(Child(polls, Error()));
      co_return absl::OkStatus();
    };
    Co<Reluctant> co = body(polls);
    Co<Reluctant> above = parent(polls);
    for (int i = 0; i < polls; ++i) {
      EXPECT_TRUE(PollOnce(co).IsPending());
      EXPECT_TRUE(PollOnce(above).IsPending());
    }
    EXPECT_THROW((void)PollOnce(co), std::runtime_error);
    EXPECT_THROW((void)PollOnce(above), std::runtime_error);
  }
}

// An error whose conversion to a status fails.
class Unspeakable {
 public:
  bool ok() const { return false; }
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator absl::Status() const { throw std::runtime_error("unspeakable"); }
};

// Returns Aborted if the await of `future` throws.
template <class F>
Co<absl::Status> AbortedIfThrown(F future) {
  try {
    co_await OrReturn(std::move(future));
  } catch (const std::runtime_error&) {
    co_return absl::AbortedError("caught");
  }
  co_return absl::OkStatus();
}

void ExpectAborted(Co<absl::Status> co, int polls) {
  for (int i = 0; i < polls; ++i) EXPECT_TRUE(PollOnce(co).IsPending());
  EXPECT_TRUE(absl::IsAborted(*PollOnce(co)));
}

TEST(OrReturn, AnErrorThatThrowsIsThrownWhereItIsAwaited) {
  const auto child = [](int polls) -> Co<Unspeakable> {
    co_await After<int>(polls, 0);
    co_return Unspeakable();
  };
  for (int polls : {0, 1}) ExpectAborted(AbortedIfThrown(child(polls)), polls);
}

TEST(OrReturn, AnErrorOfAFutureThatThrowsIsThrownWhereItIsAwaited) {
  for (int polls : {0, 1}) {
    ExpectAborted(AbortedIfThrown(After<Unspeakable>(polls, Unspeakable())),
                  polls);
  }
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse
