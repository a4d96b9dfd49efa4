#include "src/jobs/dedupe/apply/restore.h"

#include <fmt/format.h>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/atomic_file.h"

namespace millrace::dedupe {
namespace {

// Returns the current state of a path; nullopt if there is no file.
std::optional<FileState> read_state(const std::string& path) {
  if (path.empty()) return std::nullopt;
  const auto state = state_of(path);
  return state ? std::optional(*state) : std::nullopt;
}

bool is_same_file(const std::optional<FileState>& a, const std::optional<FileState>& b) {
  return a && b && a->has_same_inode(*b);
}

bool has_hash(const std::string& path, const std::optional<ContentHash>& hash) {
  const auto found = hash_file(path, LinkPolicy::refused);
  return found && hash && *found == *hash;
}

std::string find_free_name(const std::string& path) {
  const std::string_view name = file_name(path);
  const std::size_t dot = name.find_last_of('.');
  const std::size_t at = dot == std::string_view::npos || dot == 0 ? path.size() : path.size() - name.size() + dot;
  for (int number = 1;; ++number) {
    std::string other = path;
    other.insert(at, number == 1 ? std::string(" (restored)") : fmt::format(" (restored {})", number));
    if (!exists(other)) return other;
  }
}

RestoreResult make_result(ItemState state, std::string where, std::string reason = "") {
  return {state, std::move(where), std::move(reason), false};
}
RestoreResult make_noop_result() { return {ItemState::before, "", "", true}; }
RestoreResult make_failure(const Outcome<void>& tried) {
  return make_result(ItemState::failed, "", tried.error().what);
}

// Returns the name under which a run that was cut off left the original for a moment.
std::optional<std::string> find_left_original(const std::string& path, const std::string& temporary,
                                              const FileState& before) {
  if (path.empty() || temporary.empty() || read_state(path)) return std::nullopt;
  std::string leaving = make_aside_path(path, temporary);
  const auto left = read_state(leaving);
  return left && left->regular && left->has_same_size_and_time(before) ? std::optional(std::move(leaving))
                                                                       : std::nullopt;
}

// Gives such a file its own name again.
void recover_original(const std::string& path, const std::string& temporary, const FileState& before) {
  if (const auto left = find_left_original(path, temporary, before)) static_cast<void>(rename_new(*left, path));
}

constexpr const char* kNameTaken = "its old name is taken by another file";

class Restorer {
 public:
  Restorer(const JournalRecord& record, const Journal& journal, TrashSearch& trash, bool execute)
      : r_(record), journal_(journal), trash_(trash), execute_(execute), path_(read_state(record.path)) {
    const std::string folder = folder_of(r_.path);
    temporary_ = join_path(folder, fmt::format(".millrace-undo-{}-{}", journal.id, r_.number));
    if (execute_ && journal.action == Action::move) {
      recover_original(r_.path, r_.temporary, r_.before);
      recover_original(r_.to, temporary_, r_.before);
      path_ = read_state(r_.path);
    }
  }

