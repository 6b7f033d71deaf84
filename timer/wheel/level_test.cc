#include "rouse/timer/wheel/level.h"

#include "gtest/gtest.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/timer/wheel/entry.h"

namespace rouse::wheel {
namespace {

TEST(Level, StartsEmpty) {
  const Level level;
  EXPECT_TRUE(level.IsEmpty());
}

TEST(Level, FindsTheFirstOccupiedSlot) {
  Level level;
  Entry a;
  Entry b;
  Entry c;
  level.Insert(a, 63);
  EXPECT_EQ(level.FirstOccupied(), 63);
  level.Insert(b, 17);
  EXPECT_EQ(level.FirstOccupied(), 17);
  level.Insert(c, 0);
  EXPECT_EQ(level.FirstOccupied(), 0);
  IntrusiveList<Entry> list;
  for (const int slot : {0, 17, 63}) level.MoveSlot(slot, list);
  list.Clear();
}

TEST(Level, ASlotIsOccupiedUntilItsLastEntryHasGone) {
  Level level;
  Entry a;
  Entry b;
  level.Insert(a, 5);
  level.Insert(b, 5);
  a.Unlink();
  level.OnUnlinked(5);
  EXPECT_FALSE(level.IsEmpty());
  b.Unlink();
  level.OnUnlinked(5);
  EXPECT_TRUE(level.IsEmpty());
}

TEST(Level, LooksAtASlotThatHeldNothing) {
  Level level;
  Entry a;
  level.Insert(a, 5);
  level.OnUnlinked(6);
  level.OnUnlinked(5);
  EXPECT_EQ(level.FirstOccupied(), 5);
  a.Unlink();
  level.OnUnlinked(5);
}

TEST(Level, MovesASlotInOrder) {
  Level level;
  Entry a;
  Entry b;
  Entry c;
  IntrusiveList<Entry> list;
  list.PushBack(&c);
  level.Insert(a, 9);
  level.Insert(b, 9);
  level.MoveSlot(9, list);
  EXPECT_TRUE(level.IsEmpty());
  EXPECT_EQ(list.PopFront(), &c);
  EXPECT_EQ(list.PopFront(), &a);
  EXPECT_EQ(list.PopFront(), &b);
}

}  // namespace
}  // namespace rouse::wheel
