#include "src/jobs/dedupe/apply/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/atomic_file.h"
#include "src/jobs/dedupe/apply/action_items.h"
#include "src/jobs/dedupe/apply/operation_names.h"
#include "src/jobs/dedupe/scan/companions.h"

namespace millrace::dedupe {
namespace {

class Planner {
 public:
  Planner(const PlanInput& input, ApplyReport& applied, RunContext& context)
      : input_(input),
        applied_(applied),
        context_(context),
        subjects_(input.decisions, input.references, input.known, input.follow_symlinks) {
    next_number_ = input.journal.next_number();
  }

  ApplyPlan make() {
    subjects_.verify_files(context_);
    if (context_.cancel.cancelled()) {
      applied_.interrupted = true;
      return {};
    }
    find_base();
    for (const ActionItem& subject : subjects_.all()) {
      if (subject.remove) consider(subject);
    }
    return std::move(plan_);
  }

 private:
  // Finds the folder below which moved files keep their relative paths: the deepest one that contains them all.
  void find_base() {
    bool first = true;
    for (const ActionItem& subject : subjects_.all()) {
      if (!subject.is_to_remove) continue;
      if (first) base_ = folder_of(subject.path);
      first = false;
      while (!is_inside(subject.path, base_)) base_ = folder_of(base_);
    }
  }

  ReportItem& add_item(const std::string& path, const ActionItem& subject) {
    ReportItem item;
    item.group = subject.first().group;
    item.path = path;
    item.size = subject.missing ? subject.first().size : subject.state.size;
    item.known = subject.known;
    applied_.items.push_back(std::move(item));
    return applied_.items.back();
  }

  void leave(const ActionItem& subject, std::string reason) {
    ReportItem& item = add_item(subject.path, subject);
    item.state = ItemState::left;
    item.reason = std::move(reason);
  }

  // Returns the record of an earlier run that removed the file, or, in a dry run, began to; null if there is none.
  const JournalRecord* find_previous_record(const ActionItem& subject) const {
    const JournalRecord* record = input_.journal.find_latest(subject.path);
    if (record == nullptr || record->undone || !subject.missing) return nullptr;
    return record->done || (record->is_open() && !input_.execute) ? record : nullptr;
  }

  bool add_done_before(const ActionItem& subject) {
    const JournalRecord* record = find_previous_record(subject);
    if (record == nullptr) return false;
    ReportItem& item = add_item(subject.path, subject);
    item.state = ItemState::before;
    item.to = record->to;
    item.reason = record->purging ? "purged" : record->done ? "" : "an interrupted run started it; --go finishes it";
    return true;
  }

