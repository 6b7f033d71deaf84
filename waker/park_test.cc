// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/waker/park.h"

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/waker/thread_parker.h"

namespace rouse {
namespace {

struct GoodUnparker {
  void Unpark() const {}
};

struct GoodDriver {
  using Unparker = GoodUnparker;
  Unparker unparker() const { return {}; }
  void Park() {}
  void ParkFor(absl::Duration) {}
  void Shutdown() {}
};

TEST(Park, IsSatisfiedByADriver) {
  EXPECT_TRUE(Park<GoodDriver>);
  EXPECT_TRUE(Park<ThreadParker>);
}

TEST(Park, IsSatisfiedByADriverOnAnotherDriver) {
  struct Above : GoodDriver {
    ThreadParker below;
    using Unparker = ThreadParker::Unparker;
    Unparker unparker() const { return below.unparker(); }
  };
  EXPECT_TRUE(Park<Above>);
}

TEST(Park, NeedsEveryMember) {
  struct NoUnparkerType {
    GoodUnparker unparker() const { return {}; }
    void Park() {}
    void ParkFor(absl::Duration) {}
    void Shutdown() {}
  };
  struct NoUnparker {
    using Unparker = GoodUnparker;
    void Park() {}
    void ParkFor(absl::Duration) {}
    void Shutdown() {}
  };
  struct NoPark {
    using Unparker = GoodUnparker;
    Unparker unparker() const { return {}; }
    void ParkFor(absl::Duration) {}
    void Shutdown() {}
  };
  struct NoParkFor {
    using Unparker = GoodUnparker;
    Unparker unparker() const { return {}; }
    void Park() {}
    void Shutdown() {}
  };
  struct NoShutdown {
    using Unparker = GoodUnparker;
    Unparker unparker() const { return {}; }
    void Park() {}
    void ParkFor(absl::Duration) {}
  };
  EXPECT_FALSE(Park<NoUnparkerType>);
  EXPECT_FALSE(Park<NoUnparker>);
  EXPECT_FALSE(Park<NoPark>);
  EXPECT_FALSE(Park<NoParkFor>);
  EXPECT_FALSE(Park<NoShutdown>);
  EXPECT_FALSE(Park<int>);
}

TEST(Park, NeedsAnUnparkerThatUnparks) {
  struct Mute : GoodDriver {
    struct Unparker {};
    Unparker unparker() const { return {}; }
  };
  EXPECT_FALSE(Park<Mute>);
}

TEST(Park, NeedsToBeTheDriverOfItsUnparker) {
  struct Other {
    void Unpark() const {}
  };
  struct Mismatched : GoodDriver {
    Other unparker() const { return {}; }
  };
  EXPECT_FALSE(Park<Mismatched>);
}

TEST(Park, NeedsADurationForALimit) {
  struct Seconds : GoodDriver {
    struct Limit {};
    void ParkFor(Limit) {}
  };
  EXPECT_FALSE(Park<Seconds>);
}

TEST(Unpark, NeedsToCopyAndToWorkOnConst) {
  struct MoveOnly {
    MoveOnly(MoveOnly&&) = default;
    MoveOnly& operator=(MoveOnly&&) = default;
    void Unpark() const {}
  };
  struct Mutable {
    void Unpark() {}
  };
  EXPECT_TRUE(Unpark<GoodUnparker>);
  EXPECT_TRUE(Unpark<ThreadParker::Unparker>);
  EXPECT_FALSE(Unpark<MoveOnly>);
  EXPECT_FALSE(Unpark<Mutable>);
  EXPECT_FALSE(Unpark<int>);
}

}  // namespace
}  // namespace rouse
