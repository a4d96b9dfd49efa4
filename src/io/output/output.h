// Input: the names that a person gave for outputs, and what the job reads.
// Output: each output looked at before the work, and later written whole under its name.
// Never: replaces an input; nor, unless told to, a file that this program did not write; nor a pipe or a device, which
//   are written into.
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

// What outputs of one kind look like.
struct OutputKind {
  std::string name;  // "a page of duplicates", for messages
  Readers readers = Readers::everyone;
  // Tells from a file's beginning that this program wrote it as this kind. Empty: nothing tells.
  std::function<bool(FileReader&)> ours{};
};

// A name that was looked at.
class Output {
 public:
  Output() = default;  // none was given
  // Whatever has the name is replaced: for names that are this program's own.
  static Output in_place_of_anything(const std::string& path);

  explicit operator bool() const { return !path_.empty(); }
  const std::string& path() const { return path_; }
  // Written into as it is, with no name to take in the end: stdout, a pipe, a device.
  bool is_stream() const { return stream_; }
  Readers readers() const { return readers_; }
  // Something has the name, and may be replaced.
  bool replaces() const { return replaces_.anything || replaces_.looked_at; }
  // For those who give it its name by themselves.
  const Replaceable& replaceable() const { return replaces_; }
  // Failure(io) where its file system has less room than this: before hours of work, not behind them. Of a stream
  // nobody knows.
  void throw_if_no_room(Bytes bytes) const;

  void write(std::string_view text) const;
  void write(std::span<const std::string> pieces) const;

 private:
  friend class Outputs;
  friend class OutputFile;
  std::string path_;
  bool stream_ = false;
  int descriptor_ = -1;                     // of a stream that is open already
  std::shared_ptr<const Descriptor> pipe_;  // what was looked at, whatever has its name by then
  Replaceable replaces_;
  Readers readers_ = Readers::everyone;
};

// What goes under an output's name. Nothing is to be seen there before commit(); into a stream all goes at once. Every
// failure throws Failure with the path.
class OutputFile {
 public:
  // Opens nothing yet where it is a stream: a pipe waits for its reader when there is something to read.
  explicit OutputFile(Output output);

  void write(std::string_view bytes);
  void write(std::span<const std::byte> bytes) {
    write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  // All of it on the disk, so that several files can be whole before the first has its name.
  void sync();
  void commit();

 private:
  const Output output_;
  std::unique_ptr<AtomicFile> file_;
  Descriptor stream_;
};

// The outputs of one run, in the order in which they are added; what the job reads is said before. What this program
// keeps for a person is never one of them, in whatever command: what lies in the data folder, and, wherever they lie,
// files that begin like a catalogue, a journal or decisions.
class Outputs {
 public:
  struct Options {
    bool overwrite = false;  // also what this program did not write, but never an input
    bool prove = true;       // that a file can be made there
  };
  explicit Outputs(const Options& options) : options_(options) {}

  // A file that is read: never an output. One that is not there yet counts by its name.
  void input(const std::string& path);
  // A file that is kept from run to run: read, written, and never an output.
  void kept(const std::string& path);
  // A folder that is searched: what `is_input` says of a file that lies in it is never an output.
  void input_folder(const std::string& path, std::function<bool(const std::string&)> is_input);
  // Files that `is_input` accepts are never an output, wherever they lie.
  void never_replace(std::function<bool(const std::string&)> is_input);
  // More folders that a run reads, or works in.
  void reads(const std::string& folder) { reads_.push_back(folder); }
  void works_in(const std::string& folder) { writes_.push_back(folder); }

  // A name that the job takes for an output by rules of its own: no other may have it.
  void take_name(const std::string& option, const std::string& name);
  // The same of one that is made in parts, in the folder NAME.shards beside it, which goes in the end: nor does an
  // input or an output lie in either. The inputs are said before.
  void take_store(const std::string& option, const std::string& name);

  // Whether a file has the name that this program wrote as this kind.
  bool is_own(const std::string& name, const OutputKind& kind) const;

  // Failure when it cannot be written, or must not: (usage) when two outputs have one name, (conflict) with what it is
  // when something is there. An empty name gives no output; "-" is stdout.
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
  std::set<std::string> inputs_, names_;  // each in its one form
  std::vector<std::string> stores_;       // with the folders of their parts
  std::vector<Folder> folders_;
  std::vector<std::string> reads_, writes_, streams_;
};

// The first key of every JSON object that this program writes: {"millrace": "NAME", ...
inline constexpr const char* kJsonMark = "millrace";
// Recognises it; or, where keys are given, an object of an earlier version, whose keys were exactly these, in this
// order. A key that ends in "?" may be missing.
std::function<bool(FileReader&)> json_result(std::string name, std::vector<std::string> earlier_keys);
// Recognises a table by its whole header line.
std::function<bool(FileReader&)> table_with_header(std::string header);

// "a catalogue", "a journal", "decisions": what this program keeps, or a person decided, for another run; null for all
// else.
const char* what_is_kept(std::span<const std::uint8_t> front);
inline constexpr const char* kKeptCatalog = "a catalogue";

// "a JPEG picture", "JSON", "a text": what a file's beginning looks like, for messages.
std::string what_it_is(const std::string& path, std::span<const std::uint8_t> front);

}  // namespace millrace
