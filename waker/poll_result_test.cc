// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/waker/poll_result.h"

#include <any>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "gtest/gtest.h"

namespace rouse {
namespace {

TEST(PollResult, IsPendingOrReady) {
  const PollResult<int> pending = kPending;
  EXPECT_TRUE(pending.IsPending());
  EXPECT_FALSE(pending.IsReady());

  const PollResult<int> ready = 5;
  EXPECT_TRUE(ready.IsReady());
  EXPECT_FALSE(ready.IsPending());
  EXPECT_EQ(*ready, 5);
  EXPECT_EQ(ready.value(), 5);
}

TEST(PollResult, ConvertsFromTypesThatItsValueConvertsFrom) {
  const PollResult<std::string> text = "text";
  EXPECT_EQ(*text, "text");
  const PollResult<std::optional<int>> some = 5;
  EXPECT_EQ(**some, 5);
}

// The end of a stream is a value. If it were taken for pending, the end would
// never be seen.
TEST(PollResult, ANulloptIsAValue) {
  const PollResult<std::optional<int>> none = std::nullopt;
  ASSERT_TRUE(none.IsReady());
  EXPECT_FALSE(none->has_value());
  const PollResult<std::optional<long>> other = std::optional<int>();
  ASSERT_TRUE(other.IsReady());
  EXPECT_FALSE(other->has_value());
  PollResult<std::optional<int>> assigned = kPending;
  assigned = std::nullopt;
  EXPECT_TRUE(assigned.IsReady());
}

TEST(PollResult, DoesNotConvertFromOtherTypes) {
  static_assert(!std::is_convertible_v<std::string, PollResult<int>>);
  // As with the value itself, an explicit constructor is not used implicitly.
  static_assert(!std::is_convertible_v<int*, PollResult<std::unique_ptr<int>>>);
  static_assert(!std::is_default_constructible_v<PollResult<int>>);
}

TEST(PollResult, ConstructsItsValueInPlace) {
  const PollResult<std::string> text(std::in_place, 3, 'x');
  EXPECT_EQ(*text, "xxx");
}

TEST(PollResult, EmplaceWorksForTypesThatCannotBeAssigned) {
  struct Constant {
    explicit Constant(int value) : value(value) {}
    const int value;
  };
  PollResult<Constant> result = kPending;
  EXPECT_EQ(result.emplace(5).value, 5);
  EXPECT_EQ(result.emplace(6).value, 6);
  EXPECT_EQ(result->value, 6);
}

// `std::any` takes any copyable type, and checks whether this type is copyable.
TEST(PollResult, HoldsTypesThatConvertFromAnything) {
  PollResult<std::any> result = std::any(5);
  const PollResult<std::any> moved = std::move(result);
  EXPECT_EQ(std::any_cast<int>(*moved), 5);
  const PollResult<std::any> made = 6;
  EXPECT_EQ(std::any_cast<int>(*made), 6);
}

TEST(PollResult, HoldsMoveOnlyTypes) {
  PollResult<std::unique_ptr<int>> result = std::make_unique<int>(5);
  PollResult<std::unique_ptr<int>> moved = std::move(result);
  const std::unique_ptr<int> value = *std::move(moved);
  EXPECT_EQ(*value, 5);
  static_assert(!std::is_copy_constructible_v<decltype(moved)>);
}

TEST(PollResult, TheValueAndItsMembersAreAccessible) {
  PollResult<std::string> result = "a";
  *result += "b";
  result.value() += "c";
  result->push_back('d');
  EXPECT_EQ(*result, "abcd");
}

TEST(PollResult, IsReassigned) {
  PollResult<int> result = kPending;
  result = 5;
  EXPECT_EQ(*result, 5);
  result = kPending;
  EXPECT_TRUE(result.IsPending());
}

TEST(PollResult, Nests) {
  const PollResult<PollResult<int>> outer_pending = kPending;
  EXPECT_TRUE(outer_pending.IsPending());
  const PollResult<PollResult<int>> inner_pending = PollResult<int>(kPending);
  ASSERT_TRUE(inner_pending.IsReady());
  EXPECT_TRUE(inner_pending->IsPending());
}

TEST(PollResult, IsUsableInConstantExpressions) {
  static_assert(PollResult<int>(5).value() == 5);
  static_assert(PollResult<int>(kPending).IsPending());
  static_assert(PollResult<void>().IsReady());
  static_assert(
      PollResult<int>(5).Transform([](int n) { return n + 1; }).value() == 6);
}

TEST(PollResult, OfVoidIsReadyByDefault) {
  const auto ready = []() -> PollResult<void> { return {}; };
  EXPECT_TRUE(ready().IsReady());
  EXPECT_FALSE(ready().IsPending());
  ready().value();
  *ready();
  const PollResult<void> pending = kPending;
  EXPECT_TRUE(pending.IsPending());
}

TEST(PollResult, OfAReferenceRefers) {
  int number = 5;
  const PollResult<int&> result = number;
  ASSERT_TRUE(result.IsReady());
  *result = 6;
  EXPECT_EQ(number, 6);
  EXPECT_EQ(&result.value(), &number);
  const PollResult<int&> pending = kPending;
  EXPECT_TRUE(pending.IsPending());
  EXPECT_FALSE(pending.IsReady());
}

TEST(PollResult, OfAReferenceReachesMembers) {
  std::string text = "a";
  const PollResult<std::string&> result = text;
  result->push_back('b');
  EXPECT_EQ(text, "ab");
}

TEST(PollResult, OfAReferenceTakesNoTemporary) {
  static_assert(std::is_constructible_v<PollResult<const int&>, int&>);
  static_assert(!std::is_constructible_v<PollResult<const int&>, int>);
  static_assert(!std::is_constructible_v<PollResult<int&>, int>);
  static_assert(!std::is_constructible_v<PollResult<int&>, const int&>);
}

TEST(PollResult, OfAReferenceToConstConverts) {
  const int number = 5;
  const PollResult<const int&> result = number;
  EXPECT_EQ(&*result, &number);
}

TEST(PollResult, TransformMapsTheValue) {
  const PollResult<std::string> text =
      PollResult<int>(5).Transform([](int n) { return std::to_string(n); });
  EXPECT_EQ(*text, "5");
}

TEST(PollResult, TransformKeepsPending) {
  bool called = false;
  const PollResult<int> result =
      PollResult<int>(kPending).Transform([&](int n) {
        called = true;
        return n;
      });
  EXPECT_TRUE(result.IsPending());
  EXPECT_FALSE(called);
}

TEST(PollResult, TransformMovesTheValue) {
  PollResult<std::unique_ptr<int>> result = std::make_unique<int>(5);
  const PollResult<int> number = std::move(result).Transform(
      [](std::unique_ptr<int> value) { return *value; });
  EXPECT_EQ(*number, 5);
}

TEST(PollResult, TransformsToAndFromVoid) {
  int seen = 0;
  const PollResult<void> done =
      PollResult<int>(5).Transform([&](int n) { seen = n; });
  EXPECT_TRUE(done.IsReady());
  EXPECT_EQ(seen, 5);

  const PollResult<int> number = PollResult<void>().Transform([] { return 7; });
  EXPECT_EQ(*number, 7);
  EXPECT_TRUE(PollResult<void>().Transform([] {}).IsReady());
  EXPECT_TRUE(PollResult<void>(kPending).Transform([] {}).IsPending());
}

TEST(PollResult, TransformsToAndFromAReference) {
  std::pair<int, int> pair(1, 2);
  const PollResult<int&> second =
      PollResult<std::pair<int, int>&>(pair).Transform(
          [](std::pair<int, int>& p) -> int& { return p.second; });
  EXPECT_EQ(&*second, &pair.second);

  PollResult<int&>(pair.first).Transform([](int& n) { n = 9; }).value();
  EXPECT_EQ(pair.first, 9);
  EXPECT_TRUE(PollResult<int&>(kPending)
                  .Transform([](int& n) { return n; })
                  .IsPending());
}

TEST(PollResult, TransformTakesAMemberPointer) {
  const PollResult<int> first = PollResult<std::pair<int, int>>(std::pair(1, 2))
                                    .Transform(&std::pair<int, int>::first);
  EXPECT_EQ(*first, 1);
}

}  // namespace
}  // namespace rouse
