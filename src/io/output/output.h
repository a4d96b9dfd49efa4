// Input: the names that a person gave for outputs, and the files that the job reads.
// Output: each output checked before the work, and later written completely under its name.
// Never: replaces an input; replaces a file that this program did not write, unless --overwrite says so; replaces a
// pipe or a device, which is written into.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/sizes.h"
#include "src/io/file/atomic_file.h"
#include "src/io/file/file_reader.h"

namespace millrace {

// Properties of one kind of output.
struct OutputKind {
  std::string name;  // "a page of duplicates", for messages
  ReadAccess readers = ReadAccess::everyone;
  // Recognises, by its beginning, a file that this program wrote as this kind. Empty: files of this kind cannot be
  // recognised.
  std::function<bool(FileReader&)> is_ours{};
};

// The name of an output that was checked.
class OutputTarget {
 public:
  OutputTarget() = default;  // no name was given
  // Any file of this name is replaced: for names that belong to this program.
  static OutputTarget overwrite_any_file(const std::string& path);

  explicit operator bool() const { return !path_.empty(); }
  const std::string& path() const { return path_; }
  // True where it is written into directly, with no file to rename in the end: stdout, a pipe, a device.
  bool is_stream() const { return stream_; }
  ReadAccess readers() const { return readers_; }
  // True where a file has the name and may be replaced.
  bool has_existing_file() const { return overwrite_policy_.any_file || overwrite_policy_.examined; }
  // Files that may be replaced, for callers that do the renaming themselves.
  const OverwritePolicy& overwrite_policy() const { return overwrite_policy_; }
  // Throws Failure(io) where the file system has less free space than this, before hours of work instead of after them.
  // The space of a stream is unknown.
  void require_free_space(Bytes bytes) const;

  void write(std::string_view text) const;
  void write(std::span<const std::string> pieces) const;

 private:
  friend class OutputRegistry;
  friend class OutputFile;
  std::string path_;
  bool stream_ = false;
  int descriptor_ = -1;                     // of a stream that is open already
  std::shared_ptr<const Descriptor> pipe_;  // the pipe or device that was checked, held open
  OverwritePolicy overwrite_policy_;
  ReadAccess readers_ = ReadAccess::everyone;
};

// Contents of an output. A file is not visible under the name before commit(); a stream gets everything at once. Every
// failure throws Failure with the path.
class OutputFile {
 public:
  // Does not open a stream yet: a pipe is opened, and waits for its reader, when there is something to write.
  explicit OutputFile(OutputTarget output);

  void write(std::string_view bytes);
  void write(std::span<const std::byte> bytes) {
    write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  // Writes everything to the disk, so that several files can be complete before the first one gets its name.
  void sync();
  void commit();

 private:
  const OutputTarget output_;
  std::unique_ptr<AtomicFile> file_;
  Descriptor stream_;
};

// The outputs of one run, in the order in which they are added. Inputs are added before them. Files that this program
// keeps for a person are never an output of any command. These are files in the data folder, and, in any folder, files
// that begin like a catalog, a journal or decisions.
class OutputRegistry {
 public:
  struct Options {
    bool overwrite = false;      // replace also files that this program did not write, but never an input
    bool check_writable = true;  // check that a file can be created there
  };
  explicit OutputRegistry(const Options& options) : options_(options) {}

  // Adds a file that is read: it is never an output. A file that does not exist yet counts by its name.
  void add_input(const std::string& path);
  // Adds a file that is kept from run to run: read, written, and never an output.
  void add_kept_file(const std::string& path);
  // Adds a folder that is searched: a file in it that `is_input` accepts is never an output.
  void add_input_folder(const std::string& path, std::function<bool(const std::string&)> is_input);
  // Files that `is_input` accepts are never an output, in any folder.
  void never_replace(std::function<bool(const std::string&)> is_input);
  // These add further folders that a run reads, or works in.
  void add_read_folder(const std::string& folder) { reads_.push_back(folder); }
  void add_write_folder(const std::string& folder) { writes_.push_back(folder); }

  // Takes the name of an output that the job handles by its own rules; no other output may have it.
  void reserve_path(const std::string& option, const std::string& name);
  // Takes the name of an output that is made in shards, in the folder NAME.shards beside it, which is removed in the
  // end. No input and no other output may lie in either. Inputs are added before this call.
  void add_store(const std::string& option, const std::string& name);

  // True where a file has this name that this program wrote as this kind.
  bool is_own_output(const std::string& name, const OutputKind& kind) const;

  // Throws Failure when the output cannot or must not be written: (usage) when two outputs have one name, (conflict)
  // when a file is there, saying what it is. An empty name gives no output; "-" is stdout.
  OutputTarget add(const std::string& option, const std::string& name, const OutputKind& kind);

  // Files and folders that are read, as they were named.
  const std::vector<std::string>& read_paths() const { return reads_; }
  // Folders in which something is written, as they were named.
  const std::vector<std::string>& write_folders() const { return writes_; }
  // Pipes and devices that are written into.
  const std::vector<std::string>& streams() const { return streams_; }

 private:
  struct Folder {
    std::string path;
    std::function<bool(const std::string&)> is_input;
  };
  void check_target(const OutputKind& kind, OutputTarget& output) const;
  void reject_duplicate_name(const std::string& option, const std::string& name, const std::string& form);
  void reject_inside_stores(const std::string& option, const std::string& name, const std::string& form) const;
  bool is_input(const std::string& path, const FileState& state) const;

  Options options_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> inodes_;
  std::set<std::string> inputs_, names_;  // each in the form of normalize_path()
  std::vector<std::string> stores_;       // with the folders of their shards
  std::vector<Folder> folders_;
  std::vector<std::string> reads_, writes_, streams_;
};

// First key of every JSON object that this program writes: {"millrace": "NAME", ...
inline constexpr const char* kJsonMark = "millrace";
// Recognises such an object. Where keys are given, it also recognises an object of an older version with exactly
// these keys in this order. A key that ends in "?" may be missing.
std::function<bool(FileReader&)> make_json_recognizer(std::string name, std::vector<std::string> legacy_keys);
// Recognises a table by its whole header line.
std::function<bool(FileReader&)> make_table_recognizer(std::string header);

// Returns "a catalog", "a journal" or "decisions" for a file that this program keeps, or a person's decisions, for
// other runs; null for any other file.
const char* classify_kept_file(std::span<const std::uint8_t> front);
inline constexpr const char* kKeptCatalog = "a catalog";

// Describes what a file's beginning looks like, for messages: "a JPEG picture", "JSON", "text".
std::string describe_file_type(const std::string& path, std::span<const std::uint8_t> front);

}  // namespace millrace
