// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: library.h
// -----------------------------------------------------------------------------
//
// Names a library of senders and receivers, such as C++26's `std::execution`
// or NVIDIA's stdexec:
//
//   struct Stdexec {
//     using sender_concept = stdexec::sender_tag;
//     using receiver_concept = stdexec::receiver_tag;
//     using operation_state_concept = stdexec::operation_state_tag;
//     using scheduler_concept = stdexec::scheduler_tag;
//     using connect_t = stdexec::connect_t;
//     using start_t = stdexec::start_t;
//     using set_value_t = stdexec::set_value_t;
//     using set_error_t = stdexec::set_error_t;
//     using set_stopped_t = stdexec::set_stopped_t;
//     using get_env_t = stdexec::get_env_t;
//     using get_stop_token_t = stdexec::get_stop_token_t;
//     using stop_source = stdexec::inplace_stop_source;
//     template <class Token, class F>
//     using stop_callback_for_t = stdexec::stop_callback_for_t<Token, F>;
//     template <class Tag>
//     using get_completion_scheduler_t =
//         stdexec::get_completion_scheduler_t<Tag>;
//     template <class... Signatures>
//     using completion_signatures =
//         stdexec::completion_signatures<Signatures...>;
//     template <class Sender, class Env>
//     using completion_signatures_of_t =
//         stdexec::completion_signatures_of_t<Sender, Env>;
//   };
//   static_assert(rouse::interop::ExecutionLibrary<Stdexec>);
//
// A sender must name a tag of its library, and must call the library's
// customization points. Rouse includes no such library. A program therefore
// says once, in a struct like the above, where these names are.

#ifndef ROUSE_INTEROP_EXECUTION_LIBRARY_H_
#define ROUSE_INTEROP_EXECUTION_LIBRARY_H_

#include "rouse/base/cxx20.h"

#include <concepts>
#include <utility>

namespace rouse::interop {

namespace internal {

// An environment that answers no query.
struct EmptyEnv {};

}  // namespace internal

// ExecutionLibrary
//
// Satisfied by a struct with the names of a library that follows P2300 in the
// form that C++26 has: customization by member functions (`connect()`,
// `start()`, `set_value()`, `get_env()`, `query()`), types that say what they
// are by a member such as `sender_concept`, and completion signatures.
//
//   sender_concept, receiver_concept, operation_state_concept,
//   scheduler_concept
//       The tags. C++26's drafts name them `sender_t`, and later `sender_tag`.
//   connect_t, start_t, set_value_t, set_error_t, set_stopped_t, get_env_t,
//   get_stop_token_t, get_completion_scheduler_t<Tag>
//       The types of the customization points and queries, of which Rouse makes
//       objects.
//   stop_source
//       A type with `get_token()` and `request_stop()`, which is made without
//       arguments: `inplace_stop_source`.
//   stop_callback_for_t<Token, F>, completion_signatures<Signatures...>,
//   completion_signatures_of_t<Sender, Env>
//       As in the library.
template <class L>
concept ExecutionLibrary = requires(typename L::stop_source& source) {
  typename L::sender_concept;
  typename L::receiver_concept;
  typename L::operation_state_concept;
  typename L::scheduler_concept;
  typename L::template completion_signatures<typename L::set_value_t(int),
                                             typename L::set_stopped_t()>;
  typename L::template get_completion_scheduler_t<typename L::set_value_t>;
  typename L::template stop_callback_for_t<decltype(source.get_token()),
                                           void (*)()>;
  requires std::default_initializable<typename L::connect_t>;
  requires std::default_initializable<typename L::start_t>;
  requires std::default_initializable<typename L::set_value_t>;
  requires std::default_initializable<typename L::set_error_t>;
  requires std::default_initializable<typename L::set_stopped_t>;
  requires std::default_initializable<typename L::get_env_t>;
  requires std::invocable<typename L::get_stop_token_t, internal::EmptyEnv>;
  requires std::default_initializable<typename L::stop_source>;
  source.request_stop();
};

}  // namespace rouse::interop

#endif  // ROUSE_INTEROP_EXECUTION_LIBRARY_H_
