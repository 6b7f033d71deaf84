// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/co/borrowed_closure.h"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "rouse/future/co/co.h"
#include "rouse/future/combine/join.h"
#include "rouse/future/combine/race.h"
#include "rouse/future/combine/select.h"
#include "rouse/future/combine/try_join.h"
#include "rouse/future/many/join_all.h"
#include "rouse/future/ready.h"
#include "rouse/future/unconstrained.h"
#include "rouse/testing/poll_once.h"

namespace rouse::internal {
namespace {

Co<int> Function(int x) { co_return x; }

struct Member {
  Co<int> Get() { co_return x; }
  Co<int> operator()() { co_return x; }
  int x = 1;
};

TEST(BorrowsClosure, IsTrueForALambdaWithCaptures) {
  int x = 1;
  auto by_reference = [&x]() -> Co<int> { co_return x; };
  auto by_value = [x]() -> Co<int> { co_return x; };
  auto implicit = [&]() -> Co<int> { co_return x; };
  auto changes = [x]() mutable -> Co<int> { co_return ++x; };
  auto adds = [x](int y, std::unique_ptr<int> z) -> Co<int> {
    co_return x + y + *z;
  };
  auto generic = [x](auto y) -> Co<int> { co_return x + y; };
  EXPECT_TRUE(BorrowsClosure(by_reference()));
  EXPECT_TRUE(BorrowsClosure(by_value()));
  EXPECT_TRUE(BorrowsClosure(implicit()));
  EXPECT_TRUE(BorrowsClosure(changes()));
  EXPECT_TRUE(BorrowsClosure(adds(1, std::make_unique<int>(1))));
  EXPECT_TRUE(BorrowsClosure(generic(1)));
}

template <class T>
Co<T> CallInATemplate(T value) {
  auto lambda = [&value]() -> Co<T> { co_return value; };
  EXPECT_TRUE(BorrowsClosure(lambda()));
  auto implicit = [=](T more) mutable -> Co<T> { co_return value += more; };
  EXPECT_TRUE(BorrowsClosure(implicit(1)));
  auto without = []() -> Co<T> { co_return T(); };
  EXPECT_FALSE(BorrowsClosure(without()));
  co_return co_await lambda();
}

TEST(BorrowsClosure, IsTrueForALambdaInATemplate) {
  Co<int> co = CallInATemplate(5);
  EXPECT_EQ(PollOnce(co).value(), 5);
}

// With clang, the names of these lambdas begin with their scopes.
auto in_namespace = [value = 1]() -> Co<int> { co_return value; };
struct WithLambdas {
  static inline auto in_class = [value = 1]() -> Co<int> { co_return value; };
  std::function<Co<int>()> in_initializer = [this]() -> Co<int> {
    co_return x;
  };
  int x = 1;
};

TEST(BorrowsClosure, IsTrueForALambdaOutsideOfFunctions) {
  WithLambdas with_lambdas;
  EXPECT_TRUE(BorrowsClosure(in_namespace()));
  EXPECT_TRUE(BorrowsClosure(WithLambdas::in_class()));
  EXPECT_TRUE(BorrowsClosure(with_lambdas.in_initializer()));
}

struct Shape {
  int Area() const { return 2; }
};
// Takes a generic lambda that cannot be called with a vector.
template <class Visitor>
Co<int> VisitAll(Visitor& visitor, std::vector<Shape> shapes) {
  for (const Shape& shape : shapes) visitor(shape);
  co_return static_cast<int>(shapes.size());
}

TEST(BorrowsClosure, DoesNotCallTheLambda) {
  int area = 0;
  auto visitor = [&area](const auto& shape) { area += shape.Area(); };
  Co<int> visit = VisitAll(visitor, {Shape(), Shape()});
  EXPECT_FALSE(BorrowsClosure(visit));
  EXPECT_EQ(PollOnce(visit).value(), 2);
  EXPECT_EQ(area, 4);
}

// The parameter is a lambda that is not the closure of the function.
template <class F>
Co<int> ByValue(F f) {
  co_return co_await f();
}
template <class F>
Co<int> ByReference(const F& f, int y) {
  co_return y + co_await f();
}
template <class F>
Co<int> ByMutableReference(F& f) {
  co_return co_await f();
}

TEST(BorrowsClosure, IsFalseForEverythingElse) {
  int x = 1;
  auto lambda = [&x]() -> Co<int> { co_return x; };
  auto without = []() -> Co<int> { co_return 1; };
  auto without_too = [](int y) -> Co<int> { co_return y; };
  Member member;
  EXPECT_FALSE(BorrowsClosure(without()));
  EXPECT_FALSE(BorrowsClosure(without_too(1)));
  EXPECT_FALSE(BorrowsClosure(Function(1)));
  EXPECT_FALSE(BorrowsClosure(member.Get()));
  EXPECT_FALSE(BorrowsClosure(member()));
  EXPECT_FALSE(BorrowsClosure(ByValue(lambda)));
  EXPECT_FALSE(BorrowsClosure(ByReference(lambda, 1)));
  EXPECT_FALSE(BorrowsClosure(ByMutableReference(lambda)));
  EXPECT_FALSE(BorrowsClosure(Ready(1)));
}

TEST(BorrowsClosure, IsTrueForAFutureThatHoldsSuchACoroutine) {
  int x = 1;
  auto lambda = [&x]() -> Co<int> { co_return x; };
  auto status = [&x]() -> Co<absl::Status> {
    ++x;
    co_return absl::OkStatus();
  };
  EXPECT_TRUE(BorrowsClosure(Join(Ready(), lambda())));
  EXPECT_TRUE(BorrowsClosure(Select(lambda(), Ready())));
  EXPECT_TRUE(BorrowsClosure(SelectBiased(Ready(), lambda())));
  EXPECT_TRUE(BorrowsClosure(Race(Ready(1), lambda())));
  EXPECT_TRUE(BorrowsClosure(TryJoin(status())));
  EXPECT_TRUE(BorrowsClosure(Unconstrained(lambda())));
  std::vector<Co<int>> all;
  all.push_back(Function(1));
  all.push_back(lambda());
  EXPECT_TRUE(BorrowsClosure(JoinAll(std::move(all))));
  EXPECT_FALSE(BorrowsClosure(Join(Ready(), Function(1))));
  // These futures keep the lambda.
  EXPECT_FALSE(BorrowsClosure(Join(Ready(), lambda)));
  EXPECT_FALSE(BorrowsClosure(Select(Ready(), lambda)));
}

}  // namespace
}  // namespace rouse::internal
