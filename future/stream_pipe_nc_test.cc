// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Mistakes with `|`, each of which is explained in the first lines of the
// compiler's output.

#include <string>
#include <vector>

#include "rouse/future/filter.h"
#include "rouse/future/iter.h"
#include "rouse/future/many/buffered.h"
#include "rouse/future/map.h"
#include "rouse/future/stream_pipe.h"
#include "rouse/future/streams/try_collect.h"
#include "rouse/future/take.h"

namespace rouse {

inline size_t Length(const std::string& text) { return text.size(); }
inline bool IsLong(const std::string& text) { return text.size() > 80; }

inline auto Correct() {
  return Iter(std::vector<std::string>{"a"}) | Filter(&IsLong) | Map(&Length) |
         Take(1);
}

#ifdef ROUSE_NC_MAP_OF_OTHER_ITEM
inline auto MapOfOtherItem() { return Iter(std::vector{1}) | Map(&Length); }
#endif

#ifdef ROUSE_NC_FILTER_BY_STRING
inline auto FilterByString() { return Iter(std::vector{1}) | Filter(&IsLong); }
#endif

#ifdef ROUSE_NC_BUFFERED_VALUES
inline auto BufferedValues() { return Iter(std::vector{1}) | Buffered(4); }
#endif

#ifdef ROUSE_NC_TRY_COLLECT_VALUES
inline auto TryCollectValues() { return Iter(std::vector{1}) | TryCollect(); }
#endif

#ifdef ROUSE_NC_PIPE_FROM_VECTOR
inline void PipeFromVector() {
  static_cast<void>(std::vector<std::string>{"a"} | Map(&Length));
}
#endif

}  // namespace rouse
