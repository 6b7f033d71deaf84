// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/await_trace.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co/co.h"
#include "rouse/future/co/gen.h"
#include "rouse/future/collect.h"
#include "rouse/future/combine/join.h"
#include "rouse/future/combine/race.h"
#include "rouse/future/combine/select.h"
#include "rouse/future/combine/try_join.h"
#include "rouse/future/filter.h"
#include "rouse/future/many/join_all.h"
#include "rouse/future/map.h"
#include "rouse/future/or_return.h"
#include "rouse/future/stream.h"
#include "rouse/future/take.h"
#include "rouse/future/task_local.h"
#include "rouse/future/unconstrained.h"
#include "rouse/testing/internal/switch.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// Has a name as in a user's program, and is not in an anonymous namespace,
// whose name depends on the compiler.
namespace trace_test {

class Never {
 public:
  PollResult<void> Poll(Context&) { return kPending; }
};

class NeverStatus {
 public:
  PollResult<absl::Status> Poll(Context&) { return kPending; }
};

// Lines of the `co_await` expressions.
int leaf_line, child_line, root_line;

Co<> AwaitNever() {
  leaf_line = __LINE__ + 1;
  co_await Never();
}
Co<> AwaitChild() {
  child_line = __LINE__ + 1;
  co_await AwaitNever();
}
Co<> AwaitGrandchild(int, std::string) {
  root_line = __LINE__ + 1;
  co_await AwaitChild();
}

}  // namespace trace_test

namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using trace_test::AwaitNever;
using trace_test::Never;
using trace_test::NeverStatus;
using Kind = AwaitTrace::Step::Kind;

template <class F>
AwaitTrace TraceOf(const F& future) {
  AwaitTrace trace;
  trace.Add(future);
  return trace;
}

// Returns the steps with their branches: "line" for an await, and "name" for
// any other step.
template <class F>
std::vector<std::string> StepsOf(const F& future) {
  std::vector<std::string> steps;
  const AwaitTrace trace = TraceOf(future);
  for (const AwaitTrace::Step& step : trace.steps()) {
    steps.push_back(absl::StrCat(
        std::string(step.depth, '.'), step.begins_branch ? "-" : "",
        step.kind == Kind::kAwait ? absl::StrCat(step.where.line())
                                  : std::string(step.name)));
  }
  return steps;
}

std::string Line(int line) { return absl::StrCat(line); }

TEST(AwaitTrace, ListsTheChainFromTheRoot) {
  auto co = trace_test::AwaitGrandchild(1, "x");
  ASSERT_TRUE(PollOnce(co).IsPending());
  EXPECT_EQ(TraceOf(co).ToString(),
            absl::StrCat("rouse::trace_test::AwaitGrandchild at "
                         "future/await_trace_test.cc:",
                         trace_test::root_line,
                         "\nrouse::trace_test::AwaitChild at "
                         "future/await_trace_test.cc:",
                         trace_test::child_line,
                         "\nrouse::trace_test::AwaitNever at "
                         "future/await_trace_test.cc:",
                         trace_test::leaf_line,
                         "\nawaiting rouse::trace_test::Never\n"));
}

TEST(AwaitTrace, IsStringifiedAsItPrints) {
  Co<> co = AwaitNever();
  ASSERT_TRUE(PollOnce(co).IsPending());
  const AwaitTrace trace = TraceOf(co);
  EXPECT_EQ(absl::StrCat(trace), trace.ToString());
}

TEST(AwaitTrace, IsIndented) {
  AwaitTrace trace;
  trace.AddLeaf("Thing", "of task 3");
  EXPECT_EQ(trace.ToString(4), "    awaiting Thing, of task 3\n");
}

Co<> AwaitInTurn(Switch<int>::Leaf& first, Switch<int>::Leaf& second,
                 int* lines) {
  lines[0] = __LINE__ + 1;
  co_await first;
  const int value = co_await second;
  lines[1] = __LINE__ - 1;
  for (int i = 0; i < value; ++i) {
    lines[2] = __LINE__ + 1;
    co_await Never();
  }
}

TEST(AwaitTrace, FollowsTheCoroutineToTheNextAwait) {
  Switch<int> first;
  Switch<int> second;
  Switch<int>::Leaf first_future = first.future();
  Switch<int>::Leaf second_future = second.future();
  int lines[3];
  Co<> co = AwaitInTurn(first_future, second_future, lines);
  ASSERT_TRUE(PollOnce(co).IsPending());
  EXPECT_EQ(TraceOf(co).steps()[0].where.line(), lines[0]);
  first.Set(1);
  ASSERT_TRUE(PollOnce(co).IsPending());
  const uint32_t in_condition = TraceOf(co).steps()[0].where.line();
  second.Set(1);
  ASSERT_TRUE(PollOnce(co).IsPending());
  EXPECT_EQ(in_condition, lines[1]);
  EXPECT_EQ(TraceOf(co).steps()[0].where.line(), lines[2]);
}

Co<> AwaitOverLines(int* first, int* last) {
  *first = __LINE__ + 1;
  co_await Join(  //
      Never(), Never());
  *last = __LINE__ - 1;
}

