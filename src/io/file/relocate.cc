#include "src/io/file/relocate.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "src/base/text.h"
#include "src/io/file/atomic_file.h"
#include "src/io/file/file_reader.h"

namespace millrace {
namespace {

void (*step_hook)(const char*) = nullptr;

constexpr const char* kAccessList = "system.posix_acl_access";

Error failed(const char* what, const std::string& path, int reason) {
  Error error = system_error(what, escape_unprintable(path), reason);
  if (reason == EEXIST) error.code = ErrorCode::conflict;
  if (reason == EXDEV) error.code = ErrorCode::unsupported;
  return error;
}

void sync_both(const DirectoryEntry& from, const DirectoryEntry& to) {
  to.sync_folder();
  if (folder_of(from.path()) != folder_of(to.path())) from.sync_folder();
}

Error changed(const std::string& path, const char* when) {
  return {ErrorCode::conflict, std::string("changed ") + when, escape_unprintable(path), ""};
}

bool is_still(const DirectoryEntry& entry, const FileState& expected) {
  const auto now = entry.state();
  return now && now->same(expected);
}

timespec time_of(std::int64_t ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  std::int64_t seconds = ns / kSecond, rest = ns % kSecond;
  if (rest < 0) {
    rest += kSecond;
    --seconds;
  }
  return {static_cast<time_t>(seconds), static_cast<long>(rest)};
}

Outcome<void> write_copy(int in, int out, const std::string& from, const std::string& to) {
  std::array<char, 1 << 16> chunk;
  while (true) {
    const ssize_t got = ::read(in, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("cannot be read", from, errno);
    if (got == 0) return {};
    for (ssize_t at = 0; at < got;) {
      const ssize_t n = ::write(out, chunk.data() + at, static_cast<std::size_t>(got - at));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return failed("the copy cannot be written", to, errno);
      at += n;
    }
  }
}

Outcome<bool> have_same_bytes(Descriptor a, const std::string& a_path, Descriptor b, const std::string& b_path) {
  auto first = FileReader::make(std::move(a), a_path, FileReader::Hashing::off);
  if (!first) return first.error();
  auto second = FileReader::make(std::move(b), b_path, FileReader::Hashing::off);
  if (!second) return second.error();
  return have_same_contents(**first, **second);
}

// Copies tags, comments and access lists. Attributes that the new file system refuses are skipped. Attributes that give
// a program rights (security.capability) are never copied.
void copy_attributes(int in, int out) {
  std::string names(1 << 16, '\0');
  const ssize_t size = ::flistxattr(in, names.data(), names.size());
  for (std::size_t at = 0; size > 0 && at < static_cast<std::size_t>(size);) {
    const std::string_view name(names.data() + at);
    at += name.size() + 1;
    if (!name.starts_with("user.") && name != kAccessList) continue;
    std::string value(1 << 16, '\0');
    const ssize_t got = ::fgetxattr(in, name.data(), value.data(), value.size());
    if (got >= 0) static_cast<void>(::fsetxattr(out, name.data(), value.data(), static_cast<std::size_t>(got), 0));
  }
}

// Makes a complete copy under the temporary name; removes it on any failure.
Outcome<void> make_copy(Descriptor original, const std::string& from, const DirectoryEntry& temporary,
                        std::int64_t mtime_ns) {
  call_step_hook("remove an old temporary copy");
  if (const int reason = temporary.unlink(); reason != 0 && reason != ENOENT) {
    return failed("cannot be removed", temporary.path(), reason);
  }
  const auto lies_there = state_of_descriptor(original.get());
  if (!lies_there) return failed("cannot be examined", from, errno);
  call_step_hook("create the temporary copy");
  const Descriptor out(
      ::openat(temporary.folder(), temporary.name(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!out) return failed("the copy cannot be created", temporary.path(), errno);
  call_step_hook("write the copy");
  auto done = write_copy(original.get(), out.get(), from, temporary.path());
  if (done.ok()) {
    copy_attributes(original.get(), out.get());
    // The owner is set first: changing it clears some permission bits. Only root may give files away; copies that other
    // users make belong to them.
    if (::fchown(out.get(), lies_there->owner, lies_there->group) != 0 && errno != EPERM)
      done = failed("the copy's owner cannot be set", temporary.path(), errno);
    const timespec times[2] = {time_of(mtime_ns), time_of(mtime_ns)};
    if (done.ok() && ::fchmod(out.get(), lies_there->mode & 0777) != 0 && errno != EPERM)
      done = failed("the copy's permissions cannot be set", temporary.path(), errno);
    if (done.ok() && ::futimens(out.get(), times) != 0)
      done = failed("the copy's time cannot be set", temporary.path(), errno);
    call_step_hook("sync the copy");
    if (done.ok() && ::fsync(out.get()) != 0) done = failed("the copy cannot be synced", temporary.path(), errno);
  }
  if (done.ok()) {
    call_step_hook("compare the copy");
    if (::lseek(original.get(), 0, SEEK_SET) != 0 || ::lseek(out.get(), 0, SEEK_SET) != 0) {
      done = failed("the copy cannot be compared", temporary.path(), errno);
    } else {
      const auto same = have_same_bytes(std::move(original), from, Descriptor(::dup(out.get())), temporary.path());
      if (!same) done = same.error();
      if (same && !*same) {
        done = Error{ErrorCode::io, "the copy differs from the original", escape_unprintable(temporary.path()),
                     "check the drive for errors"};
      }
    }
  }
  if (!done.ok()) temporary.unlink();
  return done;
}

// Places of two names. If one is not found, `found` holds the error.
struct Two {
  std::optional<DirectoryEntry> from, to;
  Outcome<void> found;
  Two(const std::string& a, const std::string& b) {
    for (const auto& [path, entry] : {std::pair{&a, &from}, std::pair{&b, &to}}) {
      auto one = DirectoryEntry::make(*path);
      if (!one) {
        found = one.error();
        return;
      }
      *entry = std::move(one).value();
    }
  }
};

// Compares owner, group, permissions and access list of two open files. An access list that cannot be read counts as
// different.
bool have_same_access(int a, int b) {
  const auto list_of = [](int fd) {
    std::string list(1 << 16, '\0');
    const ssize_t size = ::fgetxattr(fd, kAccessList, list.data(), list.size());
    if (size < 0 && errno != ENODATA && errno != EOPNOTSUPP) return std::optional<std::string>();
    list.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return std::optional(list);
  };
  const auto x = state_of_descriptor(a), y = state_of_descriptor(b);
  const auto list_a = list_of(a), list_b = list_of(b);
  return x && y && x->owner == y->owner && x->group == y->group && x->mode == y->mode && list_a && list_a == list_b;
}

Outcome<void> rename_places(const DirectoryEntry& from, const DirectoryEntry& to) {
  const int reason =
      rename_new(from.folder(), from.name(), to.folder(), to.name(), [] { call_step_hook("remove the old name"); });
  if (reason == 0) return {};
  return failed("cannot be renamed", reason == EEXIST ? to.path() : from.path(), reason);
}

// Gives an open file a second name, whatever its first name leads to by now.
int link_descriptor(int fd, const DirectoryEntry& target, const DirectoryEntry& as) {
  const std::string open_file = fmt::format("/proc/self/fd/{}", fd);
  if (::linkat(AT_FDCWD, open_file.c_str(), as.folder(), as.name(), AT_SYMLINK_FOLLOW) == 0) return 0;
  if (errno == EEXIST) return errno;
  // Without /proc the file is linked by its name; the caller checks which file was linked.
  return ::linkat(target.folder(), target.name(), as.folder(), as.name(), 0) == 0 ? 0 : errno;
}

}  // namespace

void set_step_hook(void (*hook)(const char*)) { step_hook = hook; }

void call_step_hook(const char* next) {
  if (step_hook != nullptr) step_hook(next);
}

Outcome<FileState> state_of(const std::string& path) {
  const auto entry = DirectoryEntry::make(path);
  if (!entry) return entry.error();
  return entry->state();
}

bool exists(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

Outcome<void> set_mtime(const std::string& path, std::int64_t mtime_ns) {
  const auto entry = DirectoryEntry::make(path);
  if (!entry) return entry.error();
  const timespec times[2] = {time_of(mtime_ns), time_of(mtime_ns)};
  if (::utimensat(entry->folder(), entry->name(), times, AT_SYMLINK_NOFOLLOW) != 0) {
    return failed("its time cannot be set", path, errno);
  }
  return {};
}

Outcome<void> remove_name(const std::string& path, const std::optional<FileState>& expected) {
  const auto entry = DirectoryEntry::make(path);
  if (!entry && entry.error().code == ErrorCode::not_found) return {};
  if (!entry) return entry.error();
  if (expected && entry->exists() && !is_still(*entry, *expected)) return changed(path, "since it was examined");
  const int reason = entry->unlink();
  if (reason != 0 && reason != ENOENT) return failed("cannot be removed", path, reason);
  return {};
}

void remove_unneeded_file(const std::string& path) { static_cast<void>(remove_name(path)); }

void remove_empty_folder(const std::string& path) {
  const auto entry = DirectoryEntry::make(path);
  if (entry && ::unlinkat(entry->folder(), entry->name(), AT_REMOVEDIR) == 0) entry->sync_folder();
}

Outcome<void> rename_over(const std::string& from, const std::string& to) {
  const Two two(from, to);
  if (!two.found.ok()) return two.found;
  if (::renameat(two.from->folder(), two.from->name(), two.to->folder(), two.to->name()) != 0)
    return failed("cannot be renamed", from, errno);
  sync_both(*two.from, *two.to);
  return {};
}

Outcome<void> write_new(const std::string& path, std::string_view bytes, const std::string& temporary,
                        const FileState& like) {
  const Two two(temporary, path);
  if (!two.found.ok()) return two.found;
  const DirectoryEntry& made = *two.from;
  call_step_hook("remove an old temporary file");
  if (const int reason = made.unlink(); reason != 0 && reason != ENOENT) {
    return failed("cannot be removed", made.path(), reason);
  }
  call_step_hook("create the temporary file");
  const Descriptor out(
      ::openat(made.folder(), made.name(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!out) return failed("cannot be created", path, errno);
  Outcome<void> done;
  call_step_hook("write the file");
  for (std::size_t at = 0; done.ok() && at < bytes.size();) {
    const ssize_t n = ::write(out.get(), bytes.data() + at, bytes.size() - at);
    if (n > 0) at += static_cast<std::size_t>(n);
    if (n < 0 && errno != EINTR) done = failed("cannot be written", path, errno);
  }
  if (done.ok() && ::fchown(out.get(), like.owner, like.group) != 0 && errno != EPERM)
    done = failed("its owner cannot be set", path, errno);
  if (done.ok() && ::fchmod(out.get(), like.mode & 0666) != 0 && errno != EPERM)
    done = failed("its permissions cannot be set", path, errno);
  call_step_hook("sync the file");
  if (done.ok() && ::fsync(out.get()) != 0) done = failed("cannot be synced", path, errno);
  if (done.ok()) {
    call_step_hook("rename");
    done = rename_places(made, *two.to);
  }
  if (!done.ok()) {
    made.unlink();
    return done;
  }
  call_step_hook("sync the folder");
  sync_both(made, *two.to);
  return {};
}

Outcome<void> rename_new(const std::string& from, const std::string& to, const std::optional<FileState>& expected) {
  const Two two(from, to);
  if (!two.found.ok()) return two.found;
  call_step_hook("rename");
  if (auto done = rename_places(*two.from, *two.to); !done.ok()) return done;
  // Another program may have put another file under the name at the last moment: that file is moved back.
  if (expected && !is_still(*two.to, *expected)) {
    call_step_hook("put back what was renamed");
    if (auto done = rename_places(*two.to, *two.from); !done.ok()) return done;
    return changed(from, "since it was examined");
  }
  call_step_hook("sync the folders");
  sync_both(*two.from, *two.to);
  return {};
}

namespace {

Outcome<void> copy(const std::string& from, const std::string& to, const std::string& temporary, std::int64_t mtime_ns,
                   const std::optional<FileState>& expected, bool over) {
  const Two made(from, temporary);
  if (!made.found.ok()) return made.found;
  auto original = made.from->open();
  if (!original) return original.error();
  if (expected) {
    const auto state = state_of_descriptor(original->get());
    if (!state || !state->same(*expected)) return changed(from, "since it was examined");
  }
  if (auto done = make_copy(std::move(original).value(), from, *made.to, mtime_ns); !done.ok()) return done;
  const auto target = DirectoryEntry::make(to);
  Outcome<void> done;
  if (!target) {
    done = target.error();
  } else if (over) {
    call_step_hook("put the copy in place");
    if (::renameat(made.to->folder(), made.to->name(), target->folder(), target->name()) != 0)
      done = failed("cannot be replaced", to, errno);
  } else {
    call_step_hook("rename");
    done = rename_places(*made.to, *target);
  }
  if (!done.ok()) {
    made.to->unlink();
    return done;
  }
  call_step_hook("sync the folder");
  sync_both(*made.to, *target);
  return {};
}

// Removes the file that was copied, and no file that has taken its name since. The file is checked again under a name
// that nobody else uses.
Outcome<void> remove_original(const DirectoryEntry& original, const FileState& before, const std::string& leaving) {
  const auto aside = DirectoryEntry::make(leaving);
  if (!aside) return aside.error();
  call_step_hook("set the original aside");
  if (auto done = rename_places(original, *aside); !done.ok()) return done;
  if (!is_still(*aside, before)) {
    call_step_hook("put back what was set aside");
    if (auto done = rename_places(*aside, original); !done.ok()) return done;
    return changed(original.path(), "while it was copied");
  }
  call_step_hook("remove the original");
  const int reason = aside->unlink();
  if (reason == 0) return {};
  static_cast<void>(rename_places(*aside, original));  // the error to report is the one below
  return failed("cannot be removed", original.path(), reason);
}

}  // namespace

std::string make_aside_path(const std::string& from, const std::string& temporary) {
  return join_path(folder_of(from), file_name(temporary));
}

Outcome<void> copy_new(const std::string& from, const std::string& to, const std::string& temporary,
                       std::int64_t mtime_ns) {
  return copy(from, to, temporary, mtime_ns, std::nullopt, false);
}

Outcome<void> copy_over(const std::string& from, const std::string& to, const std::string& temporary,
                        std::int64_t mtime_ns) {
  return copy(from, to, temporary, mtime_ns, std::nullopt, true);
}

Outcome<void> move_new(const std::string& from, const std::string& to, const std::string& temporary,
                       const std::optional<FileState>& expected) {
  auto done = rename_new(from, to, expected);
  if (done.ok() || done.error().code != ErrorCode::unsupported) return done;
  const auto original = DirectoryEntry::make(from);
  if (!original) return original.error();
  const auto before = original->state();
  if (!before) return before.error();
  done = copy(from, to, temporary, before->mtime_ns, expected ? *expected : *before, false);
  if (!done.ok()) return done;
  const auto copied = state_of(to);
  done = remove_original(*original, *before, make_aside_path(from, temporary));
  if (!done.ok()) {
    if (copied) static_cast<void>(remove_name(to, *copied));  // an extra copy is no loss
    return done;
  }
  call_step_hook("sync the old folder");
  original->sync_folder();
  return {};
}

Outcome<void> replace_by_link(const std::string& path, const std::string& target, const std::string& temporary,
                              const HardLinkOptions& linking) {
  const Two two(path, target);
  if (!two.found.ok()) return two.found;
  const DirectoryEntry &old = *two.from, &partner = *two.to;
  const auto made = DirectoryEntry::make(temporary);
  if (!made) return made.error();
  auto old_file = old.open(), partner_file = partner.open();
  if (!old_file) return old_file.error();
  if (!partner_file) return partner_file.error();
  const auto before = state_of_descriptor(old_file->get()), compared = state_of_descriptor(partner_file->get());
  if (!before || !compared) return failed("cannot be examined", path, errno);
  if (linking.path && !before->same(*linking.path)) return changed(path, "since it was examined");
  if (linking.target && !compared->same(*linking.target)) return changed(target, "since it was examined");
  if (!linking.any_access && !have_same_access(old_file->get(), partner_file->get())) {
    return Error{ErrorCode::conflict,
                 "its owner, group, permissions or access list differ from those of " + escape_unprintable(target),
                 escape_unprintable(path), ""};
  }
  const Descriptor linked(::dup(partner_file->get()));
  const auto same = have_same_bytes(std::move(old_file).value(), path, std::move(partner_file).value(), target);
  if (!same) return same.error();
  if (!*same)
    return Error{ErrorCode::conflict, "its bytes differ from those of " + escape_unprintable(target),
                 escape_unprintable(path), ""};
  call_step_hook("link under a temporary name");
  if (const int reason = link_descriptor(linked.get(), partner, *made); reason != 0)
    return failed("cannot be linked", target, reason);
  if (!is_still(*made, *compared)) {
    made->unlink();
    return changed(target, "while it was compared");
  }
  // Both files may have been written to since the comparison; the partner keeps its name in any case.
  const auto undisturbed = [&](const DirectoryEntry& replaced) {
    const auto partner_now = state_of_descriptor(linked.get());
    return is_still(replaced, *before) && partner_now && partner_now->same(*compared) &&
           (linking.any_access || (partner_now->owner == before->owner && partner_now->group == before->group &&
                                   partner_now->mode == before->mode));
  };
  call_step_hook("exchange");
  if (::renameat2(made->folder(), made->name(), old.folder(), old.name(), RENAME_EXCHANGE) == 0) {
    // The replaced file has the temporary name now. If somebody wrote to it after the comparison, it is put back.
    call_step_hook("check what was replaced");
    if (!undisturbed(*made)) {
      if (::renameat2(made->folder(), made->name(), old.folder(), old.name(), RENAME_EXCHANGE) != 0) {
        Error error = changed(path, "while it was compared");
        error.what += "; the file that had its name is now " + escape_unprintable(temporary);
        return error;
      }
      made->unlink();
      return changed(path, "while it was compared");
    }
    call_step_hook("remove what was replaced");
    made->unlink();
  } else if (errno == EINVAL || errno == ENOSYS) {
    if (!undisturbed(old)) {
      made->unlink();
      return changed(path, "while it was compared");
    }
    if (::renameat(made->folder(), made->name(), old.folder(), old.name()) != 0) {
      const int reason = errno;
      made->unlink();
      return failed("cannot be replaced", path, reason);
    }
  } else {
    const int reason = errno;
    made->unlink();
    return failed("cannot be replaced", path, reason);
  }
  call_step_hook("sync the folder");
  old.sync_folder();
  return {};
}

Outcome<bool> have_same_access(const std::string& a, const std::string& b) {
  const Two two(a, b);
  if (!two.found.ok()) return two.found.error();
  const auto first = two.from->open(), second = two.to->open();
  if (!first) return first.error();
  if (!second) return second.error();
  return have_same_access(first->get(), second->get());
}

}  // namespace millrace