  void consider(const ActionItem& subject) {
    if (subject.keep) {
      return leave(subject, fmt::format("another decision keeps it, in group {}: keep takes precedence",
                                        find_keeping_group(subject)));
    }
    if (subject.reference) return leave(subject, "it is in a reference folder");
    if (add_done_before(subject)) return;
    if (input_.action == Action::hardlink) {
      if (const ActionItem* twin = subjects_.find_hard_link(subject)) {
        ReportItem& item = add_item(subject.path, subject);
        item.state = ItemState::before;
        item.to = twin->path;
        item.reason = "it is already a hard link to that file";
        return;
      }
    }
    if (!subject.is_valid()) return leave(subject, subject.trouble);
    const std::vector<const ActionItem*> survivors = subjects_.find_survivors(subject);
    const std::string changed = subjects_.explain_changed_group(
        subject, [&](const ActionItem& member) { return find_previous_record(member) != nullptr; });
    if (!changed.empty()) return leave(subject, changed);
    if (survivors.empty() && subjects_.is_whole_group_removed(subject)) {
      if (input_.action == Action::hardlink)
        return leave(subject, "its group keeps no file that it could be linked to");
      if (input_.action == Action::move && is_inside(subject.path, input_.destination))
        return leave(subject, "it is already in the destination folder");
      return plan(subject, survivors);
    }
    if (survivors.empty()) {
      const ActionItem* troubled = subjects_.find_troubled_survivor(subject);
      return leave(subject, "no other member of its group is kept and unchanged" +
                                (troubled == nullptr
                                     ? ""
                                     : fmt::format(": {}: {}", escape_unprintable(troubled->path), troubled->trouble)));
    }
    const ActionItem* survivor = survivors[0];
    if (!subject.chosen && !subjects_.is_removable_for(subject, *survivor)) {
      return leave(subject, fmt::format("no detailed check confirmed that it is a copy of {}: search again, or mark it "
                                        "yourself on the page (\"chosen\": true in its decision)",
                                        escape_unprintable(file_name(survivor->path))));
    }
    if (!subject.chosen && input_.action != Action::hardlink) {
      const std::vector<std::string> along = companions_.of(subject.path).files;
      // This is rare, since it lists the folder of the kept file.
      const bool any = std::any_of(along.begin(), along.end(), is_recording);
      const std::string alone = any ? find_recording_without_copy(along, beside_.of(survivor->path).files) : "";
      if (!alone.empty())
        return leave(subject, fmt::format("{} would be removed with it, and has no copy beside {}",
                                          escape_unprintable(file_name(alone)), escape_unprintable(survivor->path)));
    }
    if (input_.action == Action::hardlink) {
      if (survivor->first().hash != subject.first().hash) {
        return leave(subject, "it only looks like the kept files: its bytes differ, and a hard link would lose them");
      }
      // A link would make it one file with the reference: writing to one would change the other.
      if (survivor->reference) return leave(subject, "the kept file with the same bytes is in a reference folder");
      if (survivor->state.device != subject.state.device) {
        return leave(subject, fmt::format("{} is on another file system", escape_unprintable(survivor->path)));
      }
      // Linked files share one owner and one mode: anyone who may write to one could write to both.
      const auto same = have_same_access(subject.path, survivor->path);
      if (!same) return leave(subject, same.error().what);
      if (!*same && !input_.ignore_access) {
        return leave(subject, fmt::format("its owner, group, mode or access list differs from {}, and would be lost; "
                                          "--ignore-access links them",
                                          escape_unprintable(survivor->path)));
      }
    }
    if (input_.action == Action::move && is_inside(subject.path, input_.destination)) {
      return leave(subject, "it is already in the destination folder");
    }
    plan(subject, survivors);
  }

  static std::string find_keeping_group(const ActionItem& subject) {
    for (const Decision* d : subject.decisions) {
      if (d->kind == DecisionKind::keep) return escape_unprintable(d->group);
    }
    return "";
  }

  void plan(const ActionItem& subject, const std::vector<const ActionItem*>& survivors) {
    AssetOperation asset;
    for (const ActionItem* survivor : survivors)
      asset.survivors.push_back({survivor->path, survivor->state, survivor->first().hash, survivor->reference});
    std::vector<std::string> names;
    std::string remark;
    if (input_.action != Action::hardlink) {
      const Companions companions = companions_.of(subject.path);
      for (std::size_t i = 0; i < companions.files.size(); ++i) {
        const std::string& file = companions.files[i];
        const ActionItem* named = subjects_.find(file);
        if (named != nullptr && named->is_to_remove) continue;  // it has a decision of its own
        const bool kept = named != nullptr || std::any_of(input_.references.begin(), input_.references.end(),
                                                          [&](const std::string& r) { return is_inside(file, r); });
        if (kept || (companions.shared[i] && has_kept_sibling(companions))) {
          remark += fmt::format(
              "{}{} is kept{}", remark.empty() ? "" : "; ", escape_unprintable(file_name(file)),
              kept ? "" : " for " + std::string(escape_unprintable(file_name(find_kept_sibling(companions)))));
          continue;
        }
        names.push_back(file);
      }
    }
    names.push_back(subject.path);
    const std::vector<std::string> targets = find_free_targets(names, survivors.empty() ? "" : survivors[0]->path);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const bool main = i + 1 == names.size();
      ReportItem& item = add_item(names[i], subject);
      item.to = targets[i];
      Operation operation;
      operation.item = applied_.items.size() - 1;
      JournalRecord& record = operation.record;
      record.number = next_number_++;
      record.path = names[i];
      record.to = targets[i];
      record.whole_group = survivors.empty();
      for (const ActionItem* survivor : survivors) {
        record.survivors.push_back(survivor->path);
        record.survivor_sizes.push_back(survivor->state.size);
      }
      if (main) {
        record.before = subject.state;
        record.hash = subject.first().hash;
        item.reason = remark;
      } else {
        item.main = record.main = subject.path;
        const auto state = state_of(names[i]);
        if (!state || !state->regular) {
          item.state = ItemState::left;
          item.reason = state ? "is not a file" : state.error().what;
          continue;
        }
        record.before = *state;
        item.size = state->size;
      }
      record.temporary = temporary_name(input_.action, record.path, record.to, input_.id, record.number);
      asset.operations.push_back(std::move(operation));
    }
    plan_.assets.push_back(std::move(asset));
  }