  RestoreResult restore_file() {
    const bool trash = journal_.action == Action::trash;
    std::optional<std::string> found = trash ? trash_.find(r_.path, r_.before) : find_moved_file();
    if (found && execute_ && journal_.action == Action::move) remove_unneeded_file(r_.temporary);
    if (!found) {
      if (path_ && path_->same(r_.before)) {
        if (execute_ && journal_.action == Action::move) remove_unneeded_file(r_.temporary);
        return make_noop_result();
      }
      if (r_.failed || r_.is_open()) {
        if (path_) return make_noop_result();
      }
      if (path_ && path_->regular && (path_->has_same_size_and_time(r_.before) || path_->has_same_inode(r_.before)))
        return make_result(ItemState::before, r_.path, "it is already restored");
      if (path_ && path_->regular && has_hash(r_.path, r_.hash))
        return make_result(ItemState::before, r_.path, "it is already restored, with another modification time");
      if (r_.purging) return make_result(ItemState::lost, "", "it was purged");
      const std::string gone = "it is neither at its old path nor where it was moved: somebody removed it";
      return make_result(ItemState::lost, "", path_ ? gone + "; another file has its old name" : gone);
    }
    const auto there = read_state(*found);
    if (is_same_file(path_, there)) {  // a rename that was cut off half way: one file with two names
      if (execute_) {
        if (auto done = remove_name(*found); !done.ok()) return make_failure(done);
      }
      return make_result(ItemState::done, r_.path);
    }
    // A move across file systems that was cut off, in either direction, leaves two files. If their bytes are equal, one
    // is not needed.
    if (journal_.action == Action::move && path_ && path_->regular && path_->has_same_size_and_time(r_.before) &&
        path_->device != there->device) {
      const auto same = have_same_contents(r_.path, *found, LinkPolicy::refused);
      if (same && *same) {
        if (execute_) {
          call_step_hook("remove the copy");
          if (auto done = remove_name(*found); !done.ok()) return make_failure(done);
        }
        return make_result(ItemState::done, r_.path);
      }
    }
    const std::string target = path_ ? find_free_name(r_.path) : r_.path;
    if (execute_) {
      if (auto done = make_folders_no_follow(folder_of(target)); !done.ok())
        return make_result(ItemState::failed, *found, done.error().what);
      if (auto done = move_new(*found, target, temporary_, there); !done.ok())
        return make_result(ItemState::failed, *found, done.error().what);
      if (trash) TrashSearch::remove_note(*found);
    }
    return make_result(ItemState::done, target, path_ ? kNameTaken : "");
  }

  RestoreResult separate_hard_link() {
    const auto partner = read_state(r_.to);
    if (const auto temporary = read_state(r_.temporary)) {
      if (temporary->same(r_.before)) return restore_original(partner);
      if (is_same_file(temporary, partner) && execute_) remove_unneeded_file(r_.temporary);
    }
    if (path_ && path_->same(r_.before)) return make_noop_result();
    if (is_same_file(path_, partner)) {
      if (!has_hash(r_.to, r_.hash)) {
        return make_result(ItemState::failed, r_.path,
                           fmt::format("it is hard-linked to {}, which has changed since", escape_unprintable(r_.to)));
      }
      if (execute_) {
        if (auto done = copy_over(r_.to, r_.path, temporary_, r_.before.mtime_ns); !done.ok())
          return make_failure(done);
      }
      return make_result(ItemState::done, r_.path, "a separate file again");
    }
    if (r_.failed || (r_.is_open() && path_)) return make_noop_result();
    if (path_ && path_->has_same_size_and_time(r_.before))
      return make_result(ItemState::before, r_.path, "it is already a separate file");
    if (path_ && path_->regular && has_hash(r_.path, r_.hash)) {
      if (execute_) {
        if (auto done = set_mtime(r_.path, r_.before.mtime_ns); !done.ok()) return make_failure(done);
      }
      return make_result(ItemState::done, r_.path, "a separate file again");
    }
    if (!partner || !has_hash(r_.to, r_.hash)) {
      return make_result(
          ItemState::lost, "",
          fmt::format("its content was not found: {} is missing or has changed", escape_unprintable(r_.to)));
    }
    const std::string target = path_ ? find_free_name(r_.path) : r_.path;
    if (execute_) {
      if (auto done = copy_new(r_.to, target, temporary_, r_.before.mtime_ns); !done.ok()) return make_failure(done);
    }
    return make_result(ItemState::done, target, path_ ? kNameTaken : "");
  }

 private:
  std::optional<std::string> find_moved_file() const {
    const auto there = read_state(r_.to);
    if (!there) return find_left_original(r_.to, temporary_, r_.before);
    if (!there->regular) return std::nullopt;
    // A file in a folder of this program is accepted even if somebody touched it. Elsewhere it must be the one that was
    // moved.
    const bool ours = (journal_.action == Action::remove && is_trusted_folder(folder_of(r_.to))) ||
                      there->has_same_inode(r_.before) || there->has_same_size_and_time(r_.before);
    return ours ? std::optional(r_.to) : std::nullopt;
  }

