// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: interest.h
// -----------------------------------------------------------------------------
//
// An `Interest` says which events of a source should be reported:
//
//   registry.Register(source, token, Interest::kReadable |
//   Interest::kWritable);
//
// Errors, and the end of both directions, are always reported.

#ifndef ROUSE_REACTOR_POLL_INTEREST_H_
#define ROUSE_REACTOR_POLL_INTEREST_H_

#include "rouse/base/cxx20.h"

#include <cstdint>
#include <optional>

namespace rouse::reactor {

// Interest
//
// A set of kinds of events, never empty. Made from the constants with `|`.
class Interest {
 public:
  // Something can be read, or the peer will send no more.
  static const Interest kReadable;
  // Something can be written.
  static const Interest kWritable;
  // Out-of-band data is available.
  static const Interest kPriority;

  // Returns the union of both sets.
  friend constexpr Interest operator|(Interest a, Interest b) {
    return Interest(a.bits_ | b.bits_);
  }

  // Returns the set without the kinds in `other`, or `std::nullopt` if no kind
  // is left.
  constexpr std::optional<Interest> Without(Interest other) const {
    const unsigned left = bits_ & ~other.bits_;
    if (left == 0) return std::nullopt;
    return Interest(left);
  }

  // Returns whether the set contains the kind of this name.
  constexpr bool IsReadable() const { return (bits_ & kReadableBit) != 0; }
  constexpr bool IsWritable() const { return (bits_ & kWritableBit) != 0; }
  constexpr bool IsPriority() const { return (bits_ & kPriorityBit) != 0; }

  friend constexpr bool operator==(Interest, Interest) = default;

  // Formats the set, for logs, such as "readable|writable".
  template <class Sink>
  friend void AbslStringify(Sink& sink, Interest interest) {
    const char* separator = "";
    const auto append = [&sink, &separator](bool has, const char* name) {
      if (!has) return;
      sink.Append(separator);
      sink.Append(name);
      separator = "|";
    };
    append(interest.IsReadable(), "readable");
    append(interest.IsWritable(), "writable");
    append(interest.IsPriority(), "priority");
  }

 private:
  enum Bits : unsigned { kReadableBit = 1, kWritableBit = 2, kPriorityBit = 4 };

  explicit constexpr Interest(unsigned bits)
      : bits_(static_cast<uint8_t>(bits)) {}

  uint8_t bits_;
};

inline constexpr Interest Interest::kReadable(kReadableBit);
inline constexpr Interest Interest::kWritable(kWritableBit);
inline constexpr Interest Interest::kPriority(kPriorityBit);

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_POLL_INTEREST_H_
