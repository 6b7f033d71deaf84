// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: headers.h
// -----------------------------------------------------------------------------
//
// `Headers` holds the header fields of an HTTP message, or its trailers:
//
//   http::Headers headers{{"Content-Type", "text/plain"}};
//   co_await rouse::OrReturn(headers.Set("X-User", name));
//   if (headers.Get("content-type") == "text/plain") ...
//   for (auto [name, value] : headers) LOG(INFO) << name << ": " << value;

#ifndef ROUSE_HTTP_HEADERS_H_
#define ROUSE_HTTP_HEADERS_H_

#include "rouse/base/cxx20.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"

namespace rouse::http {

// IsToken()
//
// Returns whether `text` is a token of HTTP, such as a method or the name of a
// field: at least one character, and none of them a space, a control character,
// a delimiter, or outside of ASCII.
bool IsToken(std::string_view text);

// IsFieldValue()
//
// Returns whether `text` can be the value of a field: without control
// characters, such as CR, LF and NUL, except tabs, and without a space or tab
// at either end. The empty value is valid.
bool IsFieldValue(std::string_view text);

// ListHasToken()
//
// Returns whether the comma-separated list `list`, such as the value of
// `Connection`, has the item `token`, in either case.
bool ListHasToken(std::string_view list, std::string_view token);

namespace internal {

// Returns `text` without the spaces and tabs at its ends.
std::string_view StripBlanks(std::string_view text);

}  // namespace internal

// Headers
//
// A list of fields, in the order in which they were added. Names are compared
// without regard to case, and keep the case in which they were added. A name
// can occur several times.
//
// A name is always a token, and a value never contains a control character:
// text from outside cannot add a second field, or end the header.
//
// Copyable and movable. Const members are thread-safe. Any member that is not
// const invalidates the views that were returned before.
//
// Cost: the text of all fields is one string, and up to four fields need no
// other allocation. A lookup compares the names one after another.
class Headers {
  struct Field {
    uint32_t begin;  // of the name in `text_`; the value follows
    uint32_t name_size;
    uint32_t value_size;
  };

 public:
  // A name and its value.
  using Item = std::pair<std::string_view, std::string_view>;

  // The largest number of bytes of all names and values.
  static constexpr size_t kMaxBytes = size_t{1} << 30;

  class Iterator;
  using value_type = Item;
  using const_iterator = Iterator;

  Headers() = default;
  // Adds fields that the program's author has written. A `Panic()` if `Add()`
  // would return an error.
  Headers(std::initializer_list<Item> fields);

  // Adds a field after the others. A space or tab at the ends of `value` is
  // left out.
  //
  //   InvalidArgument     `name` is not a token, or `value` contains a control
  //                       character such as a line break
  //   ResourceExhausted   the fields would exceed `kMaxBytes`
  absl::Status Add(std::string_view name, std::string_view value);

  // Replaces all fields of the name by a single field, at the position of the
  // first of them, or adds the field. Errors are those of `Add()`, and change
  // nothing.
  absl::Status Set(std::string_view name, std::string_view value);

  // Removes all fields of the name. Returns their number.
  size_t Remove(std::string_view name);

  // Removes all fields, and keeps the memory.
  void Clear();

  // Returns the value of the first field of the name, if any.
  std::optional<std::string_view> Get(std::string_view name) const
      ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the values of all fields of the name.
  std::vector<std::string_view> GetAll(std::string_view name) const
      ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns whether a field of the name exists.
  bool Has(std::string_view name) const { return Get(name).has_value(); }

  // Returns whether any field of the name has `token` in its comma-separated
  // list: see `ListHasToken()`.
  bool HasToken(std::string_view name, std::string_view token) const;

  // Returns the number of fields.
  size_t size() const { return fields_.size(); }
  bool empty() const { return fields_.empty(); }

  // Returns the field at `index`, which must be less than `size()`.
  Item operator[](size_t index) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    const Field& field = fields_[index];
    const char* const name = text_.data() + field.begin;
    return Item(std::string_view(name, field.name_size),
                std::string_view(name + field.name_size, field.value_size));
  }

  // Return iterators over the fields, for a range-based loop.
  Iterator begin() const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  Iterator end() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns whether both have the same fields in the same order. The case of
  // names counts.
  friend bool operator==(const Headers& a, const Headers& b);

  // For Rouse's parser: adds a field that was checked already, and reserves
  // memory for the bytes of all fields.
  void AddChecked(std::string_view name, std::string_view value);
  void Reserve(size_t bytes) { text_.reserve(bytes); }

 private:
  // Returns the index of the first field of the name at or after `from`, or
  // `size()`.
  size_t Find(std::string_view name, size_t from = 0) const;
  void RemoveFrom(std::string_view name, size_t from);

  // May contain the bytes of fields that were removed.
  std::string text_;
  absl::InlinedVector<Field, 4> fields_;
};

// Headers::Iterator
//
// Goes through the fields in order.
class Headers::Iterator {
 public:
  using value_type = Item;
  using reference = Item;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::input_iterator_tag;

  Iterator() = default;

  Item operator*() const { return (*headers_)[index_]; }
  Iterator& operator++() {
    ++index_;
    return *this;
  }
  Iterator operator++(int) {
    Iterator old = *this;
    ++index_;
    return old;
  }
  friend bool operator==(const Iterator&, const Iterator&) = default;

 private:
  friend Headers;

  Iterator(const Headers* headers, size_t index)
      : headers_(headers), index_(index) {}

  const Headers* headers_ = nullptr;
  size_t index_ = 0;
};

inline Headers::Iterator Headers::begin() const { return Iterator(this, 0); }
inline Headers::Iterator Headers::end() const {
  return Iterator(this, fields_.size());
}

}  // namespace rouse::http

#endif  // ROUSE_HTTP_HEADERS_H_
