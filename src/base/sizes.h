// Input: numbers of bytes, items and seconds, as text or as values.
// Output: typed values that cannot be confused, and text for people.
// Never: rounds a limit up.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/error.h"

namespace millrace {

struct Bytes {
  std::uint64_t count = 0;

  friend auto operator<=>(Bytes, Bytes) = default;  // NOLINT(modernize-use-nullptr): what it expands to
  friend Bytes operator+(Bytes a, Bytes b) { return {a.count + b.count}; }
  friend Bytes operator-(Bytes a, Bytes b) { return {a.count - b.count}; }
  friend Bytes operator*(Bytes a, std::uint64_t n) { return {a.count * n}; }
  Bytes& operator+=(Bytes b) {
    count += b.count;
    return *this;
  }
};

constexpr Bytes operator""_KiB(unsigned long long n) { return {n << 10}; }
constexpr Bytes operator""_MiB(unsigned long long n) { return {n << 20}; }
constexpr Bytes operator""_GiB(unsigned long long n) { return {n << 30}; }

// Reads "512M", "2GiB", "1.5G", "4096". Units are powers of 1024; case and a trailing "B" or "iB" do not matter.
Outcome<Bytes> parse_bytes(std::string_view text);

// Returns "1.5 GiB", "312 B".
std::string format_bytes(Bytes bytes);

// Returns "3.2 s", "4 min 10 s", "2 h 5 min".
std::string format_duration(double seconds);

// Returns milliseconds for durations well under a second: "47 ms", "0.1 ms".
std::string format_short_duration(double seconds);

// Returns "1,234,567".
std::string group_digits(std::uint64_t n);

// Returns a rate with three significant digits: "2.26", "35.4", "1,210".
std::string format_rate(double per_second);

}  // namespace millrace
