// Input: decisions, and the disk.
// Output: every file that the decisions name, once, with all decisions on it, and whether its state is the one that
// they mean.
// Never: determines the operation on a file.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "src/io/file/relocate.h"
#include "src/jobs/dedupe/apply/cataloged_files.h"
#include "src/jobs/dedupe/apply/decisions.h"
#include "src/pipeline/run_context.h"

namespace millrace::dedupe {

struct ActionItem {
  std::string path;                        // canonical
  bool through_link = false;               // the path in the decision leads through a symbolic link
  std::vector<const Decision*> decisions;  // all decisions on this path
  bool remove = false, keep = false, reference = false;
  bool is_to_remove = false;  // true for remove without keep and without reference
  bool chosen = false;        // by a person, for this very file
  bool missing = false;
  bool known = true;  // in the catalog, in the state of the decisions
  FileState state;
  std::string trouble;  // why it is not the file that the decisions mean; empty if it is

  const Decision& first() const { return *decisions[0]; }
  bool is_valid() const { return trouble.empty(); }
};

class ActionItems {
 public:
  ActionItems(const Decisions& decisions, const std::vector<std::string>& references, const CatalogedFiles& known,
              bool follow_symlinks);

  // Checks the files that matter: those to remove, and those that may survive them. Reads them in full.
  void verify_files(RunContext& context);

  const std::vector<ActionItem>& all() const { return all_; }  // sorted by path
  const ActionItem* find(const std::string& path) const;
  // True if a person confirmed twice, for every group in which it is removed, that none of the group shall be kept. All
  // named members are then removed, each chosen, none in a reference folder.
  bool is_whole_group_removed(const ActionItem& gone) const;
  // Returns why such a group is not the one that the person confirmed; empty if it is. Either other members are named
  // than it had then, or a member has changed and was not removed before. A confirmation for all members does not hold
  // for fewer.
  std::string explain_changed_group(const ActionItem& gone,
                                    const std::function<bool(const ActionItem&)>& was_removed_before) const;

  // Returns the files that allow `gone` to be removed: for every group in which it is removed, a kept member. That
  // member is on the disk with its recorded bytes, and is not another name of `gone`. A kept file of the same bytes, in
  // whatever group, replaces a missing member, and is added to one of other bytes. Best first: equal bytes on the same
  // file system outside reference folders; equal bytes on the same file system; equal bytes; one that
  // is_removable_for() accepts; any other. Empty if a group has none.
  std::vector<const ActionItem*> find_survivors(const ActionItem& gone) const;
  // True if `gone` may be removed in favour of this file without a person's own choice: it has the same bytes, or was
  // checked in detail.
  bool is_removable_for(const ActionItem& gone, const ActionItem& stays) const;
  // Returns the first of the files to be kept for `gone` with a problem in its `trouble`; null if there is none.
  const ActionItem* find_troubled_survivor(const ActionItem& gone) const;
  // Returns a kept file that is another name (a hard link) of this one; null if there is none.
  const ActionItem* find_hard_link(const ActionItem& gone) const;

 private:
  struct WholeGroup {
    std::set<std::uint64_t> decided;   // numbers of members in its entries
    std::vector<std::size_t> members;  // the named members
  };

  // True if a person confirmed the two as different, in any group.
  bool is_confirmed_distinct(const ActionItem& a, const ActionItem& b) const;

  void verify_path(ActionItem& subject) const;

  const CatalogedFiles& known_;
  const bool follow_symlinks_;
  std::vector<ActionItem> all_;
  std::map<std::string, std::vector<std::size_t>> groups_;      // kept members of each group
  std::map<ContentHash, std::vector<std::size_t>> by_content_;  // kept files of each content
  std::map<std::string, WholeGroup> whole_groups_;              // groups of which no member shall be kept
  std::map<std::string, std::vector<std::size_t>>
      confirmed_distinct_groups_;                                           // groups that are not duplicates as a whole
  std::set<std::pair<ContentHash, ContentHash>> confirmed_distinct_pairs_;  // the lower first
};

}  // namespace millrace::dedupe