TEST(AwaitTrace, NamesALineOfALongExpression) {
  int first = 0;
  int last = 0;
  Co<> co = AwaitOverLines(&first, &last);
  ASSERT_TRUE(PollOnce(co).IsPending());
  const int line = static_cast<int>(TraceOf(co).steps()[0].where.line());
  EXPECT_GE(line, first);
  EXPECT_LE(line, first + 2);
}

TEST(AwaitTrace, DoesNotChangeTheChain) {
  Switch<int> value;
  const auto await = [](Switch<int>& value) -> Co<int> {
    co_return co_await value.future();
  };
  Co<int> co = await(value);
  ASSERT_TRUE(PollOnce(co).IsPending());
  EXPECT_EQ(TraceOf(co).steps().size(), 2u);
  EXPECT_EQ(value.polls(), 1);
  value.Set(7);
  EXPECT_EQ(PollOnce(co).value(), 7);
}

int or_return_line;

Co<absl::Status> AwaitOrReturn() {
  or_return_line = __LINE__ + 1;
  co_await OrReturn(NeverStatus());
  co_return absl::OkStatus();
}

Co<absl::Status> AwaitChildOrReturn(int* line) {
  co_await OrReturn(absl::OkStatus());
  *line = __LINE__ + 1;
  co_await OrReturn(AwaitOrReturn());
  co_return absl::OkStatus();
}

TEST(AwaitTrace, SeesThroughOrReturn) {
  int line = 0;
  Co<absl::Status> co = AwaitChildOrReturn(&line);
  ASSERT_TRUE(PollOnce(co).IsPending());
  EXPECT_THAT(StepsOf(co), ElementsAre(Line(line), Line(or_return_line),
                                       "rouse::trace_test::NeverStatus"));
}

Gen<int> YieldOnceAndWait(int* line) {
  co_yield 1;
  *line = __LINE__ + 1;
  co_await Never();
}

Co<> AwaitItems(Gen<int>& gen, int* line) {
  co_await Next(gen);
  *line = __LINE__ + 1;
  co_await Next(gen);
}

TEST(AwaitTrace, ContinuesInAGenerator) {
  int gen_line = 0;
  int line = 0;
  Gen<int> gen = YieldOnceAndWait(&gen_line);
  Co<> co = AwaitItems(gen, &line);
  ASSERT_TRUE(PollOnce(co).IsPending());
  EXPECT_THAT(StepsOf(co), ElementsAre(Line(line), Line(gen_line),
                                       "rouse::trace_test::Never"));
}

TEST(AwaitTrace, AGeneratorBetweenPollsIsALeaf) {
  int line = 0;
  Gen<int> gen = YieldOnceAndWait(&line);
  EXPECT_THAT(StepsOf(gen), ElementsAre("rouse::Gen<int>"));
  ASSERT_TRUE(PollNextOnce(gen).IsReady());
  EXPECT_THAT(StepsOf(gen), ElementsAre("rouse::Gen<int>"));
}

TEST(AwaitTrace, ContinuesInAStreamAdapter) {
  int line = 0;
  const auto yes = [](int) { return true; };
  auto collected =
      Collect(Take(Map(Filter(YieldOnceAndWait(&line), yes), yes), 5));
  ASSERT_TRUE(PollOnce(collected).IsPending());
  EXPECT_THAT(StepsOf(collected),
              ElementsAre(Line(line), "rouse::trace_test::Never"));
}

TEST(AwaitTrace, ContinuesInAScopeOfATaskLocal) {
  static constinit TaskLocal<int> number("number");
  auto scope = number.Scope(7, InheritTaskLocals(AwaitNever));
  ASSERT_TRUE(PollOnce(scope).IsPending());
  EXPECT_THAT(StepsOf(scope), ElementsAre(Line(trace_test::leaf_line),
                                          "rouse::trace_test::Never"));
}

TEST(AwaitTrace, ContinuesInACoroutineAwaitedByReference) {
  Co<> child = AwaitNever();
  int line = 0;
  const auto await = [](Co<>& child, int* line) -> Co<> {
    *line = __LINE__ + 1;
    co_await child;
  };
  Co<> co = await(child, &line);
  ASSERT_TRUE(PollOnce(co).IsPending());
  EXPECT_THAT(StepsOf(co), ElementsAre(Line(line), Line(trace_test::leaf_line),
                                       "rouse::trace_test::Never"));
}

TEST(AwaitTrace, HasABranchForEachPendingChild) {
  Switch<int> first;
  auto joined = Join(first.future(), Unconstrained(AwaitNever()), Never());
  ASSERT_TRUE(PollOnce(joined).IsPending());
  EXPECT_EQ(StepsOf(joined).size(), 5u);
  first.Set(1);
  ASSERT_TRUE(PollOnce(joined).IsPending());
  EXPECT_EQ(TraceOf(joined).ToString(2),
            absl::StrCat("  awaiting Join\n"
                         "  - rouse::trace_test::AwaitNever at "
                         "future/await_trace_test.cc:",
                         trace_test::leaf_line,
                         "\n    awaiting rouse::trace_test::Never\n"
                         "  - awaiting rouse::trace_test::Never\n"));
}

