// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: stream_map.h
// -----------------------------------------------------------------------------
//
// Makes a stream of the items of named streams that come and go:
//
//   rouse::StreamMap<std::string, mpsc::Receiver<Message>> channels;
//   channels.Insert("news", Subscribe("news"));
//   channels.Insert("sport", Subscribe("sport"));
//   while (auto message = co_await rouse::Next(channels)) {
//     auto& [channel, text] = *message;
//     if (text == "quit") channels.Remove(channel);
//   }

#ifndef ROUSE_FUTURE_STREAMS_STREAM_MAP_H_
#define ROUSE_FUTURE_STREAMS_STREAM_MAP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/container/node_hash_map.h"
#include "rouse/base/exceptions.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/many/child_set.h"
#include "rouse/future/many/stream_child.h"
#include "rouse/future/stream.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// StreamMap
//
// A map from keys to streams of one type, and a stream of pairs of a key and an
// item of its stream. Keys are hashed with `absl::Hash`, and copied for each
// item. A wake of the task polls only the streams that were woken. The streams
// that have an item take turns. Each item takes a unit of the budget
// (context.h).
//
// Not thread-safe: one task at a time uses the map. The map can be moved while
// no task waits for it; the streams stay in place. Keeps no item. Destroying
// the map destroys its streams.
//
// A stream that has ended is removed, with its key. An exception from a stream
// propagates out of the poll. This stream is removed, and the others stay in
// the map.
template <class K, Stream S>
class StreamMap {
 public:
  using Item = std::pair<K, StreamItem<S>>;

  StreamMap() = default;
  StreamMap(StreamMap&&) = default;
  StreamMap& operator=(StreamMap&&) = default;

  // Adds `stream` with `key`, and destroys the present stream with this key, if
  // any. Returns whether the key is new. Wakes the task that waits for the map,
  // if any. `stream` must not have been polled unless its type allows a move
  // afterwards. Allocates twice. O(1).
  bool Insert(K key, S stream) {
    const bool is_new = !Remove(key);
    const auto [place, added] = handles_.try_emplace(std::move(key), nullptr);
    ROUSE_TRY {
      // The node of a key stays where it is.
      place->second =
          children_.AddWithoutWake(internal::StreamChild<S>(std::move(stream)),
                                   reinterpret_cast<uintptr_t>(&place->first));
    }
    ROUSE_CATCH_ALL {
      handles_.erase(place);
      ROUSE_RETHROW;
    }
    children_.WakeForAdded();
    return is_new;
  }

  // Destroys the stream with `key`, and returns whether there was one. The task
  // that waits for the map is woken if no stream is left. Must not be called
  // while a stream of the map is polled. O(1).
  bool Remove(const K& key) {
    const auto place = handles_.find(key);
    if (place == handles_.end()) return false;
    const Handle child = place->second;
    // `key` may be the key in the map.
    handles_.erase(place);
    children_.Erase(child);
    return true;
  }

  // Removes the stream with `key`, and returns the stream, or `std::nullopt` if
  // there is none. The type of the stream must allow a move after the stream
  // was polled, as `Gen` and the receivers of channels do.
  std::optional<S> Extract(const K& key) {
    const auto place = handles_.find(key);
    if (place == handles_.end()) return std::nullopt;
    const Handle child = place->second;
    std::optional<S> stream(std::move(Children::Get(child).stream()));
    handles_.erase(place);
    children_.Erase(child);
    return stream;
  }

  // Returns whether there is a stream with `key`.
  bool Contains(const K& key) const { return handles_.contains(key); }

  // Returns the number of streams.
  size_t size() const { return handles_.size(); }
  bool empty() const { return handles_.empty(); }

  // Polls the streams that were woken, each once, until one has an item, and
  // returns the key and the item. Returns `std::nullopt` if the map is empty.
  // The stream continues if the map is given new streams after the stream has
  // ended.
  PollResult<std::optional<Item>> PollNext(Context& cx) {
    std::optional<Item> item;
    const PollResult<bool> found = children_.Poll(
        cx, [this, &item](size_t place,
                          PollResult<std::optional<StreamItem<S>>>&& next) {
          const K& key = *reinterpret_cast<const K*>(place);
          // Pending if the stream has thrown.
          if (next.IsPending() || !next->has_value()) {
            handles_.erase(handles_.find(key));
            return false;
          }
          item.emplace(key, **std::move(next));
          return true;
        });
    if (found.IsPending()) return kPending;
    if (*found) TakeUnitIfAny(cx);
    return item;
  }

  bool BorrowsClosure() const { return children_.BorrowsClosure(); }

  void Trace(AwaitTrace& trace) const {
    AwaitTrace::Branches branches(trace, "StreamMap");
    children_.Trace(branches);
  }

 private:
  using Children = internal::ChildSet<internal::StreamChild<S>>;
  using Handle = typename Children::Handle;

  // A child's key in `children_` is the address of the key here.
  absl::node_hash_map<K, Handle> handles_;
  Children children_;
};

}  // namespace rouse

#endif  // ROUSE_FUTURE_STREAMS_STREAM_MAP_H_
