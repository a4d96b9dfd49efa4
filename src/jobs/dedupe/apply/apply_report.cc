#include <fmt/format.h>

#include "src/base/json.h"
#include "src/base/text.h"
#include "src/jobs/dedupe/apply/apply.h"

namespace millrace::dedupe {
namespace {

// Quotes a word of the command line for a shell, if necessary.
std::string quote_for_shell(const std::string& text) {
  const std::string safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:,@%";
  if (!text.empty() && text.find_first_not_of(safe) == std::string::npos) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

const char* verb_of(const ApplyReport& applied) {
  if (applied.operation == "undo") return "restored";
  if (applied.operation == "purge") return "permanently deleted";
  switch (applied.action) {
    case Action::trash:
      return "moved to the trash";
    case Action::move:
      return "moved";
    case Action::hardlink:
      return "replaced by a hard link";
    case Action::remove:
      return "set aside";
  }
  return "done";
}

std::string format_target(const ApplyReport& applied, const ReportItem& item) {
  if (item.sidecar) return "";
  if (item.state == ItemState::left || item.state == ItemState::failed || item.state == ItemState::lost ||
      item.state == ItemState::waiting)
    return "";
  if (applied.operation == "undo")
    return item.to.empty() || item.to == item.path ? "" : " -> " + escape_unprintable(item.to);
  if (applied.operation == "purge") return "";
  if (applied.action == Action::trash) return " -> trash";
  return (applied.action == Action::hardlink ? " = " : " -> ") + escape_unprintable(item.to);
}

void add_named_path(Json& object, const std::string& name, const std::string& path) {
  if (path.empty()) return;
  object[name] = replace_invalid_utf8(path);
  if (!is_utf8(path)) object[name + "_base64"] = to_base64(path);
}

constexpr ItemState kStates[] = {ItemState::planned, ItemState::done, ItemState::before, ItemState::left,
                                 ItemState::failed,  ItemState::lost, ItemState::waiting};

}  // namespace

const char* name_of(ItemState state) {
  switch (state) {
    case ItemState::planned:
      return "would";
    case ItemState::done:
      return "done";
    case ItemState::before:
      return "before";
    case ItemState::left:
      return "left";
    case ItemState::failed:
      return "failed";
    case ItemState::lost:
      return "lost";
    case ItemState::waiting:
      return "waiting";
  }
  return "left";
}

std::uint64_t ApplyReport::count(ItemState state) const {
  std::uint64_t n = 0;
  for (const ReportItem& item : items) n += item.state == state && !item.sidecar ? 1 : 0;
  return n;
}

std::uint64_t ApplyReport::count_sidecars(ItemState state) const {
  std::uint64_t n = 0;
  for (const ReportItem& item : items) n += item.state == state && item.sidecar ? 1 : 0;
  return n;
}

std::uint64_t ApplyReport::bytes(ItemState state) const {
  std::uint64_t n = 0;
  for (const ReportItem& item : items) n += item.state == state && !item.sidecar ? item.size : 0;
  return n;
}

ExitCode ApplyReport::exit_code() const {
  if (interrupted) return ExitCode::interrupted;
  const std::uint64_t troubled = count(ItemState::left) + count(ItemState::failed) + count(ItemState::lost) +
                                 count_sidecars(ItemState::left) + count_sidecars(ItemState::failed) + notes.size();
  return troubled > 0 ? ExitCode::partial : ExitCode::done;
}

std::string table_of(const ApplyReport& applied) {
  std::string known, others;
  for (const ReportItem& item : applied.items) {
    const bool by_itself = !item.known && item.state != ItemState::left;
    (by_itself ? others : known) +=
        fmt::format("{:<8}{:>10}  {}{}{}{}\n", name_of(item.state), format_bytes(Bytes{item.size}),
                    item.main.empty() ? "" : "+ ", escape_unprintable(item.path), format_target(applied, item),
                    item.reason.empty() ? "" : ": " + escape_unprintable(item.reason));
  }
  if (others.empty()) return known;
  return known + "\nnot in the catalog, touched because of --within:\n" + others;
}

std::string summary_of(const ApplyReport& applied) {
  std::string out;
  const auto line = [&](ItemState state, const std::string& words) {
    if (const std::uint64_t n = applied.count(state); n > 0) {
      out += fmt::format("{} {} ({}) {}\n", group_digits(n), n == 1 ? "file" : "files",
                         format_bytes(Bytes{applied.bytes(state)}), words);
    }
  };
  const std::string verb = verb_of(applied);
  line(ItemState::planned, "would be " + verb);
  line(ItemState::done, verb);
  line(ItemState::before, "already done before");
  line(ItemState::left, "skipped, for the reasons listed");
  line(ItemState::failed, "failed, for the reasons listed; nothing is lost");
  line(ItemState::lost, "lost: not found, for the reasons listed");
  line(ItemState::waiting, "not started");
  const auto sidecars = [&](ItemState state, const char* words) {
    if (const std::uint64_t n = applied.count_sidecars(state); n > 0)
      out += fmt::format("{} {} {}\n", group_digits(n), n == 1 ? "sidecar" : "sidecars", words);
  };
  const bool back = applied.operation == "undo";
  sidecars(ItemState::planned, back ? "would be removed" : "would be written beside the kept pictures");
  sidecars(ItemState::done, back ? "removed" : "written beside the kept pictures");
  sidecars(ItemState::left, "skipped, for the reasons listed");
  sidecars(ItemState::failed, "failed, for the reasons listed");
  for (const std::string& note : applied.notes) out += note + "\n";
  if (applied.items.empty() && !applied.interrupted &&
      (applied.operation != "undo" || applied.confirmed_distinct == 0)) {
    out += applied.operation == "apply"  ? "no file to remove\n"
           : applied.operation == "undo" ? "nothing to restore\n"
                                         : "nothing to delete\n";
  }
  if (applied.confirmed_distinct > 0) {
    out += fmt::format("{} {} {}{}\n", group_digits(applied.confirmed_distinct),
                       applied.confirmed_distinct == 1 ? "pair" : "pairs",
                       applied.confirmed_distinct_done ? "" : "would be ",
                       applied.operation == "undo" ? "removed from the pairs recorded as not duplicates"
                                                   : "recorded as not duplicates");
  }
  const std::string journal = quote_for_shell(applied.journal);
  if (!applied.execute && applied.count(ItemState::planned) + applied.confirmed_distinct > 0) {
    out += "nothing was changed: this was a dry run; add --go to carry it out\n";
  }
  if (applied.interrupted) out += "interrupted: run the same command again to resume\n";
  if (applied.operation == "apply" && applied.execute &&
      applied.count(ItemState::done) + applied.count(ItemState::before) + applied.count(ItemState::waiting) +
              applied.confirmed_distinct >
          0) {
    out += fmt::format("journal: {}\nto undo: millrace dedupe undo {} --go\n", escape_unprintable(applied.journal),
                       escape_unprintable(journal));
    if (applied.action == Action::remove) {
      out += fmt::format("to delete permanently and free the space: millrace dedupe purge {} --go\n",
                         escape_unprintable(journal));
    }
  }
  if (!out.empty()) out.pop_back();
  return out;
}

std::string json_of(const ApplyReport& applied) {
  Json out{{"millrace", "apply"},
           {"command", applied.operation},
           {"action", name_of(applied.action)},
           {"go", applied.execute},
           {"id", applied.id}};
  add_named_path(out, "journal", applied.journal);
  out["interrupted"] = applied.interrupted;
  out["items"] = Json::array();
  for (const ReportItem& item : applied.items) {
    Json entry{{"state", name_of(item.state)}};
    add_named_path(entry, "path", item.path);
    add_named_path(entry, "to", item.to);
    add_named_path(entry, "companion_of", item.main);
    if (!item.group.empty()) entry["group"] = item.group;
    entry["size"] = item.size;
    if (!item.known) entry["known"] = false;
    if (item.sidecar) entry["sidecar"] = true;
    if (!item.reason.empty()) entry["reason"] = replace_invalid_utf8(item.reason);
    out["items"].push_back(std::move(entry));
  }
  Json& totals = out["totals"];
  for (const ItemState state : kStates)
    totals[name_of(state)] = {{"files", applied.count(state)}, {"bytes", applied.bytes(state)}};
  if (applied.operation != "purge") totals["not_duplicates"] = applied.confirmed_distinct;
  out["notes"] = Json::array();
  for (const std::string& note : applied.notes) out["notes"].push_back(replace_invalid_utf8(note));
  return out.dump(1) + "\n";
}

}  // namespace millrace::dedupe
