// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: feed.h
// -----------------------------------------------------------------------------
//
// Defines a helper for the tests of streams: a stream whose items the test
// decides.

#ifndef ROUSE_TESTING_INTERNAL_FEED_H_
#define ROUSE_TESTING_INTERNAL_FEED_H_

#include <deque>
#include <optional>
#include <utility>

#include "rouse/testing/poll_once.h"  // IWYU pragma: export
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {

// Feed
//
// Makes one stream, which returns the items that the test pushes. The `Feed`
// must outlive the stream.
//
//   Feed<int> feed;
//   auto stream = Map(feed.stream(), &Square);
//   feed.Push(3);
template <class T>
class Feed {
 public:
  class Items {
   public:
    explicit Items(Feed* owner) : owner_(owner) { owner_->alive_ = true; }
    Items(Items&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)) {}
    Items& operator=(Items&&) = delete;
    ~Items() {
      if (owner_ == nullptr) return;
      owner_->alive_ = false;
      owner_->waker_.Reset();
    }

    PollResult<std::optional<T>> PollNext(Context& cx) {
      ++owner_->polls_;
      if (!owner_->items_.empty()) {
        PollResult<std::optional<T>> item(std::in_place,
                                          std::move(owner_->items_.front()));
        owner_->items_.pop_front();
        return item;
      }
      if (owner_->has_ended_) return std::nullopt;
      owner_->waker_ = cx.waker().Clone();
      return kPending;
    }

   private:
    Feed* owner_;
  };

  Feed() = default;
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  Items stream() { return Items(this); }

  void Push(T item) {
    items_.push_back(std::move(item));
    std::move(waker_).Wake();
  }
  void End() {
    has_ended_ = true;
    std::move(waker_).Wake();
  }

  // Returns the number of polls of the stream.
  int polls() const { return polls_; }
  // Returns whether the stream exists.
  bool alive() const { return alive_; }
  // Returns the number of items that the stream has not returned.
  int left() const { return static_cast<int>(items_.size()); }

 private:
  std::deque<T> items_;
  bool has_ended_ = false;
  Waker waker_;
  int polls_ = 0;
  bool alive_ = false;
};

}  // namespace rouse

#endif  // ROUSE_TESTING_INTERNAL_FEED_H_
