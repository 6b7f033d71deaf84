// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/intrusive_list.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Item : IntrusiveListNode<> {
  explicit Item(int number) : number(number) {}
  int number;
};

using List = IntrusiveList<Item>;

std::vector<int> Numbers(List& list) {
  std::vector<int> numbers;
  list.ForEach([&](Item* item) { numbers.push_back(item->number); });
  return numbers;
}

TEST(IntrusiveList, IsEmptyAtFirst) {
  List list;
  EXPECT_TRUE(list.IsEmpty());
  EXPECT_EQ(list.Front(), nullptr);
  EXPECT_EQ(list.Back(), nullptr);
  EXPECT_EQ(list.PopFront(), nullptr);
  EXPECT_EQ(list.PopBack(), nullptr);
}

TEST(IntrusiveList, KeepsTheOrderOfPushes) {
  Item a(1), b(2), c(3);
  List list;
  list.PushBack(&b);
  list.PushBack(&c);
  list.PushFront(&a);
  EXPECT_THAT(Numbers(list), ElementsAre(1, 2, 3));
  EXPECT_EQ(list.Front(), &a);
  EXPECT_EQ(list.Back(), &c);
  list.Clear();
}

TEST(IntrusiveList, RemoveReturnsTheListThatItEmptied) {
  Item a(1), b(2), c(3), d(4);
  List list;
  List other;
  for (Item* item : {&a, &b, &c}) list.PushBack(item);
  other.PushBack(&d);
  EXPECT_EQ(List::Remove(&b), nullptr);
  EXPECT_FALSE(b.IsLinked());
  EXPECT_EQ(List::Remove(&a), nullptr);
  EXPECT_EQ(List::Remove(&d), &other);
  EXPECT_TRUE(other.IsEmpty());
  EXPECT_EQ(List::Remove(&c), &list);
  EXPECT_TRUE(list.IsEmpty());
}

TEST(IntrusiveList, ReturnsWhetherItHasAtLeastThisManyElements) {
  Item a(1), b(2);
  List list;
  EXPECT_TRUE(list.HasAtLeast(0));
  EXPECT_FALSE(list.HasAtLeast(1));
  list.PushBack(&a);
  list.PushBack(&b);
  EXPECT_TRUE(list.HasAtLeast(2));
  EXPECT_FALSE(list.HasAtLeast(3));
  list.Clear();
}

TEST(IntrusiveList, PopsAtBothEnds) {
  Item a(1), b(2), c(3);
  List list;
  list.PushBack(&a);
  list.PushBack(&b);
  list.PushBack(&c);
  EXPECT_EQ(list.PopFront(), &a);
  EXPECT_EQ(list.PopBack(), &c);
  EXPECT_FALSE(a.IsLinked());
  EXPECT_TRUE(b.IsLinked());
  EXPECT_EQ(list.PopBack(), &b);
  EXPECT_TRUE(list.IsEmpty());
}

TEST(IntrusiveList, ANodeLeavesByItself) {
  Item a(1), b(2), c(3);
  List list;
  list.PushBack(&a);
  list.PushBack(&b);
  list.PushBack(&c);
  b.Unlink();
  EXPECT_FALSE(b.IsLinked());
  EXPECT_THAT(Numbers(list), ElementsAre(1, 3));
  a.Unlink();
  EXPECT_THAT(Numbers(list), ElementsAre(3));
  c.Unlink();
  EXPECT_TRUE(list.IsEmpty());
}

TEST(IntrusiveList, UnlinkingTwiceDoesNothing) {
  Item a(1), b(2);
  List list;
  list.PushBack(&a);
  list.PushBack(&b);
  a.Unlink();
  a.Unlink();
  EXPECT_THAT(Numbers(list), ElementsAre(2));
  b.Unlink();
}

TEST(IntrusiveList, ANodeComesBackAfterItLeft) {
  Item a(1), b(2);
  List list;
  list.PushBack(&a);
  list.PushBack(&b);
  a.Unlink();
  list.PushBack(&a);
  EXPECT_THAT(Numbers(list), ElementsAre(2, 1));
  list.Clear();
}

