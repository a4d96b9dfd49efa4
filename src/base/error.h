// Input: a description of the failure, its subject and a remedy (include/millrace/error.h).
// Output: an Error thrown as Failure for a whole job, or carried in the Outcome of one item.
// Never: prints, logs or exits.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "include/millrace/error.h"

namespace millrace {

// Returns the exit code of the program for an error of this kind.
ExitCode exit_code_for(ErrorCode code);

// Describes the failure of a system call by its errno: "No space left on device".
Error system_error(const std::string& what, std::string subject, int error_number);
// Throws the error of the last system call, from errno, with the file at `path` as its subject.
[[noreturn]] void throw_system_error(const char* what, const std::string& path);

// Tells later errors that the sandbox now refuses all files that were not given: EACCES gets a matching remedy.
void mark_files_sandboxed();

// Error of a run that a person interrupted. `remaining_state` describes what is left: "the result was not written".
Error interrupted(const std::string& remaining_state = "run the same command again to resume",
                  std::string subject = {});

// The result of one item, or the reason why it has none. A failed item does not stop a job.
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

  // Returns the value, or throws the reason as the failure of the whole job.
  T or_throw() && {
    if (!ok()) throw Failure(error());
    return std::get<T>(std::move(state_));
  }

 private:
  std::variant<T, Error> state_;
};

// The outcome of work that has no result value.
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
