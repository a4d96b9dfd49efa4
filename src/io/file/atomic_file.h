// Enters: bytes of an output.
// Leaves: the whole file under its name, or the old one untouched.
// Never: leaves half a file behind.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "src/base/error.h"

namespace millrace {

// Written to a temporary name in the same folder, which is short whatever the file's own name is; commit() syncs,
// renames and syncs the folder. Without a commit, the temporary file is removed. Every failure throws Failure with the
// path.
class AtomicFile {
 public:
  // How the names of temporary files begin; a run that is killed leaves its own.
  static constexpr const char* kTemporaryPrefix = ".millrace-partial-";

  // A name of its own; or PATH.part, which the next attempt takes over.
  enum class Temporary { unique, part };
  explicit AtomicFile(std::string path, Temporary temporary = Temporary::unique);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  void write(std::span<const std::byte> bytes) {
    write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  // All of it on the disk under the temporary name, so that several files can be whole before the first has its name.
  void sync();
  void commit();

 private:
  void flush();

  std::string path_, temporary_;
  std::string pending_;
  int fd_ = -1;
  bool synced_ = false;
};

// `text` as the whole of a file, or to stdout when `path` is "-".
void write_output(const std::string& path, std::string_view text);
// The same of a text in pieces.
void write_output(const std::string& path, std::span<const std::string> pieces);

// All of a file on the disk. Throws Failure.
void sync_file(const std::string& path);
// Throws Failure.
void rename_file(const std::string& from, const std::string& to);
// Syncs a folder, so that names in it survive a power cut.
void sync_folder(const std::string& folder);
// The folder of a path, "." for a bare name.
std::string folder_of(const std::string& path);

}  // namespace millrace
