// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: streams.h
// -----------------------------------------------------------------------------
//
// Includes every function for streams in future/, for programs that use many of
// them:
//
//   auto pages = rouse::Iter(std::move(urls)) | rouse::Skip(1) |
//                rouse::Map(&Fetch) | rouse::BufferUnordered(8) |
//                rouse::TakeUntil(stop.Cancelled()) | rouse::Chunks(10);
//
// `ChunksTimeout()`, `Throttle()` and `Debounce()` are in timer/.

#ifndef ROUSE_FUTURE_STREAMS_H_
#define ROUSE_FUTURE_STREAMS_H_

#include "rouse/base/cxx20.h"

// IWYU pragma: begin_exports
#include "rouse/future/adapters/chunks.h"
#include "rouse/future/adapters/enumerate.h"
#include "rouse/future/adapters/filter_map.h"
#include "rouse/future/adapters/flatten.h"
#include "rouse/future/adapters/fuse.h"
#include "rouse/future/adapters/map_while.h"
#include "rouse/future/adapters/peekable.h"
#include "rouse/future/adapters/ready_chunks.h"
#include "rouse/future/adapters/scan.h"
#include "rouse/future/adapters/skip.h"
#include "rouse/future/adapters/skip_while.h"
#include "rouse/future/adapters/take_until.h"
#include "rouse/future/adapters/take_while.h"
#include "rouse/future/adapters/then.h"
#include "rouse/future/collect.h"
#include "rouse/future/filter.h"
#include "rouse/future/iter.h"
#include "rouse/future/many/buffered.h"
#include "rouse/future/many/for_each_concurrent.h"
#include "rouse/future/map.h"
#include "rouse/future/stream.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/future/streams/any_all.h"
#include "rouse/future/streams/chain.h"
#include "rouse/future/streams/empty.h"
#include "rouse/future/streams/fold.h"
#include "rouse/future/streams/forward.h"
#include "rouse/future/streams/merge.h"
#include "rouse/future/streams/merge_all.h"
#include "rouse/future/streams/once.h"
#include "rouse/future/streams/repeat.h"
#include "rouse/future/streams/sink.h"
#include "rouse/future/streams/stream_map.h"
#include "rouse/future/streams/try_collect.h"
#include "rouse/future/streams/unfold.h"
#include "rouse/future/streams/zip.h"
#include "rouse/future/take.h"
// IWYU pragma: end_exports

#endif  // ROUSE_FUTURE_STREAMS_H_
