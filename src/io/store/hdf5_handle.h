// Input: identifiers from the HDF5 library, and the results of its calls.
// Output: identifiers that close themselves, and failures with the library's own reason.
// Never: prints the library's error stack.
#pragma once

#include <hdf5.h>

#include <string>
#include <utility>

#include "src/base/error.h"

namespace millrace::hdf5 {

// Throws the innermost reason of the last failed call, as Failure(io) about `subject`.
[[noreturn]] void fail(const std::string& what, const std::string& subject);
// Returns true if the reasons of the last failed call include this kind, such as H5E_NOTHDF5.
bool has_failed_with(hid_t kind);
// Stops the library from printing anything. Every function that begins to use the library calls this one.
void silence_errors();

class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept { *this = std::move(other); }
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() { close(); }

  hid_t get() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }
  // Returns false if the library could not write data that it still held.
  bool close() {
    const bool done = id_ < 0 || close_(id_) >= 0;
    id_ = -1;
    return done;
  }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

}  // namespace millrace::hdf5
