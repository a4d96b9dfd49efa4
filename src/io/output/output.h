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
#include "src/io/file/reader.h"

namespace millrace {

// Properties of one kind of output.
struct OutputKind {
  std::string name;  // "a page of duplicates", for messages
  Readers readers = Readers::everyone;
  // Recognises, by its beginning, a file that this program wrote as this kind. Empty: files of this kind cannot be
  // recognised.
  std::function<bool(FileReader&)> ours{};
};

// The name of an output that was checked.
class Output {
 public:
  Output() = default;  // no name was given
  // Any file of this name is replaced: for names that belong to this program.
  static Output in_place_of_anything(const std::string& path);

  explicit operator bool() const { return !path_.empty(); }
  const std::string& path() const { return path_; }
  // True where it is written into directly, with no file to rename in the end: stdout, a pipe, a device.
  bool is_stream() const { return stream_; }
  Readers readers() const { return readers_; }
  // True where a file has the name and may be replaced.
  bool replaces() const { return replaces_.anything || replaces_.looked_at; }
  // Files that may be replaced, for callers that do the renaming themselves.
  const Replaceable& replaceable() const { return replaces_; }
  // Throws Failure(io) where the file system has less free space than this, before hours of work instead of after them.
  // The space of a stream is unknown.
  void throw_if_no_room(Bytes bytes) const;

  void write(std::string_view text) const;
  void write(std::span<const std::string> pieces) const;

 private:
  friend class Outputs;
  friend class OutputFile;
  std::string path_;
  bool stream_ = false;
  int descriptor_ = -1;                     // of a stream that is open already
  std::shared_ptr<const Descriptor> pipe_;  // the pipe or device that was checked, held open
  Replaceable replaces_;
  Readers readers_ = Readers::everyone;
};

// Contents of an output. A file is not visible under the name before commit(); a stream gets everything at once. Every
// failure throws Failure with the path.
class OutputFile {
 public:
  // Does not open a stream yet: a pipe is opened, and waits for its reader, when there is something to write.
  explicit OutputFile(Output output);

  void write(std::string_view bytes);
  void write(std::span<const std::byte> bytes) {
    write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  // Writes everything to the disk, so that several files can be complete before the first one gets its name.
  void sync();
  void commit();

 private:
  const Output output_;
  std::unique_ptr<AtomicFile> file_;
  Descriptor stream_;
};

// The outputs of one run, in the order in which they are added. Inputs are added before them. Files that this program
// keeps for a person are never an output of any command. These are files in the data folder, and, in any folder, files
// that begin like a catalogue, a journal or decisions.
class Outputs {
 public:
  struct Options {
    bool overwrite = false;  // replace also files that this program did not write, but never an input
    bool prove = true;       // check that a file can be created there
  };
  explicit Outputs(const Options& options) : options_(options) {}

  // Adds a file that is read: it is never an output. A file that does not exist yet counts by its name.
  void input(const std::string& path);
  // Adds a file that is kept from run to run: read, written, and never an output.
  void kept(const std::string& path);
  // Adds a folder that is searched: a file in it that `is_input` accepts is never an output.
  void input_folder(const std::string& path, std::function<bool(const std::string&)> is_input);
  // Files that `is_input` accepts are never an output, in any folder.
  void never_replace(std::function<bool(const std::string&)> is_input);
  // These add further folders that a run reads, or works in.
  void reads(const std::string& folder) { reads_.push_back(folder); }
  void works_in(const std::string& folder) { writes_.push_back(folder); }

  // Takes the name of an output that the job handles by its own rules; no other output may have it.
  void take_name(const std::string& option, const std::string& name);
  // Takes the name of an output that is made in shards, in the folder NAME.shards beside it, which is removed in the
  // end. No input and no other output may lie in either. Inputs are added before this call.
  void take_store(const std::string& option, const std::string& name);

  // True where a file has this name that this program wrote as this kind.
  bool is_own(const std::string& name, const OutputKind& kind) const;

  // Throws Failure when the output cannot or must not be written: (usage) when two outputs have one name, (conflict)
  // when a file is there, saying what it is. An empty name gives no output; "-" is stdout.
  Output add(const std::string& option, const std::string& name, const OutputKind& kind);

  // Files and folders that are read, as they were named.
  const std::vector<std::string>& read() const { return reads_; }
  // Folders in which something is written, as they were named.
  const std::vector<std::string>& written() const { return writes_; }
  // Pipes and devices that are written into.
  const std::vector<std::string>& streams() const { return streams_; }

 private:
  struct Folder {
    std::string path;
    std::function<bool(const std::string&)> is_input;
  };
  void look_at(const OutputKind& kind, Output& output) const;
  void claim(const std::string& option, const std::string& name, const std::string& form);
  void refuse_in_stores(const std::string& option, const std::string& name, const std::string& form) const;
  bool is_input(const std::string& path, const FileState& state) const;

  Options options_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> inodes_;
  std::set<std::string> inputs_, names_;  // each in the form of one_form()
  std::vector<std::string> stores_;       // with the folders of their shards
  std::vector<Folder> folders_;
  std::vector<std::string> reads_, writes_, streams_;
};

// First key of every JSON object that this program writes: {"millrace": "NAME", ...
inline constexpr const char* kJsonMark = "millrace";
// Recognises such an object. Where keys are given, it also recognises an object of an earlier version with exactly
// these keys in this order. A key that ends in "?" may be missing.
std::function<bool(FileReader&)> json_result(std::string name, std::vector<std::string> earlier_keys);
// Recognises a table by its whole header line.
std::function<bool(FileReader&)> table_with_header(std::string header);

// Returns "a catalogue", "a journal" or "decisions" for a file that this program keeps, or a person's decisions, for
// other runs; null for any other file.
const char* what_is_kept(std::span<const std::uint8_t> front);
inline constexpr const char* kKeptCatalog = "a catalogue";

// Describes what a file's beginning looks like, for messages: "a JPEG picture", "JSON", "a text".
std::string what_it_is(const std::string& path, std::span<const std::uint8_t> front);

}  // namespace millrace