TEST(AwaitTrace, HasBranchesWithinBranches) {
  Never third;
  std::vector<Never> all(2);
  auto selected = Select(Race(Never(), Never()), JoinAll(std::move(all)),
                         SelectBiased(third), TryJoin(NeverStatus()));
  ASSERT_TRUE(PollOnce(selected).IsPending());
  const std::string never = "rouse::trace_test::Never";
  EXPECT_THAT(StepsOf(selected),
              ElementsAre("Select",                                //
                          ".-Race", "..-" + never, "..-" + never,  //
                          ".-JoinAll", "..-" + never, "..-" + never,
                          ".-SelectBiased", "..-" + never,  //
                          ".-TryJoin", "..-" + never + "Status"));
}

TEST(AwaitTrace, AnUnstartedOrCompleteCoroutineIsALeaf) {
  Co<> co = AwaitNever();
  EXPECT_EQ(
      TraceOf(co).ToString(),
      absl::StrCat("awaiting ", internal::TypeName<Co<>>(), ", not started\n"));
  const auto nothing = []() -> Co<> { co_return; };
  Co<> finished = nothing();
  ASSERT_TRUE(PollOnce(finished).IsReady());
  EXPECT_THAT(TraceOf(finished).ToString(), EndsWith(", finished\n"));
}

Co<> Recurse(int depth) {
  if (depth > 1) {
    co_await Recurse(depth - 1);
  } else {
    co_await Never();
  }
}

TEST(AwaitTrace, ListsAChainDeeperThanTheStack) {
  Co<> co = Recurse(10'000);
  ASSERT_TRUE(PollOnce(co).IsPending());
  const AwaitTrace trace = TraceOf(co);
  ASSERT_EQ(trace.steps().size(), 10'001u);
  EXPECT_LT(trace.steps()[0].where.line(), trace.steps()[9'999].where.line());
}

// Reports in `Trace()` the futures for which it waits.
class Both {
 public:
  PollResult<void> Poll(Context&) { return kPending; }
  void Trace(AwaitTrace& trace) const {
    AwaitTrace::Branches branches(trace, "Both");
    branches.Add(first_);
    branches.Add(second_);
  }

 private:
  Never first_;
  NeverStatus second_;
};
static_assert(Traceable<Both>);
static_assert(!Traceable<Never>);

TEST(AwaitTrace, CallsTraceOfAUsersFuture) {
  EXPECT_THAT(StepsOf(Both()), ElementsAre("Both", ".-rouse::trace_test::Never",
                                           ".-rouse::trace_test::NeverStatus"));
}

TEST(TypeName, ReturnsTheNameOfTheType) {
  EXPECT_EQ(internal::TypeName<int>(), "int");
  EXPECT_EQ(internal::TypeName<Never>(), "rouse::trace_test::Never");
  EXPECT_EQ(internal::TypeName<std::optional<Never>>(),
            "std::optional<rouse::trace_test::Never>");
}

TEST(ShortFunctionName, OmitsEverythingButTheName) {
  const auto shortened = [](std::string_view name) {
    return internal::ShortFunctionName(name);
  };
  EXPECT_EQ(shortened("Co<> Serve(TcpStream &)"), "Serve");
  EXPECT_EQ(shortened("rouse::Co<std::map<int, int>> a::b::C::Get(void (*)(int"
                      ")) const &"),
            "a::b::C::Get");
  EXPECT_EQ(shortened("Co<int> ns::(anonymous namespace)::Serve(int)"),
            "ns::(anonymous namespace)::Serve");
  EXPECT_EQ(shortened("Co<T> ns::F() [T = Co<void (*)(int)>]"), "ns::F");
  EXPECT_EQ(shortened("unsigned int F(int)"), "F");
  EXPECT_EQ(shortened("auto main()::(anonymous class)::operator()() const"),
            "main()::(anonymous class)::operator()");
  // This is how g++ names the function that resumes a coroutine.
  EXPECT_EQ(
      shortened("void ns::{anonymous}::Serve(Serve(int, const char*)::_ZN2"
                "ns12_GLOBAL__N_15ServeEiPKc.Frame*)"),
      "ns::{anonymous}::Serve");
  EXPECT_EQ(shortened("void main()::<lambda(auto:1)>::operator()(main()::<lambd"
                      "a(auto:1)>::_ZZ4mainENKUlT_E0_clIiEE2CoIiES_.Frame*)"),
            "main()::<lambda(auto:1)>::operator()");
  EXPECT_EQ(shortened("Co<bool> X::operator<(const X&)"), "X::operator<");
}

TEST(ShortFunctionName, KeepsTextThatItCannotParse) {
  EXPECT_EQ(internal::ShortFunctionName("main"), "main");
  EXPECT_EQ(internal::ShortFunctionName("Co<int Serve(int)"),
            "Co<int Serve(int)");
  EXPECT_EQ(internal::ShortFunctionName(""), "");
}

}  // namespace
}  // namespace rouse
