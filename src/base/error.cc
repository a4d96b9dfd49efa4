#include "src/base/error.h"

#include <atomic>
#include <cerrno>
#include <system_error>

#include "src/base/text.h"

namespace millrace {

const char* name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::usage:
      return "usage";
    case ErrorCode::io:
      return "io";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::bad_data:
      return "bad_data";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::too_large:
      return "too_large";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    case ErrorCode::crashed:
      return "crashed";
    case ErrorCode::unavailable:
      return "unavailable";
    case ErrorCode::conflict:
      return "conflict";
    case ErrorCode::cancelled:
      return "cancelled";
    case ErrorCode::internal:
      return "internal";
    case ErrorCode::timed_out:
      return "timed_out";
    case ErrorCode::standard_output:
      return "standard_output";
  }
  return "internal";
}

std::string Error::message() const {
  std::string text;
  if (!subject.empty()) text += subject + ": ";
  text += what;
  if (!remedy.empty()) text += "; " + remedy;
  return escape_unprintable(text);
}

void throw_system_error(const char* what, const std::string& path) {
  throw Failure(system_error(what, escape_unprintable(path), errno));
}

Error interrupted(const std::string& remaining_state, std::string subject) {
  return {ErrorCode::cancelled, "interrupted; " + remaining_state, std::move(subject), ""};
}

ExitCode exit_code_for(ErrorCode code) {
  switch (code) {
    case ErrorCode::usage:
      return ExitCode::usage;
    case ErrorCode::unavailable:
      return ExitCode::unavailable;
    case ErrorCode::cancelled:
      return ExitCode::interrupted;
    case ErrorCode::standard_output:
      return ExitCode::standard_output;
    default:
      return ExitCode::failed;
  }
}

namespace {
std::atomic<bool> files_are_closed{false};
}  // namespace

void mark_files_sandboxed() { files_are_closed = true; }

Error system_error(const std::string& what, std::string subject, int error_number) {
  const ErrorCode code = error_number == ENOENT   ? ErrorCode::not_found
                         : error_number == ENOMEM ? ErrorCode::out_of_memory
                                                  : ErrorCode::io;
  std::string remedy;
  if (error_number == ENOSPC) remedy = "free some space and run the same command again";
  if (error_number == EACCES) {
    remedy = files_are_closed
                 ? "--sandbox all allows only files that the command names: name it, or check its permissions"
                 : "check the permissions of the file and its folders";
  }
  return {code, what + ": " + std::generic_category().message(error_number), std::move(subject), std::move(remedy)};
}

}  // namespace millrace