TEST(IntrusiveList, AppendsAllElementsOfAnotherList) {
  Item a(1), b(2), c(3), d(4);
  List first, second;
  first.PushBack(&a);
  first.PushBack(&b);
  second.PushBack(&c);
  second.PushBack(&d);
  first.Append(second);
  EXPECT_TRUE(second.IsEmpty());
  EXPECT_THAT(Numbers(first), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(first.Back(), &d);
  first.Clear();
}

TEST(IntrusiveList, AppendsToAnEmptyList) {
  Item a(1), b(2);
  List first, second;
  second.PushBack(&a);
  second.PushBack(&b);
  first.Append(second);
  EXPECT_THAT(Numbers(first), ElementsAre(1, 2));
  EXPECT_TRUE(second.IsEmpty());
  first.Clear();
}

TEST(IntrusiveList, AppendingAnEmptyListChangesNothing) {
  Item a(1);
  List first, second;
  first.PushBack(&a);
  first.Append(second);
  EXPECT_THAT(Numbers(first), ElementsAre(1));
  EXPECT_TRUE(second.IsEmpty());
  first.Clear();
}

TEST(IntrusiveList, AnAppendedNodeStillLeavesByItself) {
  Item a(1), b(2);
  List first, second;
  first.PushBack(&a);
  second.PushBack(&b);
  first.Append(second);
  b.Unlink();
  EXPECT_THAT(Numbers(first), ElementsAre(1));
  a.Unlink();
  EXPECT_TRUE(first.IsEmpty());
}

TEST(IntrusiveList, MovingMovesTheElements) {
  Item a(1), b(2);
  List from;
  from.PushBack(&a);
  from.PushBack(&b);

  List constructed(std::move(from));
  EXPECT_TRUE(from.IsEmpty());  // NOLINT(bugprone-use-after-move)
  EXPECT_THAT(Numbers(constructed), ElementsAre(1, 2));

  List assigned;
  assigned = std::move(constructed);
  EXPECT_TRUE(constructed.IsEmpty());  // NOLINT(bugprone-use-after-move)
  EXPECT_THAT(Numbers(assigned), ElementsAre(1, 2));
  assigned.Clear();
}

TEST(IntrusiveList, AnEmptyListMoves) {
  List from;
  List to(std::move(from));
  EXPECT_TRUE(to.IsEmpty());
  EXPECT_TRUE(from.IsEmpty());  // NOLINT(bugprone-use-after-move)
}

TEST(IntrusiveList, ForEachMayUnlinkTheElementItIsGiven) {
  Item a(1), b(2), c(3), d(4);
  List list;
  for (Item* item : {&a, &b, &c, &d}) list.PushBack(item);
  list.ForEach([](Item* item) {
    if (item->number % 2 == 0) item->Unlink();
  });
  EXPECT_THAT(Numbers(list), ElementsAre(1, 3));
  list.ForEach([](Item* item) { item->Unlink(); });
  EXPECT_THAT(Numbers(list), IsEmpty());
}

TEST(IntrusiveList, ForEachMayDestroyTheElementItIsGiven) {
  List list;
  for (int i = 0; i < 3; ++i)
    list.PushBack(std::make_unique<Item>(i).release());
  int destroyed = 0;
  list.ForEach([&](Item* item) {
    const std::unique_ptr<Item> owned(item);
    owned->Unlink();
    ++destroyed;
  });
  EXPECT_EQ(destroyed, 3);
  EXPECT_TRUE(list.IsEmpty());
}

struct ByAge;
struct ByName;
struct Person : IntrusiveListNode<ByAge>, IntrusiveListNode<ByName> {};

TEST(IntrusiveList, AnElementIsInOneListForEachTag) {
  Person p, q;
  IntrusiveList<Person, ByAge> ages;
  IntrusiveList<Person, ByName> names;
  ages.PushBack(&p);
  ages.PushBack(&q);
  names.PushBack(&q);
  names.PushBack(&p);

  p.IntrusiveListNode<ByAge>::Unlink();
  EXPECT_EQ(ages.Front(), &q);
  EXPECT_EQ(names.Front(), &q);
  EXPECT_EQ(names.Back(), &p);
  EXPECT_TRUE(p.IntrusiveListNode<ByName>::IsLinked());
  ages.Clear();
  names.Clear();
}

// Compares with a deque, in seeded random operations on two lists.
TEST(IntrusiveList, AgreesWithADeque) {
  constexpr uint64_t kSeed = 20260101;
  FastRand rand(kSeed);
  std::deque<Item> items;
  for (int i = 0; i < 20; ++i) items.emplace_back(i);
  List lists[2];
  std::deque<int> expected[2];

  for (int step = 0; step < 20000; ++step) {
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << " step " << step);
    const int which = rand.Below(2);
    Item& item = items[rand.Below(20)];
    switch (rand.Below(8)) {
      case 0:
      case 1:
        if (item.IsLinked()) break;
        lists[which].PushBack(&item);
        expected[which].push_back(item.number);
        break;
      case 2:
        if (item.IsLinked()) break;
        lists[which].PushFront(&item);
        expected[which].push_front(item.number);
        break;
      case 3:
      case 4:
        item.Unlink();
        for (auto& list : expected) std::erase(list, item.number);
        break;
      case 5:
        if (lists[which].PopFront() != nullptr) expected[which].pop_front();
        break;
      case 6:
        if (lists[which].PopBack() != nullptr) expected[which].pop_back();
        break;
      case 7:
        if (rand.Below(4) != 0) break;
        lists[which].Append(lists[1 - which]);
        std::ranges::copy(expected[1 - which],
                          std::back_inserter(expected[which]));
        expected[1 - which].clear();
        break;
    }
    for (int i : {0, 1}) {
      ASSERT_THAT(Numbers(lists[i]), ::testing::ElementsAreArray(expected[i]));
    }
  }
  for (List& list : lists) list.Clear();
}

}  // namespace
}  // namespace rouse
