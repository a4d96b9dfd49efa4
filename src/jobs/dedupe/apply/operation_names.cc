#include "src/jobs/dedupe/apply/operation_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/paths.h"
#include "src/base/text.h"

namespace millrace::dedupe {
namespace {

constexpr std::string_view kSetAside = ".millrace-removed-";
constexpr std::string_view kDigits = "0123456789";

// Examples: "-2", "-17".
bool is_number_suffix(std::string_view text) {
  return text.size() >= 2 && text.size() <= 8 && text[0] == '-' &&
         text.find_first_not_of(kDigits, 1) == std::string_view::npos;
}

bool is_set_aside_name(std::string_view name, const std::string& id) {
  const std::string own = std::string(kSetAside) + id;
  return name.starts_with(own) && (name.size() == own.size() || is_number_suffix(name.substr(own.size())));
}

// True for the same name, or the same with one " (2)" inserted.
bool is_numbered(std::string_view name, std::string_view original) {
  if (name == original) return true;
  for (std::size_t at = name.find(" ("); at != std::string_view::npos; at = name.find(" (", at + 1)) {
    const std::size_t end = name.find_first_not_of(kDigits, at + 2);
    if (end == std::string_view::npos || end == at + 2 || name[end] != ')') continue;
    if (std::string(name.substr(0, at)) + std::string(name.substr(end + 1)) == original) return true;
  }
  return false;
}

// True if a moved file kept the last folders of its path below the destination.
bool has_same_subfolders(const std::string& to, const std::string& path, const std::string& destination) {
  const std::string below = folder_of(to), from = folder_of(path);
  if (!is_inside(below, destination)) return false;
  if (below == destination) return true;
  const std::string kept = below.substr(destination == "/" ? 0 : destination.size());
  return from.ends_with(kept);
}

std::optional<std::string> explain_wrong_target(const JournalRecord& r, const Journal& journal) {
  const auto explain = [&](const char* what) {
    return fmt::format("says that {} {} '{}'", escape_unprintable(r.path), what, escape_unprintable(r.to));
  };
  switch (journal.action) {
    case Action::trash:
      if (!r.to.empty()) return explain("was moved to another place than the trash:");
      return std::nullopt;
    case Action::hardlink:
      if (r.survivors.empty() || r.to != r.survivors[0])
        return explain("was linked to a file that was not to be kept:");
      return std::nullopt;
    case Action::remove:
      if (folder_of(folder_of(r.to)) != folder_of(r.path) ||
          !is_set_aside_name(file_name(folder_of(r.to)), journal.id) ||
          !is_numbered(file_name(r.to), file_name(r.path)))
        return explain("was set aside in an unexpected folder:");
      return std::nullopt;
    case Action::move:
      if (!is_numbered(file_name(r.to), file_name(r.path)) ||
          (!journal.destination.empty() && !has_same_subfolders(r.to, r.path, journal.destination)))
        return explain("was moved to an unexpected path:");
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::string> explain_foreign_journal(const JournalRecord& r, const Journal& journal) {
  for (const std::string* path : {&r.path, &r.to, &r.temporary, &r.main}) {
    if (!path->empty() && !is_plain_path(*path))
      return fmt::format("names '{}', which is not a plain absolute path", escape_unprintable(*path));
  }
  for (const std::string& survivor : r.survivors) {
    if (!is_plain_path(survivor))
      return fmt::format("names '{}', which is not a plain absolute path", escape_unprintable(survivor));
  }
  if (journal.action != Action::trash && r.to.empty())
    return fmt::format("does not say where {} was moved", escape_unprintable(r.path));
  if (r.to == r.path) return fmt::format("says that {} was moved to its own path", escape_unprintable(r.path));
  if (auto wrong = explain_wrong_target(r, journal)) return wrong;
  const std::string temporary = temporary_name(journal.action, r.path, r.to, journal.id, r.number);
  if (r.temporary != temporary) {
    return fmt::format("names '{}' as the temporary file, expected '{}'", escape_unprintable(r.temporary),
                       escape_unprintable(temporary));
  }
  return std::nullopt;
}

}  // namespace

bool is_journal_id(std::string_view text) {
  constexpr std::size_t kIdDigits = 16;
  if (text.size() < kIdDigits) return false;
  const std::string_view hex = text.substr(0, kIdDigits), rest = text.substr(kIdDigits);
  return hex.find_first_not_of("0123456789abcdef") == std::string_view::npos &&
         (rest.empty() || is_number_suffix(rest));
}

bool is_plain_path(std::string_view path) {
  if (path.size() < 2 || path[0] != '/' || path.find('\0') != std::string_view::npos) return false;
  for (const std::string& part : split(path.substr(1), '/')) {
    if (part.empty() || part == "." || part == "..") return false;
  }
  return true;
}

std::string resolve_folder(const std::string& folder) {
  if (auto real = real_path(folder)) return *real;
  std::string out = folder;
  while (out.size() > 1 && out.back() == '/') out.pop_back();
  return out;
}

std::string set_aside_folder(const std::string& path, const std::string& id) {
  return join_path(folder_of(path), std::string(kSetAside) + id);
}

std::string temporary_name(Action action, const std::string& path, const std::string& to, const std::string& id,
                           std::uint64_t number) {
  if (action == Action::hardlink) return join_path(folder_of(path), fmt::format(".millrace-link-{}-{}", id, number));
  if (action == Action::move) return join_path(folder_of(to), fmt::format(".millrace-partial-{}-{}", id, number));
  return "";
}

std::string merged_sidecar_path(const std::string& picture) { return picture + ".xmp"; }

std::string temporary_sidecar_path(const std::string& picture, const std::string& id, std::uint64_t number) {
  return join_path(folder_of(picture), fmt::format(".millrace-sidecar-{}-{}", id, number));
}

bool is_made_by(const std::string& folder, const Journal& journal) {
  switch (journal.action) {
    case Action::trash:
    case Action::hardlink:
      return false;
    case Action::remove:
      return is_set_aside_name(file_name(folder), journal.id);
    case Action::move:
      if (!journal.destination.empty()) {
        return is_inside(folder, journal.destination) || is_inside(journal.destination, folder);
      }
      return std::any_of(journal.records.begin(), journal.records.end(),
                         [&](const JournalRecord& r) { return is_inside(r.to, folder); });
  }
  return false;
}

std::optional<std::string> explain_foreign_journal(const Journal& journal) {
  if (!is_journal_id(journal.id)) return fmt::format("has the invalid id '{}'", escape_unprintable(journal.id));
  if (!journal.destination.empty() && !is_plain_path(journal.destination) && journal.destination != "/") {
    return fmt::format("names the folder '{}', which is not a plain absolute path",
                       escape_unprintable(journal.destination));
  }
  for (const JournalConfirmedDistinct& confirmed : journal.confirmed_distinct) {
    if (!is_plain_path(confirmed.catalog))
      return fmt::format("names '{}', which is not a plain absolute path", escape_unprintable(confirmed.catalog));
  }
  for (const JournalRecord& record : journal.records) {
    if (auto why = explain_foreign_journal(record, journal)) return why;
  }
  for (const JournalSidecar& sidecar : journal.sidecars) {
    if (!is_plain_path(sidecar.picture) || sidecar.path != merged_sidecar_path(sidecar.picture)) {
      return fmt::format("names the sidecar '{}', which no run writes for '{}'", escape_unprintable(sidecar.path),
                         escape_unprintable(sidecar.picture));
    }
  }
  const bool unknown = journal.action == Action::move && journal.destination.empty();
  for (const std::string& folder : journal.folders) {
    if (!is_plain_path(folder) || (!unknown && !is_made_by(folder, journal))) {
      return fmt::format("names the folder '{}', which no run makes", escape_unprintable(folder));
    }
  }
  return std::nullopt;
}

}  // namespace millrace::dedupe
