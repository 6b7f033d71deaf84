// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/fs/watch/watcher.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/fs/fs_fixture.h"
#include "rouse/future/stream.h"
#include "rouse/reactor/handle.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/internal/failing_calls.h"

namespace rouse::fs {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

static_assert(Stream<Watcher>);

class WatcherTest : public FsTest {
 protected:
  WatchId Add(std::string_view name, WatchKinds kinds = WatchKinds::All()) {
    return Run(watcher_.Add(Path(name), kinds)).value();
  }

  WatchEvent NextEvent() {
    std::optional<absl::StatusOr<WatchEvent>> event = Run(Next(watcher_));
    return std::move(event).value().value();
  }

  // Returns events up to one that creates `last`, without it, such as "kCreated
  // a".
  std::vector<std::string> EventsUntil(std::string_view last) {
    Put(last, "");
    std::vector<std::string> events;
    for (;;) {
      const WatchEvent event = NextEvent();
      if (event.name == last) return events;
      events.push_back(absl::StrCat(event.kind, " ", event.name));
    }
  }

  Watcher watcher_ = Watcher::Create().value();
};

constexpr WatchKinds kNames = WatchKind::kCreated | WatchKind::kRemoved |
                              WatchKind::kMovedFrom | WatchKind::kMovedTo;

TEST_F(WatcherTest, ReportsTheEntriesOfADirectory) {
  const WatchId id = Add("", kNames);
  Put("a", "text");
  ASSERT_EQ(mkdir(Path("dir").c_str(), 0777), 0);
  ASSERT_EQ(unlink(Path("a").c_str()), 0);
  const WatchEvent created = NextEvent();
  EXPECT_EQ(created.kind, WatchKind::kCreated);
  EXPECT_EQ(created.watch, id);
  EXPECT_EQ(created.path, Path(""));
  EXPECT_EQ(created.name, "a");
  EXPECT_FALSE(created.is_dir);
  EXPECT_EQ(created.cookie, 0u);
  const WatchEvent made = NextEvent();
  EXPECT_EQ(made.kind, WatchKind::kCreated);
  EXPECT_EQ(made.name, "dir");
  EXPECT_TRUE(made.is_dir);
  EXPECT_THAT(EventsUntil("last"), ElementsAre("kRemoved a"));
}

TEST_F(WatcherTest, ReportsWhatIsDoneWithAFile) {
  Put("a", "text");
  Add("a");
  std::ofstream(Path("a"), std::ios::app) << "more" << std::flush;
  ASSERT_EQ(chmod(Path("a").c_str(), 0600), 0);
  ASSERT_EQ(rename(Path("a").c_str(), Path("b").c_str()), 0);
  for (const WatchKind kind :
       {WatchKind::kModified, WatchKind::kClosedAfterWrite,
        WatchKind::kAttributes, WatchKind::kSelfMoved}) {
    const WatchEvent event = NextEvent();
    EXPECT_EQ(event.kind, kind) << ToString(event.kind);
    EXPECT_EQ(event.name, "");
    EXPECT_EQ(event.path, Path("a"));
  }
}

TEST_F(WatcherTest, ReportsOnlyTheKindsThatWereAskedFor) {
  Add("", WatchKind::kCreated);
  Put("a", "text");
  ASSERT_EQ(unlink(Path("a").c_str()), 0);
  Put("b", "");
  EXPECT_THAT(EventsUntil("last"), ElementsAre("kCreated a", "kCreated b"));
}

TEST_F(WatcherTest, TheEventsOfARenamingShareACookie) {
  ASSERT_EQ(mkdir(Path("to").c_str(), 0777), 0);
  Put("a", "");
  Put("b", "");
  const WatchId from = Add("", kNames);
  const WatchId to = Add("to", kNames);
  ASSERT_EQ(rename(Path("a").c_str(), Path("to/c").c_str()), 0);
  ASSERT_EQ(rename(Path("b").c_str(), Path("d").c_str()), 0);
  const WatchEvent one = NextEvent();
  const WatchEvent two = NextEvent();
  const WatchEvent three = NextEvent();
  const WatchEvent four = NextEvent();
  EXPECT_EQ(one.kind, WatchKind::kMovedFrom);
  EXPECT_EQ(one.watch, from);
  EXPECT_EQ(one.name, "a");
  EXPECT_EQ(two.kind, WatchKind::kMovedTo);
  EXPECT_EQ(two.watch, to);
  EXPECT_EQ(two.path, Path("to"));
  EXPECT_EQ(two.name, "c");
  EXPECT_NE(one.cookie, 0u);
  EXPECT_EQ(one.cookie, two.cookie);
  EXPECT_EQ(three.cookie, four.cookie);
  EXPECT_NE(one.cookie, three.cookie);
  EXPECT_EQ(four.name, "d");
}

TEST_F(WatcherTest, ARemovedFileEndsItsWatch) {
  Put("a", "");
  const WatchId id = Add("a", WatchKind::kSelfRemoved);
  EXPECT_EQ(watcher_.size(), 1u);
  ASSERT_EQ(unlink(Path("a").c_str()), 0);
  EXPECT_EQ(NextEvent().kind, WatchKind::kSelfRemoved);
  const WatchEvent ended = NextEvent();
  EXPECT_EQ(ended.kind, WatchKind::kEnded);
  EXPECT_EQ(ended.watch, id);
  EXPECT_EQ(ended.path, Path("a"));
  EXPECT_EQ(watcher_.size(), 0u);
  EXPECT_THAT(watcher_.Remove(id), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(WatcherTest, AnEndedWatchHasOneLastEvent) {
  const WatchId id = Add("", kNames);
  Put("a", "");
  EXPECT_THAT(watcher_.Remove(id), IsOk());
  EXPECT_THAT(watcher_.Remove(id), StatusIs(absl::StatusCode::kNotFound));
  Put("b", "");
  EXPECT_EQ(NextEvent().name, "a");
  EXPECT_EQ(NextEvent().kind, WatchKind::kEnded);
  // The same directory can be watched again, under another id.
  EXPECT_NE(Add("", kNames), id);
  EXPECT_THAT(EventsUntil("last"), ElementsAre());
}

TEST_F(WatcherTest, AFileIsWatchedOnce) {
  Put("a", "");
  ASSERT_EQ(link(Path("a").c_str(), Path("b").c_str()), 0);
  Add("a", WatchKind::kModified);
  EXPECT_THAT(Run(watcher_.Add(Path("b"), WatchKind::kAttributes)),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr(Path("b"))));
  // The first watch is unchanged.
  Put("b", "text");
  EXPECT_EQ(NextEvent().kind, WatchKind::kModified);
}

TEST_F(WatcherTest, FollowsSymbolicLinks) {
  ASSERT_EQ(mkdir(Path("dir").c_str(), 0777), 0);
  ASSERT_EQ(symlink("dir", Path("link").c_str()), 0);
  Add("link", kNames);
  Put("dir/a", "");
  const WatchEvent event = NextEvent();
  EXPECT_EQ(event.path, Path("link"));
  EXPECT_EQ(event.name, "a");
}

TEST_F(WatcherTest, ErrorsNameThePath) {
  EXPECT_THAT(Run(watcher_.Add(Path("no"))),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr(Path("no"))));
  EXPECT_THAT(
      Run(watcher_.Add(Path(""), WatchKind::kOverflow)),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(Path(""))));
  EXPECT_EQ(watcher_.size(), 0u);
}

