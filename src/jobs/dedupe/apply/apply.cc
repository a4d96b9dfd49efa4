#include "src/jobs/dedupe/apply/apply.h"

#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/atomic_file.h"
#include "src/io/file/trash.h"
#include "src/jobs/dedupe/apply/cataloged_files.h"
#include "src/jobs/dedupe/apply/confirmed_distinct.h"
#include "src/jobs/dedupe/apply/operation_names.h"
#include "src/jobs/dedupe/apply/plan.h"
#include "src/jobs/dedupe/apply/restore.h"
#include "src/jobs/dedupe/apply/sidecars.h"
#include "src/jobs/dedupe/scan/library.h"

namespace millrace::dedupe {
namespace {

struct Wanted {
  Action action = Action::trash;
  std::string destination;
};

Wanted parse_action_option(const std::string& text) {
  if (text.starts_with("move=")) {
    const std::string folder = text.substr(5);
    if (folder.empty()) throw Failure(ErrorCode::usage, "no destination folder is given", "--action move=DIR");
    std::error_code ignored;
    std::string path = std::filesystem::weakly_canonical(std::filesystem::absolute(folder), ignored).string();
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    if (path.empty())
      throw Failure(ErrorCode::usage, "this folder cannot be used", "--action " + escape_unprintable(text));
    return {Action::move, path};
  }
  const auto action = parse_action_name(text);
  if (!action || *action == Action::move) {
    throw Failure(ErrorCode::usage,
                  text.empty() ? "no action is given" : fmt::format("'{}' is not an action", escape_unprintable(text)),
                  "--action", "use trash, move=DIR, hardlink or delete");
  }
  return {*action, ""};
}

std::uint64_t hash_of(const std::string& text) {
  return short_hash(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

struct JournalLocation {
  std::string path, id;
  Journal found;  // journal of an earlier run at this path
};

// Finds the path of this run's journal. A journal with a finished undo is complete, so the next number follows.
JournalLocation find_journal(const ApplyOptions& options, const std::string& id) {
  for (int number = 1;; ++number) {
    JournalLocation place;
    place.id = number == 1 ? id : fmt::format("{}-{}", id, number);
    place.path = options.journal.empty() ? data_path("journals/" + place.id + ".jsonl") : options.journal;
    if (!exists(place.path)) return place;
    place.found = read_journal(place.path, options.trust());
    if (place.found.id.empty()) return place;
    if (!options.journal.empty() && !place.found.id.starts_with(id)) {
      throw Failure(ErrorCode::conflict, "this journal belongs to other decisions or another action",
                    escape_unprintable(place.path), "name another with --journal");
    }
    if (!place.found.undo_begun) {
      place.id = place.found.id;
      return place;
    }
    if (!place.found.undo_finished) {
      throw Failure(ErrorCode::conflict, "an undo of this journal is not finished", escape_unprintable(place.path),
                    "run millrace dedupe undo on it again, or name another journal with --journal");
    }
    if (!options.journal.empty()) {
      throw Failure(ErrorCode::conflict, "the actions in this journal were undone", escape_unprintable(place.path),
                    "name another with --journal");
    }
  }
}

// Locks a file during its removal, and the files kept for it. Two runs, also of different users, might each remove what
// the other keeps; with the locks one of them finds the file locked or gone. On file systems without locks there is no
// such protection.
class FileLocks {
 public:
  explicit FileLocks(const AssetOperation& asset) {
    hold(asset.operations.back().record.path, LOCK_EX);
    for (const AssetOperation::Survivor& survivor : asset.survivors) hold(survivor.path, LOCK_SH);
  }
  bool has_all() const { return all_; }

 private:
  void hold(const std::string& path, int how) {
    auto place = DirectoryEntry::make(path);
    auto file = place ? place->open() : Outcome<Descriptor>(place.error());
    if (!file) return;  // the next check reports it
    if (::flock(file->get(), how | LOCK_NB) != 0 && errno == EWOULDBLOCK) all_ = false;
    held_.push_back(std::move(*file));
  }

  std::vector<Descriptor> held_;
  bool all_ = true;
};

class ApplyRunner {
 public:
  ApplyRunner(Journal& journal, JournalWriter& writer, ApplyReport& applied, bool ignore_access, RunContext& context)
      : journal_(journal), writer_(writer), applied_(applied), ignore_access_(ignore_access), context_(context) {}

  // Finishes the operations of a run that was cut off, so that the plan sees the resulting state of the disk.
  void finish_open_operations() {
    for (JournalRecord& record : journal_.records) {
      if (!record.is_open()) continue;
      std::string reason;
      if (finish_operation(record, journal_.action, reason)) {
        writer_.write_done(record.number);
        record.done = true;
      } else {
        writer_.write_failed(record.number, reason.empty() ? "it was cut off before it was done" : reason);
        record.failed = true;
        if (!reason.empty()) applied_.notes.push_back(fmt::format("{}: {}", escape_unprintable(record.path), reason));
      }
    }
  }

  void write(const SidecarPlan& sidecar, ApplyPlan& plan) {
    ReportItem& item = applied_.items[sidecar.item];
    try {
      if (journal_problem_.empty()) return write_sidecar(sidecar, plan, journal_.id, writer_, applied_);
    } catch (const Failure& failure) {
      journal_problem_ = failure.error().message();
    }
    item.state = ItemState::failed;
    item.reason = journal_problem_;
  }

  void carry_out(const ApplyPlan& plan) {
    Progress progress(context_.progress, name_of(journal_.action), plan.assets.size());
    for (const AssetOperation& asset : plan.assets) {
      if (context_.cancel.cancelled()) {
        applied_.interrupted = true;
        mark(asset, ItemState::waiting, "");
      } else if (!journal_problem_.empty()) {
        mark(asset, ItemState::failed, journal_problem_);
      } else if (const FileLocks held(asset); !held.has_all()) {
        mark(asset, ItemState::left, "another run is working on it, or on the file that is kept for it");
      } else if (const std::string changed = changed_since_plan(asset); !changed.empty()) {
        mark(asset, ItemState::left, changed);
      } else {
        carry_out(asset);
      }
      progress.add(1);
    }
  }

  bool journal_works() const { return journal_problem_.empty(); }

 private:
  void mark(const AssetOperation& asset, ItemState state, const std::string& reason) {
    for (const Operation& operation : asset.operations) {
      applied_.items[operation.item].state = state;
      if (!reason.empty()) applied_.items[operation.item].reason = reason;
    }
  }

  // The bytes were compared when the plan was made. Size, time and inode show that nobody wrote since.
  static std::string changed_since_plan(const AssetOperation& asset) {
    for (const AssetOperation::Survivor& survivor : asset.survivors) {
      const auto state = state_of(survivor.path);
      if (!state || !state->same(survivor.state))
        return fmt::format("{}, the file to keep, changed since it was examined", escape_unprintable(survivor.path));
    }
    for (const Operation& operation : asset.operations) {
      const auto state = state_of(operation.record.path);
      if (!state || !state->same(operation.record.before))
        return fmt::format("{} changed since it was examined", escape_unprintable(operation.record.path));
    }
    return "";
  }

  void carry_out(const AssetOperation& asset) {
    for (std::size_t i = 0; i < asset.operations.size(); ++i) {
      const Operation& operation = asset.operations[i];
      ReportItem& item = applied_.items[operation.item];
      try {
        Outcome<void> done = make_folder_for(operation.record.to);
        if (done.ok()) {
          writer_.write_intent(operation.record, journal_.action);
          done = run_operation(operation.record, asset.survivors.empty() ? FileState{} : asset.survivors[0].state);
          if (!done.ok()) writer_.write_failed(operation.record.number, done.error().what);
        }
        if (!done.ok()) {
          const std::string what = done.error().what;
          restore_asset(asset, i, escape_unprintable(file_name(operation.record.path)) + ": " + what);
          item.state = ItemState::failed;
          item.reason = what + (done.error().remedy.empty() ? "" : "; " + done.error().remedy);
          return;
        }
        item.state = ItemState::done;
        writer_.write_done(operation.record.number);
      } catch (const Failure& failure) {
        // Without a journal no further operation is done. An operation that the journal has as begun is found again on
        // the disk.
        journal_problem_ = failure.error().message();
        for (std::size_t k = i; k < asset.operations.size(); ++k) {
          ReportItem& rest = applied_.items[asset.operations[k].item];
          if (rest.state == ItemState::done) continue;
          rest.state = ItemState::failed;
          rest.reason = journal_problem_;
        }
        return;
      }
    }
  }

  // Keeps the files of one asset together: if one cannot be removed, restores those that were removed.
  void restore_asset(const AssetOperation& asset, std::size_t failed, const std::string& why) {
    TrashSearch trash;
    for (std::size_t i = 0; i < asset.operations.size(); ++i) {
      const JournalRecord& record = asset.operations[i].record;
      ReportItem& item = applied_.items[asset.operations[i].item];
      if (i < failed) {
        const RestoreResult back = restore(record, journal_, trash, true);
        if (back.state == ItemState::done) writer_.write_undone(record.number, back.where);
        item.state = back.state == ItemState::done ? ItemState::failed : ItemState::done;
      } else {
        item.state = ItemState::failed;
      }
      if (i != failed && item.state == ItemState::failed) item.reason = "kept together with its companion: " + why;
    }
  }

  Outcome<void> run_operation(const JournalRecord& record, const FileState& survivor) {
    switch (journal_.action) {
      case Action::trash:
        return move_to_trash(record.path, record.before);
      case Action::hardlink:
        return replace_by_link(record.path, record.to, record.temporary, {ignore_access_, record.before, survivor});
      case Action::remove:
        return rename_new(record.path, record.to, record.before);
      case Action::move:
        return move_new(record.path, record.to, record.temporary, record.before);
    }
    return {};
  }

  // Makes the folders above a new path, each noted in the journal before, so that an undo can remove them.
  Outcome<void> make_folder_for(const std::string& to) {
    if (to.empty() || journal_.action == Action::hardlink) return {};
    if (journal_.action == Action::remove && exists(folder_of(to)) && !is_trusted_folder(folder_of(to))) {
      return Error{ErrorCode::conflict, "the folder for it was just created by somebody else",
                   escape_unprintable(folder_of(to)), "run the same command again"};
    }
    std::vector<std::string> missing;
    for (std::string folder = folder_of(to); !exists(folder); folder = folder_of(folder)) missing.push_back(folder);
    for (auto folder = missing.rbegin(); folder != missing.rend(); ++folder) {
      writer_.write_folder(*folder);
      journal_.folders.push_back(*folder);
      call_step_hook("make a folder");
      // Folders for files that are set aside are private to their owner, so nobody else can replace the files.
      auto made = journal_.action == Action::remove ? make_trusted_folder(*folder) : make_folders_no_follow(*folder);
      if (made.ok()) continue;
      made.error().what =
          fmt::format("the folder for it cannot be created: {} ({})", made.error().what, escape_unprintable(*folder));
      return made;
    }
    return {};
  }

  Journal& journal_;
  JournalWriter& writer_;
  ApplyReport& applied_;
  const bool ignore_access_;
  RunContext& context_;
  std::string journal_problem_;
};

}  // namespace

Action parse_action(const std::string& text) { return parse_action_option(text).action; }

void describe(Settings& settings, ApplyOptions& options) {
  describe_action_options(settings, options);
  settings.add_text("journal", "FILE", "record the actions for undo in this file (default: in your data folder)",
                    options.journal);
}

void describe_action_options(Settings& settings, ApplyOptions& options) {
  settings.set_heading("Actions");
  settings.add_text("action", "ACTION",
                    "choose how to remove files: trash, move=DIR, hardlink, or delete (set aside until dedupe purge)",
                    options.action);
  settings.add_list("reference", "DIR", "never touch a file in this folder; may be repeated", options.references);
  settings.add_text("catalog", "FILE",
                    "use this catalog of the search; only files in it are touched (default: in your data folder)",
                    options.catalog);
  settings.add_list("within", "DIR", "also touch files in this folder that are not in the catalog; may be repeated",
                    options.within);
  settings.add_switch("merge-metadata",
                      "copy metadata of removed files to an XMP sidecar of the kept one; skip files where that fails",
                      options.merge_metadata);
  settings.add_switch("follow-symlinks", "also touch files that dedupe --follow-symlinks found through symbolic links",
                      options.follow_symlinks);
  settings.add_consent("ignore-access", "hardlink: also link files whose owner, group, mode or access list differ",
                       options.ignore_access);
}

std::set<std::string> read_decision_paths(const std::string& decisions) {
  std::set<std::string> paths;
  const auto text = read_text(decisions, kMaxDecisionBytes);
  const auto parsed = text ? parse_decisions(*text) : Outcome<Decisions>(text.error());
  if (!parsed) return paths;
  for (const Decision& decision : parsed->entries) {
    paths.insert(decision.path);
    paths.insert(join_path(resolve_folder(folder_of(decision.path)), file_name(decision.path)));
  }
  return paths;
}

ApplyReport apply(const ApplyOptions& options, RunContext& context) {
  const Wanted wanted = parse_action_option(options.action);
  const std::string text =
      read_text(options.decisions, kMaxDecisionBytes).or_throw();  // parse_decisions() refuses longer texts
  auto parsed = parse_decisions(text);
  if (!parsed) {
    Error error = parsed.error();
    error.subject = escape_unprintable(options.decisions);
    throw Failure(error);
  }
  const Decisions& decisions = *parsed;
  std::vector<std::string> references = resolve_folders(options.references);
  for (const std::string& folder : decisions.references) references.push_back(resolve_folder(folder));
  if (wanted.action == Action::move) {
    for (const std::string& folder : references) {
      if (is_inside(wanted.destination, folder)) {
        throw Failure(ErrorCode::usage, "the destination folder is inside a reference folder",
                      escape_unprintable(wanted.destination));
      }
    }
  }

  ApplyReport applied;
  applied.operation = "apply";
  applied.action = wanted.action;
  applied.execute = options.execute;
  const std::string base =
      fmt::format("{:016x}", hash_of(text + '\n' + name_of(wanted.action) + '\n' + wanted.destination));
  JournalLocation place = find_journal(options, base);
  applied.id = place.id;
  applied.journal = place.path;
  place.found.action = wanted.action;
  place.found.id = place.id;
  place.found.destination = wanted.destination;
  const CatalogedFiles known(catalog_path(options.catalog), options.trust(), resolve_folders(options.within), context);
  std::vector<SidecarPlan> sidecars;
  const auto plan_now = [&] {
    const PlanInput input{
        decisions,       wanted.action,           wanted.destination,    references, place.found, place.id,
        options.execute, options.follow_symlinks, options.ignore_access, known};
    ApplyPlan plan = make_plan(input, applied, context);
    if (options.merge_metadata && !applied.interrupted) sidecars = plan_sidecars(plan, input, applied);
    return plan;
  };
  const auto pairs = collect_confirmed_distinct(decisions, applied);
  applied.confirmed_distinct = pairs.size();
  if (!options.execute) {
    plan_now();
    return applied;
  }

  JournalWriter writer(place.path, place.found, std::filesystem::absolute(options.decisions).string(), options.trust());
  place.found = read_journal(place.path, options.trust());  // its state now that no other run may write it
  if (place.found.undo_begun)
    throw Failure(ErrorCode::conflict, "this journal was undone a moment ago", escape_unprintable(place.path),
                  "run the same command again");
  ApplyRunner runner(place.found, writer, applied, options.ignore_access, context);
  runner.finish_open_operations();
  remove_stale_sidecars(place.found);
  ApplyPlan plan = plan_now();
  if (applied.interrupted) return applied;
  if (options.confirm_plan && !options.confirm_plan(applied)) {
    throw Failure(ErrorCode::conflict, "something changed after the actions were listed", "", "list the actions again");
  }
  if (!pairs.empty()) {
    record_confirmed_distinct(pairs, catalog_path(options.catalog), make_catalog_access(context, options.trust()),
                              place.found, writer);
    applied.confirmed_distinct_done = true;
  }
  // Writes all sidecars before the first file is removed: a run that is cut off has lost no metadata.
  for (const SidecarPlan& sidecar : sidecars) {
    if (context.cancel.cancelled()) {
      applied.items[sidecar.item].state = ItemState::waiting;
    } else {
      runner.write(sidecar, plan);
    }
  }
  runner.carry_out(plan);
  // Without a journal it is unknown which files were removed.
  if (!runner.journal_works() || (sidecars.empty() && place.found.sidecars.empty())) return applied;
  try {
    remove_unneeded_sidecars(read_journal(place.path, options.trust()), writer, applied);
  } catch (const Failure& failure) {
    applied.notes.push_back("an unneeded sidecar may remain: " + failure.error().message());
  }
  return applied;
}

}  // namespace millrace::dedupe