  // Handles a run that was cut off after the link took the name: the replaced file still has the temporary name.
  RestoreResult restore_original(const std::optional<FileState>& partner) {
    if (!execute_) return make_result(ItemState::done, r_.path);
    call_step_hook("put the original back");
    if (is_same_file(path_, partner)) {
      if (auto done = rename_over(r_.temporary, r_.path); !done.ok())
        return make_result(ItemState::failed, r_.temporary, done.error().what);
      return make_result(ItemState::done, r_.path);
    }
    const std::string target = path_ ? find_free_name(r_.path) : r_.path;
    if (auto done = rename_new(r_.temporary, target); !done.ok())
      return make_result(ItemState::failed, r_.temporary, done.error().what);
    return make_result(ItemState::done, target, path_ ? kNameTaken : "");
  }

  const JournalRecord& r_;
  const Journal& journal_;
  TrashSearch& trash_;
  bool execute_;
  std::optional<FileState> path_;
  std::string temporary_;
};

bool finish_link(const JournalRecord& r, std::string& reason) {
  const auto path = read_state(r.path), partner = read_state(r.to), temporary = read_state(r.temporary);
  if (!temporary) return is_same_file(path, partner);
  if (is_same_file(temporary, partner)) {
    remove_unneeded_file(r.temporary);
    return is_same_file(path, partner);
  }
  // The replaced file has the temporary name. It is removed if its bytes equal those of the link; otherwise it is
  // restored.
  if (!is_same_file(path, partner) || !temporary->same(r.before)) {
    reason = fmt::format("{} was left by an interrupted run, and it is unknown which file it was",
                         escape_unprintable(r.temporary));
    return false;
  }
  const auto same = have_same_contents(r.temporary, r.path, LinkPolicy::refused);
  if (same && *same) {
    call_step_hook("remove what was replaced");
    if (auto done = remove_name(r.temporary); !done.ok()) reason = done.error().what;
    return !exists(r.temporary);
  }
  if (auto done = rename_over(r.temporary, r.path); !done.ok()) reason = "cannot be restored: " + done.error().what;
  return false;
}

}  // namespace

RestoreResult restore(const JournalRecord& record, const Journal& journal, TrashSearch& trash, bool execute) {
  Restorer restorer(record, journal, trash, execute);
  return journal.action == Action::hardlink ? restorer.separate_hard_link() : restorer.restore_file();
}

bool finish_operation(const JournalRecord& r, Action action, std::string& reason) {
  if (action == Action::hardlink) return finish_link(r, reason);
  if (action == Action::move) recover_original(r.path, r.temporary, r.before);
  const auto path = read_state(r.path);
  const bool here = path && path->same(r.before);
  if (action == Action::trash) return !here && TrashSearch().find(r.path, r.before).has_value();
  const auto there = read_state(r.to);
  const bool moved =
      there && there->regular && (there->has_same_inode(r.before) || there->has_same_size_and_time(r.before));
  if ((here || moved) && !r.temporary.empty()) remove_unneeded_file(r.temporary);
  if (!moved) return false;
  if (is_same_file(path, there)) {
    call_step_hook("remove the old name");
    remove_unneeded_file(r.path);
    return !exists(r.path);
  }
  if (!here) return true;
  // The file was copied to another file system, and the original is not yet removed.
  const auto same = have_same_contents(r.path, r.to, LinkPolicy::refused);
  if (!same || !*same) {
    reason = "the copy that an interrupted run made has different content";
    return false;
  }
  call_step_hook("remove the original");
  if (auto done = remove_name(r.path); !done.ok()) reason = done.error().what;
  return !exists(r.path);
}

}  // namespace millrace::dedupe
