#include "src/jobs/dedupe/apply/restore.h"

#include <fmt/format.h>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/atomic_file.h"

namespace millrace::dedupe {
namespace {

// Returns the current state of a path; nullopt if there is no file.
std::optional<FileState> now(const std::string& path) {
  if (path.empty()) return std::nullopt;
  const auto state = state_of(path);
  return state ? std::optional(*state) : std::nullopt;
}

bool one_file(const std::optional<FileState>& a, const std::optional<FileState>& b) {
  return a && b && a->same_inode(*b);
}

bool holds(const std::string& path, const std::optional<ContentHash>& hash) {
  const auto found = hash_file(path, Links::refused);
  return found && hash && *found == *hash;
}

std::string beside(const std::string& path) {
  const std::string_view name = file_name(path);
  const std::size_t dot = name.find_last_of('.');
  const std::size_t at = dot == std::string_view::npos || dot == 0 ? path.size() : path.size() - name.size() + dot;
  for (int number = 1;; ++number) {
    std::string other = path;
    other.insert(at, number == 1 ? std::string(" (restored)") : fmt::format(" (restored {})", number));
    if (!exists(other)) return other;
  }
}

Restored as(State state, std::string where, std::string reason = "") {
  return {state, std::move(where), std::move(reason), false};
}
Restored nothing() { return {State::before, "", "", true}; }
Restored refused(const Outcome<void>& tried) { return as(State::failed, "", tried.error().what); }

// Returns the name under which a run that was cut off left the original for a moment.
std::optional<std::string> left_aside(const std::string& path, const std::string& temporary, const FileState& before) {
  if (path.empty() || temporary.empty() || now(path)) return std::nullopt;
  std::string leaving = leaving_name(path, temporary);
  const auto left = now(leaving);
  return left && left->regular && left->same_size_and_time(before) ? std::optional(std::move(leaving)) : std::nullopt;
}

// Gives such a file its own name again.
void take_up(const std::string& path, const std::string& temporary, const FileState& before) {
  if (const auto left = left_aside(path, temporary, before)) static_cast<void>(rename_new(*left, path));
}

constexpr const char* kTaken = "its old name is taken by another file";

class Restorer {
 public:
  Restorer(const JournalRecord& record, const Journal& journal, TrashSearch& trash, bool go)
      : r_(record), journal_(journal), trash_(trash), go_(go), path_(now(record.path)) {
    const std::string folder = folder_of(r_.path);
    temporary_ = path_in(folder, fmt::format(".millrace-undo-{}-{}", journal.id, r_.number));
    if (go_ && journal.action == Action::move) {
      take_up(r_.path, r_.temporary, r_.before);
      take_up(r_.to, temporary_, r_.before);
      path_ = now(r_.path);
    }
  }

  Restored put_back() {
    const bool trash = journal_.action == Action::trash;
    std::optional<std::string> found = trash ? trash_.find(r_.path, r_.before) : in_its_place();
    if (found && go_ && journal_.action == Action::move) remove_left_over(r_.temporary);
    if (!found) {
      if (path_ && path_->same(r_.before)) {
        if (go_ && journal_.action == Action::move) remove_left_over(r_.temporary);
        return nothing();
      }
      if (r_.failed || r_.open()) {
        if (path_) return nothing();
      }
      if (path_ && path_->regular && (path_->same_size_and_time(r_.before) || path_->same_inode(r_.before)))
        return as(State::before, r_.path, "it is back already");
      if (path_ && path_->regular && holds(r_.path, r_.hash))
        return as(State::before, r_.path, "its bytes are back already, with another time");
      if (r_.purging) return as(State::lost, "", "it was purged");
      const std::string gone = "it is neither in its old place nor where it was put: somebody removed it";
      return as(State::lost, "", path_ ? gone + "; another file has its old name" : gone);
    }
    const auto there = now(*found);
    if (one_file(path_, there)) {  // a rename that was cut off half way: one file with two names
      if (go_) {
        if (auto done = remove_name(*found); !done.ok()) return refused(done);
      }
      return as(State::done, r_.path);
    }
    // A move across file systems that was cut off, in either direction, leaves two files. If their bytes are equal, one
    // is not needed.
    if (journal_.action == Action::move && path_ && path_->regular && path_->same_size_and_time(r_.before) &&
        path_->device != there->device) {
      const auto same = same_contents(r_.path, *found, Links::refused);
      if (same && *same) {
        if (go_) {
          step("remove the copy");
          if (auto done = remove_name(*found); !done.ok()) return refused(done);
        }
        return as(State::done, r_.path);
      }
    }
    const std::string target = path_ ? beside(r_.path) : r_.path;
    if (go_) {
      if (auto done = make_folders_in_place(folder_of(target)); !done.ok())
        return as(State::failed, *found, done.error().what);
      if (auto done = move_new(*found, target, temporary_, there); !done.ok())
        return as(State::failed, *found, done.error().what);
      if (trash) TrashSearch::forget(*found);
    }
    return as(State::done, target, path_ ? kTaken : "");
  }

