// Input: a description of the failure, its subject and a remedy.
// Output: an Error, thrown as Failure, or carried as the reason why one item has no result.
// Never: prints, logs or exits.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "millrace/export.h"

namespace millrace {

// The exit codes of the program (docs/exit-codes.md lists them for users).
enum class ExitCode : int {
  done = 0,
  failed = 1,
  usage = 2,
  partial = 3,          // done, but some inputs could not be used
  unavailable = 4,      // a requested device or feature is not here
  standard_output = 5,  // the work is done, but standard output did not accept all of its data
  interrupted = 130,
};

// Kind of a failure. Callers branch on the kind, people read `what`.
enum class ErrorCode {
  usage,          // a value given by the user cannot be used
  io,             // the operating system refused a read or a write
  not_found,      // a file that was given or listed does not exist
  bad_data,       // bytes that do not follow their format
  unsupported,    // a format or feature that this build does not read
  too_large,      // over a size limit; the message gives the limit
  out_of_memory,  // a reservation or an allocation did not fit
  crashed,        // a helper process died on this item
  unavailable,    // a device or library is not on this machine
  conflict,       // something on disk changed, or belongs to a run with other options
  cancelled,
  internal,
  timed_out,        // a helper took longer than any healthy item takes
  standard_output,  // standard output is closed, full, or its reader is gone
};

// Returns the name of the code: "out_of_memory".
MILLRACE_API const char* name_of(ErrorCode code);

struct MILLRACE_API Error {
  ErrorCode code = ErrorCode::internal;
  std::string what;     // event: "the file ends in the middle of a scan"
  std::string subject;  // object concerned: a path, an option, a device; may be empty
  std::string remedy;   // advice for the user; may be empty

  // Returns "subject: what; remedy" without the empty ones. The text is safe to print, whatever names it contains.
  std::string message() const;
};

// A failure of a whole call or job.
class MILLRACE_API Failure : public std::exception {
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

}  // namespace millrace