  std::string find_kept_sibling(const Companions& companions) const {
    for (const std::string& sibling : companions.siblings) {
      const ActionItem* subject = subjects_.find(sibling);
      if (subject == nullptr || !subject->is_to_remove || !subject->is_valid()) return sibling;
    }
    return "";
  }
  bool has_kept_sibling(const Companions& companions) const { return !find_kept_sibling(companions).empty(); }

  // Returns free new names for an asset's files, all with the same number after the stem if one is needed.
  std::vector<std::string> find_free_targets(const std::vector<std::string>& names, const std::string& survivor) {
    if (input_.action == Action::trash) return std::vector<std::string>(names.size());
    if (input_.action == Action::hardlink) return {survivor};
    const std::string& main = names.back();
    const std::size_t stem = stem_key(main).size() - (main.size() - file_name(main).size());
    std::string folder = input_.action == Action::remove ? find_own_folder(main) : input_.destination;
    if (input_.action == Action::move && folder_of(main) != base_) {
      folder = join_path(folder, folder_of(main).substr(base_ == "/" ? 1 : base_.size() + 1));
    }
    for (int number = 1;; ++number) {
      std::vector<std::string> targets;
      bool free = true;
      for (const std::string& name : names) {
        std::string file(file_name(name));
        if (number > 1) file.insert(std::min(stem, file.size()), fmt::format(" ({})", number));
        targets.push_back(join_path(folder, file));
        free &= taken_.count(targets.back()) == 0 && !exists(targets.back());
      }
      if (!free) continue;
      taken_.insert(targets.begin(), targets.end());
      return targets;
    }
  }

  // Returns this journal's folder beside a file; a foreign folder of that name is not touched.
  std::string find_own_folder(const std::string& path) {
    const auto [at, fresh] = own_folders_.try_emplace(folder_of(path), set_aside_folder(path, input_.id));
    if (!fresh) return at->second;
    const std::string wanted = at->second;
    const auto& made = input_.journal.folders;
    for (int number = 2; exists(at->second) && std::find(made.begin(), made.end(), at->second) == made.end();
         ++number) {
      at->second = fmt::format("{}-{}", wanted, number);
    }
    return at->second;
  }

  const PlanInput& input_;
  ApplyReport& applied_;
  RunContext& context_;
  ActionItems subjects_;
  CompanionFinder companions_, beside_;  // for removed files; for kept files
  ApplyPlan plan_;
  std::string base_ = "/";
  std::set<std::string> taken_;
  std::map<std::string, std::string> own_folders_;
  std::uint64_t next_number_ = 1;
};

}  // namespace

ApplyPlan make_plan(const PlanInput& input, ApplyReport& applied, RunContext& context) {
  return Planner(input, applied, context).make();
}

}  // namespace millrace::dedupe
