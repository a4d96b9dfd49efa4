// Enters: what went wrong, to what, and what a person can do.
// Leaves: an Error thrown as Failure for a whole job, or carried as the reason of one item's Outcome.
// Never: prints, logs or exits.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace millrace {

// The exit codes of the program (docs/exit-codes.md lists them for users).
enum class ExitCode : int {
  done = 0,
  failed = 1,
  usage = 2,
  partial = 3,      // done, but some inputs could not be used
  unavailable = 4,  // a requested device or feature is not here
  interrupted = 130,
};

// What kind of failure this is; callers branch on it, people read `what`.
enum class ErrorCode {
  usage,          // a value that a person gave cannot be used
  io,             // the operating system refused a read or a write
  not_found,      // a file that was named or listed is not there
  bad_data,       // bytes that do not follow their format
  unsupported,    // a format or feature that this build does not read
  too_large,      // over a limit on size; the limit is named
  out_of_memory,  // a reservation or an allocation did not fit
  crashed,        // a helper process died on this item
  unavailable,    // a device or library is not on this machine
  conflict,       // something on disk changed, or belongs to other options
  cancelled,
  internal,
  timed_out,  // a helper took longer than any healthy item takes
};

const char* name_of(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string what;     // what happened: "the file ends in the middle of a scan"
  std::string subject;  // to what: a path, an option, a device; may be empty
  std::string remedy;   // what to do about it; may be empty

  // "subject: what; remedy", leaving out what is empty; printable, whatever names stand in it.
  std::string message() const;
};

// A failure of a whole job. main() prints its message and chooses the exit code from its code.
class Failure : public std::exception {
 public:
  explicit Failure(Error error) : error_(std::move(error)), text_(error_.message()) {}
  Failure(ErrorCode code, std::string what, std::string subject = {}, std::string remedy = {})
      : Failure(Error{code, std::move(what), std::move(subject), std::move(remedy)}) {}

  const Error& error() const { return error_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  Error error_;
  std::string text_;
};

ExitCode exit_code_for(ErrorCode code);

// The error of the last system call, from errno: "No space left on device".
Error system_error(const std::string& what, std::string subject, int error_number);

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
