// Input: values, from code or from a JSON text.
// Output: a tree whose objects keep the order of their keys; its text, which depends on the tree alone.
// Never: parses a text that is nested deeper than 64 levels; returns a number that the requested type cannot hold.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace millrace {

class Json;
template <typename T>
concept JsonSource = !std::same_as<T, Json> && !std::convertible_to<T, std::string_view> && requires(const T& values) {
  values.begin() != values.end();
};

class Json {
 public:
  struct Member;
  using Array = std::vector<Json>;
  using Object = std::vector<Member>;

  // Reports a text that is not JSON, a value of another kind, or a missing member.
  struct Error : std::runtime_error {
    explicit Error(const std::string& words, std::size_t position = 0) : std::runtime_error(words), at(position) {}
    std::size_t at;  // position in the text, in bytes
  };

  Json() noexcept;                           // null
  Json(std::nullptr_t) noexcept : Json() {}  // NOLINT(google-explicit-constructor)
  Json(bool value) noexcept;                 // NOLINT(google-explicit-constructor)
  Json(int value) noexcept;                  // NOLINT(google-explicit-constructor)
  Json(unsigned value) noexcept;             // NOLINT(google-explicit-constructor)
  Json(long value) noexcept;                 // NOLINT(google-explicit-constructor)
  Json(unsigned long value) noexcept;        // NOLINT(google-explicit-constructor)
  Json(long long value) noexcept;            // NOLINT(google-explicit-constructor)
  Json(unsigned long long value) noexcept;   // NOLINT(google-explicit-constructor)
  Json(double value) noexcept;               // NOLINT(google-explicit-constructor)
  Json(const void*) = delete;                // a pointer would convert to bool
  Json(std::string text) noexcept;           // NOLINT(google-explicit-constructor)
  Json(std::string_view text);               // NOLINT(google-explicit-constructor)
  Json(const char* text);                    // NOLINT(google-explicit-constructor)
  // A list or a map of the standard library.
  template <JsonSource Values>
  Json(const Values& values);  // NOLINT(google-explicit-constructor)
  // Makes an object if each value is a list of a text and a value, otherwise a list.
  Json(std::initializer_list<Json> values);
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  static Json object();
  static Json array();
  static Json array(std::initializer_list<Json> values);

  // Throws an Error with the position if the text is not JSON.
  static Json parse(std::string_view text);
  // Returns null if the text is not JSON.
  static Json parse_or_null(std::string_view text);
  // Returns one line, or one line a value with so many spaces of indent for each level. Invalid UTF-8 becomes U+FFFD.
  std::string dump(int indent = -1) const;

  bool is_null() const;
  bool is_boolean() const;
  bool is_number() const;
  bool is_number_integer() const;
  bool is_number_unsigned() const;  // a non-negative integer
  bool is_string() const;
  bool is_array() const;
  bool is_object() const;

  // Returns the value, converted to T. Throws an Error if it is of another kind or does not fit. T may be a vector or a
  // map.
  template <typename T>
  T get() const;
  const std::string& text() const;
  // Returns true for an integer that T can hold.
  template <std::integral T>
  bool holds() const {
    return is_number_unsigned() ? std::in_range<T>(get<std::uint64_t>())
                                : is_number_integer() && std::in_range<T>(get<std::int64_t>());
  }

  // Returns the number of elements or members; 0 for null, 1 for all other values.
  std::size_t size() const;
  bool empty() const { return size() == 0; }

  // Elements of a list, members of an object. Null has none; any other kind throws an Error.
  Json* begin();
  Json* end();
  const Json* begin() const;
  const Json* end() const;
  const Object& items() const;

  // Returns the member, which is added if it is missing. Null becomes an object.
  Json& operator[](std::string_view key);
  Json& operator[](const char* key) { return (*this)[std::string_view(key)]; }
  // Returns null if there is no such member.
  const Json& operator[](std::string_view key) const;
  const Json& operator[](const char* key) const { return (*this)[std::string_view(key)]; }
  Json& operator[](std::integral auto index) { return element(static_cast<std::size_t>(index)); }
  const Json& operator[](std::integral auto index) const { return at(index); }
  // Throws an Error if there is no such member or element.
  const Json& at(std::string_view key) const;
  const Json& at(const char* key) const { return at(std::string_view(key)); }
  const Json& at(std::integral auto index) const {
    return const_cast<Json*>(this)->element(static_cast<std::size_t>(index));
  }
  // Returns nullptr if there is no such member.
  const Json* find(std::string_view key) const;
  bool contains(std::string_view key) const { return find(key) != nullptr; }
  // Sets `out` to the member's value. Throws an Error if there is no such member.
  template <typename T>
  void read(std::string_view key, T& out) const {
    out = at(key).get<T>();
  }
  // Returns `otherwise` if there is no such member.
  template <typename T>
  T value(std::string_view key, T otherwise) const;
  std::string value(std::string_view key, const char* otherwise) const { return value(key, std::string(otherwise)); }

  // Appends to a list; null becomes one.
  void push_back(Json value) { emplace_back(std::move(value)); }
  Json& emplace_back(Json value);
  // Adds the members of another object, and replaces those that are in both.
  void update(const Json& object);
  void erase(std::string_view key);

  // Compares numbers by value (1 equals 1.0), and objects without regard to the order of their members.
  friend bool operator==(const Json& a, const Json& b);

 private:
  class Builder;

  bool boolean() const;
  std::int64_t integer(std::int64_t least, std::int64_t most) const;
  std::uint64_t count(std::uint64_t most) const;
  double real() const;
  Json& element(std::size_t index);

  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object> value_;
};

struct Json::Member {
  std::string key;
  Json value;
};

// Appends a text, in quotes, or a number, as every JSON output of ours writes it.
void append_json(std::string& out, std::string_view text);
void append_json(std::string& out, double number);

template <JsonSource Values>
Json::Json(const Values& values) {
  if constexpr (requires { typename Values::mapped_type; }) {
    *this = object();
    for (const auto& [key, value] : values) (*this)[key] = Json(value);
  } else {
    *this = array();
    for (const auto& each : values) emplace_back(Json(each));
  }
}

template <typename T>
T Json::get() const {
  if constexpr (std::same_as<T, Json>) {
    return *this;
  } else if constexpr (std::same_as<T, bool>) {
    return boolean();
  } else if constexpr (std::signed_integral<T>) {
    return static_cast<T>(integer(std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  } else if constexpr (std::unsigned_integral<T>) {
    return static_cast<T>(count(std::numeric_limits<T>::max()));
  } else if constexpr (std::floating_point<T>) {
    return static_cast<T>(real());
  } else if constexpr (std::same_as<T, std::string>) {
    return text();
  } else if constexpr (requires { typename T::mapped_type; }) {
    T out;
    for (const Member& each : items()) out.emplace(each.key, each.value.get<typename T::mapped_type>());
    return out;
  } else {
    T out;
    for (const Json& each : *this) out.push_back(each.get<typename T::value_type>());
    return out;
  }
}

template <typename T>
T Json::value(std::string_view key, T otherwise) const {
  const Json* found = find(key);
  return found ? found->get<T>() : std::move(otherwise);
}

}  // namespace millrace
