// Input: decisions, and the disk.
// Output: every file that they name, once, with all that is said of it and whether it is still what they mean.
// Never: decides what is done.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "src/io/file/relocate.h"
#include "src/jobs/dedupe/apply/decisions.h"
#include "src/jobs/dedupe/apply/known.h"
#include "src/pipeline/run_context.h"

namespace millrace::dedupe {

struct Subject {
  std::string path;                        // canonical
  bool through_link = false;               // as it is named, it lies behind a symbolic link
  std::vector<const Decision*> decisions;  // all that name it
  bool remove = false, keep = false, reference = false;
  bool goes = false;    // remove, and neither keep nor reference
  bool chosen = false;  // by a person, this very file
  bool missing = false;
  bool known = true;  // to the catalogue, as the decisions have it
  FileState state;
  std::string trouble;  // why it is not what the decisions mean; empty when it is

  const Decision& first() const { return *decisions[0]; }
  bool good() const { return trouble.empty(); }
};

class Subjects {
 public:
  Subjects(const Decisions& decisions, const std::vector<std::string>& references, const KnownFiles& known,
           bool follow_symlinks);

  // Looks at the files that matter: those that go and those that may survive them. Reads them in full.
  void examine(RunContext& context);

  const std::vector<Subject>& all() const { return all_; }  // by path
  const Subject* find(const std::string& path) const;
  // Whether a person said twice of every group in which it is removed that nothing of it shall stay: all that are named
  // are removed, each chosen, none in a reference folder.
  bool goes_with_its_groups(const Subject& gone) const;
  // Why such a group is not the one that was asked about: other members than it had then are named, or one of them is
  // not as it was, and did not go before. Empty when it is. What was said of all of them holds for no lesser number.
  std::string changed_group_of(const Subject& gone, const std::function<bool(const Subject&)>& went_before) const;

  // Why `gone` may go: for every group in which it is removed a member that stays, on the disk with its recorded bytes
  // and not another name of `gone`. A file of the same bytes that stays, whatever group names it, stands in for a
  // member that is not there, and joins one of other bytes. The best first: equal bytes on the same file system and in
  // no reference folder, equal bytes on the same file system, equal bytes, one that it may go for, any. Empty when a
  // group has none.
  std::vector<const Subject*> survivors_of(const Subject& gone) const;
  // Whether `gone` may go for this file without a person's own choice: it has the same bytes, or was looked at closely.
  bool may_go_for(const Subject& gone, const Subject& stays) const;
  // Of the files that were to stay for `gone` the first, with what is wrong with it; null when there is none.
  const Subject* troubled_survivor_of(const Subject& gone) const;
  // A file that stays and is another name (a hard link) of this one; null when there is none.
  const Subject* other_name_of(const Subject& gone) const;

 private:
  struct WholeGroup {
    std::set<std::uint64_t> said;      // how many members it had, as its entries have it
    std::vector<std::size_t> members;  // those that are named
  };

  // A person told the two apart, in whichever group.
  bool told_apart(const Subject& a, const Subject& b) const;

  void check_place(Subject& subject) const;

  const KnownFiles& known_;
  const bool follow_symlinks_;
  std::vector<Subject> all_;
  std::map<std::string, std::vector<std::size_t>> groups_;                // of each, those that stay
  std::map<ContentHash, std::vector<std::size_t>> by_content_;            // likewise
  std::map<std::string, WholeGroup> whole_groups_;                        // of which nothing shall stay
  std::map<std::string, std::vector<std::size_t>> not_duplicate_groups_;  // groups that are no duplicates as a whole
  std::set<std::pair<ContentHash, ContentHash>> not_duplicate_pairs_;     // the lower first
};

}  // namespace millrace::dedupe
