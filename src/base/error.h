// Input: what went wrong, to what, and what a person can do (include/millrace/error.h).
// Output: an Error thrown as Failure for a whole job, or carried as the reason of one item's Outcome.
// Never: prints, logs or exits.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "include/millrace/error.h"

namespace millrace {

// The program's, by its kind.
ExitCode exit_code_for(ErrorCode code);

// The error of the last system call, from errno: "No space left on device".
Error system_error(const std::string& what, std::string subject, int error_number);
// The same as a failure, of the file at `path`.
[[noreturn]] void throw_system_error(const char* what, const std::string& path);

// From now on the kernel refuses the program files that were not named: errors say so.
void say_that_files_are_closed();

// A person's wish to stop was followed. `standing` says what is now, as "what was printed is right".
Error interrupted(const std::string& standing = "the same command goes on where this one stopped",
                  std::string subject = {});

// One item's success or the reason why there is none. Items fail without stopping a job.
template <typename T>
class [[nodiscard]] Outcome {
 public:
  Outcome(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Outcome(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }

  T& value() & { return std::get<T>(state_); }
  const T& value() const& { return std::get<T>(state_); }
  T&& value() && { return std::get<T>(std::move(state_)); }
  T* operator->() { return &std::get<T>(state_); }
  const T* operator->() const { return &std::get<T>(state_); }
  T& operator*() & { return std::get<T>(state_); }
  const T& operator*() const& { return std::get<T>(state_); }

  const Error& error() const { return std::get<Error>(state_); }

  // The value, or the reason thrown as the failure of the whole job.
  T or_throw() && {
    if (!ok()) throw Failure(error());
    return std::get<T>(std::move(state_));
  }

 private:
  std::variant<T, Error> state_;
};

// Of what leaves nothing behind but that it is done.
template <>
class [[nodiscard]] Outcome<void> {
 public:
  Outcome() = default;
  Outcome(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return !error_; }

  Error& error() { return *error_; }
  const Error& error() const { return *error_; }

  void or_throw() && {
    if (!ok()) throw Failure(error());
  }

 private:
  std::optional<Error> error_;
};

}  // namespace millrace
