#include <fmt/format.h>

#include "src/base/json.h"
#include "src/base/text.h"
#include "src/jobs/dedupe/apply/apply.h"

namespace millrace::dedupe {
namespace {

// Quotes a word of the command line for a shell, if necessary.
std::string quoted(const std::string& text) {
  const std::string safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:,@%";
  if (!text.empty() && text.find_first_not_of(safe) == std::string::npos) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

const char* verb_of(const Applied& applied) {
  if (applied.operation == "undo") return "brought back";
  if (applied.operation == "purge") return "destroyed";
  switch (applied.action) {
    case Action::trash:
      return "put into the trash";
    case Action::move:
      return "moved";
    case Action::hardlink:
      return "replaced by a hard link";
    case Action::remove:
      return "set aside";
  }
  return "done";
}

std::string place_of(const Applied& applied, const Item& item) {
  if (item.sidecar) return "";
  if (item.state == State::left || item.state == State::failed || item.state == State::lost ||
      item.state == State::waiting)
    return "";
  if (applied.operation == "undo") return item.to.empty() || item.to == item.path ? "" : " -> " + printable(item.to);
  if (applied.operation == "purge") return "";
  if (applied.action == Action::trash) return " -> trash";
  return (applied.action == Action::hardlink ? " = " : " -> ") + printable(item.to);
}

void add_named_path(Json& object, const std::string& name, const std::string& path) {
  if (path.empty()) return;
  object[name] = utf8_for_display(path);
  if (!is_utf8(path)) object[name + "_base64"] = base64(path);
}

constexpr State kStates[] = {State::planned, State::done, State::before, State::left,
                             State::failed,  State::lost, State::waiting};

}  // namespace

const char* name_of(State state) {
  switch (state) {
    case State::planned:
      return "would";
    case State::done:
      return "done";
    case State::before:
      return "before";
    case State::left:
      return "left";
    case State::failed:
      return "failed";
    case State::lost:
      return "lost";
    case State::waiting:
      return "waiting";
  }
  return "left";
}

std::uint64_t Applied::count(State state) const {
  std::uint64_t n = 0;
  for (const Item& item : items) n += item.state == state && !item.sidecar ? 1 : 0;
  return n;
}

std::uint64_t Applied::count_sidecars(State state) const {
  std::uint64_t n = 0;
  for (const Item& item : items) n += item.state == state && item.sidecar ? 1 : 0;
  return n;
}

std::uint64_t Applied::bytes(State state) const {
  std::uint64_t n = 0;
  for (const Item& item : items) n += item.state == state && !item.sidecar ? item.size : 0;
  return n;
}

ExitCode Applied::exit_code() const {
  if (interrupted) return ExitCode::interrupted;
  const std::uint64_t troubled = count(State::left) + count(State::failed) + count(State::lost) +
                                 count_sidecars(State::left) + count_sidecars(State::failed) + notes.size();
  return troubled > 0 ? ExitCode::partial : ExitCode::done;
}

std::string table_of(const Applied& applied) {
  std::string known, others;
  for (const Item& item : applied.items) {
    const bool by_itself = !item.known && item.state != State::left;
    (by_itself ? others : known) += fmt::format(
        "{:<8}{:>10}  {}{}{}{}\n", name_of(item.state), to_text(Bytes{item.size}), item.main.empty() ? "" : "+ ",
        printable(item.path), place_of(applied, item), item.reason.empty() ? "" : ": " + printable(item.reason));
  }
  if (others.empty()) return known;
  return known + "\nnot known to the catalogue, touched because of --within:\n" + others;
}

std::string summary_of(const Applied& applied) {
  std::string out;
  const auto line = [&](State state, const std::string& words) {
    if (const std::uint64_t n = applied.count(state); n > 0) {
      out += fmt::format("{} {} ({}) {}\n", grouped(n), n == 1 ? "file" : "files", to_text(Bytes{applied.bytes(state)}),
                         words);
    }
  };
  const std::string verb = verb_of(applied);
  line(State::planned, "would be " + verb);
  line(State::done, verb);
  line(State::before, "needed nothing: done before");
  line(State::left, "left alone, for the reasons listed");
  line(State::failed, "failed, for the reasons listed; nothing is lost");
  line(State::lost, "lost: not to be found, for the reasons listed");
  line(State::waiting, "not begun");
  const auto sidecars = [&](State state, const char* words) {
    if (const std::uint64_t n = applied.count_sidecars(state); n > 0)
      out += fmt::format("{} {} {}\n", grouped(n), n == 1 ? "sidecar" : "sidecars", words);
  };
  const bool back = applied.operation == "undo";
  sidecars(State::planned, back ? "would be removed" : "would be written beside what stays");
  sidecars(State::done, back ? "removed" : "written beside what stays");
  sidecars(State::left, "left alone, for the reasons listed");
  sidecars(State::failed, "failed, for the reasons listed");
  for (const std::string& note : applied.notes) out += note + "\n";
  if (applied.items.empty() && !applied.interrupted && (applied.operation != "undo" || applied.not_duplicates == 0)) {
    out += applied.operation == "apply"  ? "no file is to be removed\n"
           : applied.operation == "undo" ? "nothing to bring back\n"
                                         : "nothing to destroy\n";
  }
  if (applied.not_duplicates > 0) {
    out += fmt::format("{} {} {}{} as no duplicates\n", grouped(applied.not_duplicates),
                       applied.not_duplicates == 1 ? "pair" : "pairs", applied.not_duplicates_done ? "" : "would be ",
                       applied.operation == "undo" ? "no longer remembered" : "remembered");
  }
  const std::string journal = quoted(applied.journal);
  if (!applied.go && applied.count(State::planned) + applied.not_duplicates > 0) {
    out += "nothing was changed: a dry run; add --go to do it\n";
  }
  if (applied.interrupted) out += "interrupted: the same command goes on where this one stopped\n";
  if (applied.operation == "apply" && applied.go &&
      applied.count(State::done) + applied.count(State::before) + applied.count(State::waiting) +
              applied.not_duplicates >
          0) {
    out += fmt::format("journal: {}\nto take it back: millrace dedupe undo {} --go\n", printable(applied.journal),
                       printable(journal));
    if (applied.action == Action::remove) {
      out += fmt::format("to free the space for good: millrace dedupe purge {} --go\n", printable(journal));
    }
  }
  if (!out.empty()) out.pop_back();
  return out;
}

std::string json_of(const Applied& applied) {
  Json out{{"millrace", "apply"},
           {"command", applied.operation},
           {"action", name_of(applied.action)},
           {"go", applied.go},
           {"id", applied.id}};
  add_named_path(out, "journal", applied.journal);
  out["interrupted"] = applied.interrupted;
  out["items"] = Json::array();
  for (const Item& item : applied.items) {
    Json entry{{"state", name_of(item.state)}};
    add_named_path(entry, "path", item.path);
    add_named_path(entry, "to", item.to);
    add_named_path(entry, "companion_of", item.main);
    if (!item.group.empty()) entry["group"] = item.group;
    entry["size"] = item.size;
    if (!item.known) entry["known"] = false;
    if (item.sidecar) entry["sidecar"] = true;
    if (!item.reason.empty()) entry["reason"] = utf8_for_display(item.reason);
    out["items"].push_back(std::move(entry));
  }
  Json& totals = out["totals"];
  for (const State state : kStates)
    totals[name_of(state)] = {{"files", applied.count(state)}, {"bytes", applied.bytes(state)}};
  if (applied.operation != "purge") totals["not_duplicates"] = applied.not_duplicates;
  out["notes"] = Json::array();
  for (const std::string& note : applied.notes) out["notes"].push_back(utf8_for_display(note));
  return out.dump(1) + "\n";
}

}  // namespace millrace::dedupe
