// Input: pictures that a run works at.
// Output: a folder for each, in which its results grow, this run's alone until it lets it go; and how far they have
// got. Never: works at a picture that another run has; takes rows for done that were made of another file.
//
// They lie in OUTPUT/unfinished.shards, on the disk of the results, and go when all is done.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/jobs/segment/record.h"
#include "src/pipeline/checkpoint/run_folder.h"
#include "src/pipeline/checkpoint/share.h"

namespace millrace::segment {

// A picture's results behind a row of windows.
struct Saved {
  std::string source;                 // the state of the file that it is made of, and of what says where to look
  std::uint64_t rows = 0;             // of the image that are written
  std::uint64_t next_row = 0;         // of windows
  std::uint64_t windows = 0;          // of the rows before
  std::vector<HeadResult> heads;      // as far as they are known; means are sums yet
  std::vector<std::string> previews;  // of each head that has one, what Preview saves
  std::map<std::string, std::string> outputs;  // what each needs to go on, by its name in the folder
};

// Below the folder of results.
inline constexpr const char* kUnfinishedFolder = "unfinished.shards";

class Unfinished {
 public:
  // `made_of` is what results are made of, or a hash of that. Failure(conflict) where another run has the folder, one
  // that shares none of it, or this one does not; or has left things of another kind.
  Unfinished(const std::string& output, const std::string& made_of, const Share& share);
  // What a picture's folder is called by. Two names that somebody made up for it may have one.
  static std::uint64_t number(const std::string& name);

  // This picture is this run's until let_go(); false where it is another's.
  bool claim(const std::string& name);
  void let_go(const std::string& name);
  // The folder of a picture that was claimed; it is made.
  std::string folder(const std::string& name);
  std::optional<Saved> saved(const std::string& name, const std::string& source);
  void save(const std::string& name, const Saved& saved);
  // Nothing of it is kept.
  void drop(const std::string& name);

  // Nothing of it but that it cannot be used, for other runs that share the folder to know.
  void fail(const std::string& name, const Error& error);
  // Its error in words; nothing where it has not failed.
  std::optional<std::string> why_failed(const std::string& name) const;

  // This run is through. False where others are still at it; else this one has the folder alone until it goes.
  bool is_last();
  // No run has begun a picture that it has not finished, or has found one that it cannot use.
  bool is_empty() const;
  // Nothing in it is needed any more, of earlier runs either.
  void remove() { folder_.remove(); }
  // Names of its folder as a person knows them.
  Error in_words(const Error& error) const { return folder_.in_words(error); }

 private:
  RunFolder folder_;
  bool shared_;
};

}  // namespace millrace::segment
