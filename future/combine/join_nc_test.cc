// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/co/co.h"
#include "rouse/future/combine/join.h"
#include "rouse/future/combine/race.h"
#include "rouse/future/combine/select.h"
#include "rouse/future/combine/try_join.h"
#include "rouse/future/ready.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// Can be polled in place, but cannot be moved into a combinator.
class Fixed {
 public:
  Fixed() {}
  Fixed(const Fixed&) = delete;
  Fixed& operator=(const Fixed&) = delete;

  PollResult<int> Poll(Context&) { return 1; }
};

// Compiles.
Co<> UseAll() {
  Fixed fixed;
  co_await Join(fixed, Ready());
  co_await Select(fixed, Ready());
  co_await Race(fixed, Ready(1));
}

#ifdef ROUSE_NC_IMMOVABLE_CHILD
Co<> JoinImmovable() { co_await Join(Fixed(), Ready()); }
#endif

#ifdef ROUSE_NC_IMMOVABLE_ARM
Co<> SelectImmovable() { co_await Select(Fixed(), Ready()); }
#endif

#ifdef ROUSE_NC_CHILD_THAT_IS_NO_FUTURE
Co<> JoinInt() { co_await Join(5, Ready()); }
#endif

#ifdef ROUSE_NC_TRY_JOIN_OF_INT
Co<> TryJoinInt() { co_await TryJoin(Ready(1)); }
#endif

#ifdef ROUSE_NC_RACE_OF_TWO_TYPES
Co<> RaceOfTwo() { co_await Race(Ready(1), Ready()); }
#endif

#ifdef ROUSE_NC_DISCARDED_JOIN
void Discard() { Join(Ready(), Ready()); }
#endif

#ifdef ROUSE_NC_DISCARDED_SELECT
void Discard() { Select(Ready(), Ready()); }
#endif

}  // namespace rouse