TEST_F(WatcherTest, ErrorsOfLimitsSayWhatToRaise) {
  std::optional<absl::StatusOr<WatchId>> added;
  if (!reactor::WithFailingCalls({SYS_inotify_add_watch}, ENOSPC, [&] {
        added = Run(watcher_.Add(Path("")));
      })) {
    GTEST_SKIP() << "no filters of system calls here";
  }
  EXPECT_THAT(*added, StatusIs(absl::StatusCode::kResourceExhausted,
                               HasSubstr("fs.inotify.max_user_watches")));
  absl::Status made;
  ASSERT_TRUE(reactor::WithFailingCalls(
      {SYS_inotify_init1}, EMFILE, [&] { made = Watcher::Create().status(); }));
  EXPECT_THAT(made, StatusIs(absl::StatusCode::kResourceExhausted,
                             HasSubstr("fs.inotify.max_user_instances")));
}

TEST_F(WatcherTest, NeedsAReactor) {
  const reactor::ScopedDefault none((reactor::Handle()));
  EXPECT_THAT(Watcher::Create().status(),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(WatcherTest, LostEventsAreReported) {
  std::string limit;
  std::getline(std::ifstream("/proc/sys/fs/inotify/max_queued_events"), limit);
  int size;
  if (!absl::SimpleAtoi(limit, &size) || size > 100'000) {
    GTEST_SKIP() << "the queue is too large: " << limit;
  }
  Put("a", "");
  Put("b", "");
  Add("", WatchKind::kAttributes);
  // Equal events that follow each other would be merged.
  for (int i = 0; i <= size; ++i) {
    ASSERT_EQ(chmod(Path(i % 2 == 0 ? "a" : "b").c_str(), 0600), 0);
  }
  for (int i = 0; i < size; ++i) {
    ASSERT_EQ(NextEvent().kind, WatchKind::kAttributes);
  }
  const WatchEvent lost = NextEvent();
  EXPECT_EQ(lost.kind, WatchKind::kOverflow);
  EXPECT_EQ(lost.path, "");
  // The watch goes on.
  ASSERT_EQ(chmod(Path("a").c_str(), 0644), 0);
  EXPECT_EQ(NextEvent().name, "a");
}

TEST_F(WatcherTest, APollWaitsAndIsWoken) {
  Add("", kNames);
  CountingWaker waker;
  auto next = Next(watcher_);
  EXPECT_TRUE(waker.Poll(next).IsPending());
  Put("a", "");
  const auto event = Run(std::move(next));
  ASSERT_TRUE(event.has_value());
  ASSERT_THAT(*event, IsOk());
  EXPECT_EQ((*event)->name, "a");
}

TEST_F(WatcherTest, ADestroyedPollLosesNothing) {
  Add("", WatchKind::kCreated);
  for (int i = 0; i < 1000; ++i) Put(absl::StrCat(i), "");
  CountingWaker waker;
  for (int i = 0; i < 1000;) {
    {
      auto next = Next(watcher_);
      auto event = waker.Poll(next);
      if (event.IsReady()) {
        EXPECT_EQ((**event)->name, absl::StrCat(i));
        ++i;
      }
    }
    if (i < 1000) {
      EXPECT_EQ(NextEvent().name, absl::StrCat(i));
      ++i;
    }
  }
}

TEST_F(WatcherTest, ADestroyedAddAddsNothing) {
  CountingWaker waker;
  for (int i = 0; i < 100; ++i) {
    auto add = watcher_.Add(Path(""));
    if (waker.Poll(add).IsReady()) break;
  }
  // An `Add()` that was ready at once has added the watch.
  if (watcher_.size() == 0) Add("", kNames);
  EXPECT_EQ(watcher_.size(), 1u);
}

TEST_F(WatcherTest, AWatcherCanBeMovedWhileAnAddIsPending) {
  CountingWaker waker;
  auto add = watcher_.Add(Path(""), kNames);
  (void)waker.Poll(add);
  Watcher moved(std::move(watcher_));
  watcher_ = std::move(moved);
  if (watcher_.size() == 0) {
    ASSERT_THAT(Run(std::move(add)), IsOk());
  }
  Put("a", "");
  EXPECT_EQ(NextEvent().name, "a");
}

TEST_F(WatcherTest, TheStreamEndsAfterTheRuntime) {
  std::optional<Runtime> other = Builder::CurrentThread().Build().value();
  std::optional<Watcher> watcher;
  {
    const EnterGuard enter = other->Enter();
    watcher = Watcher::Create().value();
  }
  other.reset();
  const std::optional<absl::StatusOr<WatchEvent>> event = Run(Next(*watcher));
  ASSERT_TRUE(event.has_value());
  EXPECT_THAT(*event, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_FALSE(Run(Next(*watcher)).has_value());
}

TEST(WatchKinds, AreASet) {
  EXPECT_TRUE(kNames.Contains(WatchKind::kCreated));
  EXPECT_FALSE(kNames.Contains(WatchKind::kModified));
  EXPECT_TRUE(WatchKinds::All().Contains(WatchKind::kSelfMoved));
  EXPECT_FALSE(WatchKinds::All().Contains(WatchKind::kEnded));
  EXPECT_EQ(WatchKinds(WatchKind::kCreated) | WatchKind::kRemoved,
            WatchKind::kCreated | WatchKind::kRemoved);
}

}  // namespace
}  // namespace rouse::fs
