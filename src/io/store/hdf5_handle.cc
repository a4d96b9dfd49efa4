#include "src/io/store/hdf5_handle.h"

#include <charconv>
#include <utility>

namespace millrace::hdf5 {

void silence_errors() {
  // Each thread has its own setting for what is printed.
  thread_local bool quiet = false;
  if (std::exchange(quiet, true)) return;
  // At the end of a process the library closes all open objects. It crashes if one of them could not be closed before
  // because its disk is full. Handles close everything that can be closed.
  H5dont_atexit();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

bool has_failed_with(hid_t kind) {
  struct Search {
    hid_t kind;
    bool found;
  } search{kind, false};
  const auto search_error = [](unsigned, const H5E_error2_t* error, void* to) -> herr_t {
    auto& search = *static_cast<Search*>(to);
    search.found = search.found || error->min_num == search.kind;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, search_error, &search);
  return search.found;
}

void fail(const std::string& what, const std::string& subject) {
  std::string reason;
  const auto keep_deepest = [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
    if (error->desc != nullptr && *error->desc != '\0') *static_cast<std::string*>(out) = error->desc;
    return 0;
  };
  // The walk goes from the call that was made to the one that failed: the last entry is the reason.
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_deepest, &reason);
  // The text of a failed system call contains its number and message among much else.
  const std::string_view number = "errno = ";
  if (const auto at = reason.find(number); at != std::string::npos) {
    int value = 0;
    std::from_chars(reason.data() + at + number.size(), reason.data() + reason.size(), value);
    throw Failure(system_error(what, subject, value));
  }
  const std::string_view marker = "error message = '";
  if (const auto at = reason.find(marker); at != std::string::npos) {
    const auto begin = at + marker.size();
    reason = reason.substr(begin, reason.find('\'', begin) - begin);
  }
  throw Failure(ErrorCode::io, reason.empty() ? what : what + ": " + reason, subject);
}

}  // namespace millrace::hdf5