  Restored unlink_again() {
    const auto partner = now(r_.to);
    if (const auto temporary = now(r_.temporary)) {
      if (temporary->same(r_.before)) return put_original_back(partner);
      if (one_file(temporary, partner) && go_) remove_left_over(r_.temporary);
    }
    if (path_ && path_->same(r_.before)) return nothing();
    if (one_file(path_, partner)) {
      if (!holds(r_.to, r_.hash)) {
        return as(State::failed, r_.path,
                  fmt::format("it is one file with {}, whose bytes changed since", printable(r_.to)));
      }
      if (go_) {
        if (auto done = copy_over(r_.to, r_.path, temporary_, r_.before.mtime_ns); !done.ok()) return refused(done);
      }
      return as(State::done, r_.path, "a file of its own again");
    }
    if (r_.failed || (r_.open() && path_)) return nothing();
    if (path_ && path_->same_size_and_time(r_.before))
      return as(State::before, r_.path, "it is a file of its own already");
    if (path_ && path_->regular && holds(r_.path, r_.hash)) {
      if (go_) {
        if (auto done = set_time(r_.path, r_.before.mtime_ns); !done.ok()) return refused(done);
      }
      return as(State::done, r_.path, "a file of its own again");
    }
    if (!partner || !holds(r_.to, r_.hash)) {
      return as(State::lost, "",
                fmt::format("its bytes are not to be found: {} is gone or has changed", printable(r_.to)));
    }
    const std::string target = path_ ? beside(r_.path) : r_.path;
    if (go_) {
      if (auto done = copy_new(r_.to, target, temporary_, r_.before.mtime_ns); !done.ok()) return refused(done);
    }
    return as(State::done, target, path_ ? kTaken : "");
  }

 private:
  std::optional<std::string> in_its_place() const {
    const auto there = now(r_.to);
    if (!there) return left_aside(r_.to, temporary_, r_.before);
    if (!there->regular) return std::nullopt;
    // A file in a folder of this program is accepted even if somebody touched it. Elsewhere it must be the one that was
    // moved.
    const bool ours = (journal_.action == Action::remove && is_own_folder(folder_of(r_.to))) ||
                      there->same_inode(r_.before) || there->same_size_and_time(r_.before);
    return ours ? std::optional(r_.to) : std::nullopt;
  }

  // Handles a run that was cut off after the link took the name: the replaced file still has the temporary name.
  Restored put_original_back(const std::optional<FileState>& partner) {
    if (!go_) return as(State::done, r_.path);
    step("put the original back");
    if (one_file(path_, partner)) {
      if (auto done = rename_over(r_.temporary, r_.path); !done.ok())
        return as(State::failed, r_.temporary, done.error().what);
      return as(State::done, r_.path);
    }
    const std::string target = path_ ? beside(r_.path) : r_.path;
    if (auto done = rename_new(r_.temporary, target); !done.ok())
      return as(State::failed, r_.temporary, done.error().what);
    return as(State::done, target, path_ ? kTaken : "");
  }

  const JournalRecord& r_;
  const Journal& journal_;
  TrashSearch& trash_;
  bool go_;
  std::optional<FileState> path_;
  std::string temporary_;
};

bool finish_link(const JournalRecord& r, std::string& reason) {
  const auto path = now(r.path), partner = now(r.to), temporary = now(r.temporary);
  if (!temporary) return one_file(path, partner);
  if (one_file(temporary, partner)) {
    remove_left_over(r.temporary);
    return one_file(path, partner);
  }
  // The replaced file has the temporary name. It is removed if its bytes equal those of the link; otherwise it is
  // restored.
  if (!one_file(path, partner) || !temporary->same(r.before)) {
    reason =
        fmt::format("{} was left by a run that was cut off, and nothing tells whose it is", printable(r.temporary));
    return false;
  }
  const auto same = same_contents(r.temporary, r.path, Links::refused);
  if (same && *same) {
    step("remove what was replaced");
    if (auto done = remove_name(r.temporary); !done.ok()) reason = done.error().what;
    return !exists(r.temporary);
  }
  if (auto done = rename_over(r.temporary, r.path); !done.ok()) reason = "cannot be put back: " + done.error().what;
  return false;
}

}  // namespace

Restored restore(const JournalRecord& record, const Journal& journal, TrashSearch& trash, bool go) {
  Restorer restorer(record, journal, trash, go);
  return journal.action == Action::hardlink ? restorer.unlink_again() : restorer.put_back();
}

bool finish_operation(const JournalRecord& r, Action action, std::string& reason) {
  if (action == Action::hardlink) return finish_link(r, reason);
  if (action == Action::move) take_up(r.path, r.temporary, r.before);
  const auto path = now(r.path);
  const bool here = path && path->same(r.before);
  if (action == Action::trash) return !here && TrashSearch().find(r.path, r.before).has_value();
  const auto there = now(r.to);
  const bool moved = there && there->regular && (there->same_inode(r.before) || there->same_size_and_time(r.before));
  if ((here || moved) && !r.temporary.empty()) remove_left_over(r.temporary);
  if (!moved) return false;
  if (one_file(path, there)) {
    step("remove the old name");
    remove_left_over(r.path);
    return !exists(r.path);
  }
  if (!here) return true;
  // The file was copied to another file system, and the original is not yet removed.
  const auto same = same_contents(r.path, r.to, Links::refused);
  if (!same || !*same) {
    reason = "the copy that a run made that was cut off holds other bytes";
    return false;
  }
  step("remove the original");
  if (auto done = remove_name(r.path); !done.ok()) reason = done.error().what;
  return !exists(r.path);
}

}  // namespace millrace::dedupe
