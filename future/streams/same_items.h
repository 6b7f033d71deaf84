// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: same_items.h
// -----------------------------------------------------------------------------
//
// Describes streams that can be put together. Internal to this project.

#ifndef ROUSE_FUTURE_STREAMS_SAME_ITEMS_H_
#define ROUSE_FUTURE_STREAMS_SAME_ITEMS_H_

#include <concepts>

#include "rouse/future/stream.h"

namespace rouse {

namespace internal {

// Satisfied if two streams have items of one type.
template <class A, class B>
concept SameItems =
    Stream<A> && Stream<B> && std::same_as<StreamItem<A>, StreamItem<B>>;

}  // namespace internal

}  // namespace rouse

#endif  // ROUSE_FUTURE_STREAMS_SAME_ITEMS_H_
