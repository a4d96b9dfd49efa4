#include "src/jobs/dedupe/apply/journal.h"

#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "src/base/json.h"
#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/atomic_file.h"
#include "src/jobs/dedupe/apply/operation_names.h"

namespace millrace::dedupe {
namespace {

void put_path(Json& line, const std::string& name, const std::string& path) {
  line[name] = replace_invalid_utf8(path);
  if (!is_utf8(path)) line[name + "_base64"] = to_base64(path);
}

std::string get_text(const Json& line, const std::string& name) {
  const auto found = line.find(name);
  return found && found->is_string() ? found->get<std::string>() : "";
}

std::string get_path(const Json& line, const std::string& name) {
  const std::string encoded = get_text(line, name + "_base64");
  if (encoded.empty()) return get_text(line, name);
  return from_base64(encoded).value_or("");
}

template <typename T>
T get_number(const Json& line, const std::string& name) {
  const Json* found = line.find(name);
  return found && found->holds<T>() ? found->get<T>() : T{};
}

bool get_flag(const Json& line, const std::string& name) {
  const auto found = line.find(name);
  return found && found->is_boolean() && found->get<bool>();
}

JournalRecord parse_record(const Json& line) {
  JournalRecord record;
  record.number = get_number<std::uint64_t>(line, "n");
  record.path = get_path(line, "path");
  record.to = get_path(line, "to");
  record.temporary = get_path(line, "temporary");
  record.main = get_path(line, "main");
  const auto add = [&](const std::string& path, std::uint64_t size) {
    record.survivors.push_back(path);
    record.survivor_sizes.push_back(size);
  };
  if (const std::string survivor = get_path(line, "survivor"); !survivor.empty()) {
    add(survivor, get_number<std::uint64_t>(line, "survivor_size"));
  }
  if (const auto more = line.find("more_survivors"); more && more->is_array()) {
    for (const Json& one : *more) add(get_path(one, "path"), get_number<std::uint64_t>(one, "size"));
  }
  record.whole_group = get_flag(line, "whole_group");
  FileState& b = record.before;
  b.size = get_number<std::uint64_t>(line, "size");
  b.mtime_ns = get_number<std::int64_t>(line, "mtime_ns");
  b.device = get_number<std::uint64_t>(line, "device");
  b.inode = get_number<std::uint64_t>(line, "inode");
  b.mode = get_number<std::uint32_t>(line, "mode");
  b.owner = get_number<std::uint32_t>(line, "owner");
  b.group = get_number<std::uint32_t>(line, "group_id");
  b.regular = true;
  record.hash = content_hash_from_hex(get_text(line, "hash"));
  return record;
}

bool parse_confirmed_distinct(const Json& line, Journal& journal) {
  const Json& pairs = line["apart"];
  if (pairs == "forgotten") {
    journal.confirmed_distinct_forgotten = true;
    return true;
  }
  JournalConfirmedDistinct confirmed{get_path(line, "catalog"), {}};
  if (!pairs.is_array() || !confirmed.catalog.starts_with('/')) return false;
  for (const Json& pair : pairs) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_string()) return false;
    const auto a = content_hash_from_hex(pair[0].get<std::string>());
    const auto b = content_hash_from_hex(pair[1].get<std::string>());
    if (!a || !b) return false;
    confirmed.pairs.emplace_back(*a, *b);
  }
  journal.confirmed_distinct.push_back(std::move(confirmed));
  return true;
}

bool parse_sidecar(const Json& line, Journal& journal) {
  JournalSidecar sidecar;
  sidecar.number = get_number<std::uint64_t>(line, "n");
  sidecar.path = get_path(line, "sidecar");
  sidecar.picture = get_path(line, "picture");
  sidecar.size = get_number<std::uint64_t>(line, "size");
  const auto hash = content_hash_from_hex(get_text(line, "hash"));
  if (sidecar.number == 0 || !hash) return false;
  sidecar.hash = *hash;
  journal.sidecars.push_back(std::move(sidecar));
  return true;
}

// Returns false for a line without known content.
bool parse_line(const Json& line, Journal& journal, std::map<std::uint64_t, std::size_t>& at) {
  if (!line.is_object()) return false;
  if (line.contains("folder")) {
    journal.folders.push_back(get_path(line, "folder"));
    return true;
  }
  if (line.contains("apart")) return parse_confirmed_distinct(line, journal);
  if (line.contains("cut")) {
    if (journal.damaged_lines > 0) --journal.damaged_lines;
    return true;
  }
  if (line.contains("undo")) {
    journal.undo_begun = true;
    journal.undo_finished = get_text(line, "undo") == "finished";
    return true;
  }
  if (line.contains("intent")) {
    JournalRecord record = parse_record(line);
    if (record.number == 0 || !record.path.starts_with('/') ||
        !at.emplace(record.number, journal.records.size()).second)
      return false;
    journal.records.push_back(std::move(record));
    return true;
  }
  if (line.contains("sidecar")) return parse_sidecar(line, journal);
  const auto number = get_number<std::uint64_t>(line, "n");
  for (JournalSidecar& sidecar : journal.sidecars) {
    if (sidecar.number != number) continue;
    sidecar.done |= get_flag(line, "done");
    sidecar.failed |= line.contains("failed");
    sidecar.undone |= line.contains("undone");
    return true;
  }
  const auto found = at.find(number);
  if (found == at.end()) return false;
  JournalRecord& record = journal.records[found->second];
  record.done |= get_flag(line, "done");
  record.failed |= line.contains("failed");
  record.undone |= line.contains("undone");
  record.purging |= get_flag(line, "purge");
  record.purged |= get_flag(line, "purged");
  return true;
}

// Returns the file that notes the journals of an id outside the data folder, one per line.
std::string find_notes_file(const std::string& id) { return data_path("journals/" + id + ".elsewhere"); }

// Returns the note about an open journal; empty for one in the data folder.
std::string make_note(const std::string& path, int fd) {
  const std::string real = join_path(real_path(folder_of(path)).value_or(folder_of(path)), file_name(path));
  if (is_in_data_folder(real)) return "";
  const auto state = state_of_descriptor(fd);
  return fmt::format("{} {}\n", state ? state->inode : 0, to_base64(real));
}

bool is_noted(const std::string& id, const std::string& note) {
  try {
    auto reader = FileReader::make(open_trusted_file(find_notes_file(id), Trust::checked, false, false),
                                   find_notes_file(id), FileReader::Hashing::off);
    const auto text = reader ? read_text(**reader) : Outcome<std::string>(reader.error());
    return text && ("\n" + *text).find("\n" + note) != std::string::npos;
  } catch (const Failure&) {
    return false;
  }
}

Json make_numbered_line(std::uint64_t number) { return Json{{"n", number}}; }

}  // namespace

const char* name_of(Action action) {
  switch (action) {
    case Action::trash:
      return "trash";
    case Action::move:
      return "move";
    case Action::hardlink:
      return "hardlink";
    case Action::remove:
      return "delete";
  }
  return "trash";
}

std::optional<Action> parse_action_name(const std::string& name) {
  for (const Action action : {Action::trash, Action::move, Action::hardlink, Action::remove}) {
    if (name == name_of(action)) return action;
  }
  return std::nullopt;
}

const JournalRecord* Journal::find_latest(const std::string& wanted) const {
  for (auto record = records.rbegin(); record != records.rend(); ++record) {
    if (record->path == wanted) return &*record;
  }
  return nullptr;
}

std::uint64_t Journal::next_number() const {
  std::uint64_t next = 1;
  for (const JournalRecord& record : records) next = std::max(next, record.number + 1);
  for (const JournalSidecar& sidecar : sidecars) next = std::max(next, sidecar.number + 1);
  return next;
}

Journal read_journal(const std::string& path, Trust trust) {
  Descriptor file = open_trusted_file(path, trust, false, false);
  const std::string note = make_note(path, file.get());
  auto reader = FileReader::make(std::move(file), path, FileReader::Hashing::off);
  if (!reader) throw Failure(reader.error());
  Journal journal = parse_journal(read_text(**reader).or_throw(), path);
  if (trust == Trust::checked && !journal.id.empty() && !note.empty() && !is_noted(journal.id, note)) {
    throw Failure(ErrorCode::conflict,
                  "this journal is not trusted: your data folder has no note that this program wrote it",
                  escape_unprintable(path), "if you made it yourself with --journal, add --trust-files");
  }
  return journal;
}

Journal parse_journal(std::string_view text, const std::string& path) {
  Journal journal;
  journal.path = path;
  std::map<std::uint64_t, std::size_t> at;
  bool first = true;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = text.find('\n', begin);
    const bool cut = end == std::string::npos;
    if (cut) end = text.size();
    const Json line = Json::parse_or_null(text.substr(begin, end - begin));
    begin = end + 1;
    if (first) {
      first = false;
      // A run that was cut off in the first line had done nothing yet. A file that begins otherwise is somebody's own.
      constexpr std::string_view kHead = R"({"millrace_journal":1,"id":")";
      if (cut && line.is_null() && text.substr(0, kHead.size()) == kHead.substr(0, text.size())) return journal;
      const auto action = line.is_object() ? parse_action_name(get_text(line, "action")) : std::nullopt;
      journal.id = line.is_object() ? get_text(line, "id") : "";
      if (!line.is_object() || get_number<int>(line, "millrace_journal") != 1 || !action || journal.id.empty()) {
        throw Failure(ErrorCode::bad_data, "this is not a journal of millrace dedupe apply", escape_unprintable(path));
      }
      journal.action = *action;
      journal.destination = get_path(line, "destination");
    } else if (!parse_line(line, journal, at) && !cut) {
      ++journal.damaged_lines;
    }
  }
  if (const auto why = explain_foreign_journal(journal); !first && why) {
    throw Failure(ErrorCode::bad_data, "this program did not write this journal: it " + *why, escape_unprintable(path),
                  "nothing was done; find out where the journal comes from");
  }
  return journal;
}

JournalWriter::JournalWriter(const std::string& path, const Journal& journal, const std::string& decisions, Trust trust)
    : path_(path), trust_(trust) {
  prepare_trusted_folder(path, trust);
  open(true);
  if (!fresh_) return;
  Json head{{"millrace_journal", 1}, {"id", journal.id}, {"action", name_of(journal.action)}};
  put_path(head, "decisions", decisions);
  if (!journal.destination.empty()) put_path(head, "destination", journal.destination);
  // The note comes first, so that every journal that begins can be undone.
  if (const std::string note = make_note(path_, file_.get()); !note.empty()) {
    const std::string notes = find_notes_file(journal.id);
    prepare_trusted_folder(notes, trust);
    const Descriptor out = open_trusted_file(notes, trust, true, true);
    write_all(out.get(), note, notes);
    if (::fsync(out.get()) != 0) throw Failure(system_error("cannot be synced", escape_unprintable(notes), errno));
  }
  write_line(head.dump());
  sync_folder(folder_of(path_));
}

JournalWriter::JournalWriter(const std::string& path, Trust trust) : path_(path), trust_(trust) { open(false); }

void JournalWriter::open(bool create) {
  const auto fail = [&](const char* what) { throw Failure(system_error(what, escape_unprintable(path_), errno)); };
  file_ = open_trusted_file(path_, trust_, true, create);
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    throw Failure(ErrorCode::conflict, "another run is using this journal", escape_unprintable(path_),
                  "wait until it ends");
  }
  // Two runs that each keep what the other removes would leave no copy.
  const std::string acting = data_path("journals/acting.lock");
  prepare_trusted_folder(acting, trust_);
  acting_ = open_trusted_file(acting, trust_, true, true);
  if (::flock(acting_.get(), LOCK_EX | LOCK_NB) != 0) {
    throw Failure(ErrorCode::conflict, "another apply, undo or purge of yours is running", "", "wait until it ends");
  }
  // A line that was cut off stays as an unusable line; only a journal without a first line is begun anew.
  const off_t size = ::lseek(file_.get(), 0, SEEK_END);
  char last = '\n';
  if (size > 0 && ::pread(file_.get(), &last, 1, size - 1) != 1) fail("the journal cannot be read");
  fresh_ = size == 0;
  if (last == '\n') return;
  const Journal found = read_journal(path_, trust_);
  if (!found.id.empty()) {
    write_line("\n{\"cut\": true}");
  } else if (create) {
    if (::ftruncate(file_.get(), 0) != 0) fail("the journal cannot be written");
    fresh_ = true;
  }
}

void JournalWriter::write_line(std::string text, bool now) {
  call_step_hook("write a line of the journal");
  text += '\n';
  std::size_t at = 0;
  while (at < text.size()) {
    const ssize_t n = ::write(file_.get(), text.data() + at, text.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Failure(system_error("the journal cannot be written", escape_unprintable(path_), errno));
    at += static_cast<std::size_t>(n);
  }
  if (!now) return;
  call_step_hook("sync the journal");
  if (::fdatasync(file_.get()) != 0)
    throw Failure(system_error("the journal cannot be synced", escape_unprintable(path_), errno));
}

void JournalWriter::write_folder(const std::string& path) {
  Json out;
  put_path(out, "folder", path);
  write_line(out.dump());
}

void JournalWriter::write_confirmed_distinct(const JournalConfirmedDistinct& confirmed) {
  constexpr std::size_t kPairsPerLine = 1000;
  for (std::size_t begin = 0; begin < confirmed.pairs.size(); begin += kPairsPerLine) {
    const std::size_t end = std::min(begin + kPairsPerLine, confirmed.pairs.size());
    Json out{{"apart", Json::array()}};
    for (std::size_t i = begin; i < end; ++i) {
      out["apart"].push_back(
          Json::array({hex_of_bytes(confirmed.pairs[i].first), hex_of_bytes(confirmed.pairs[i].second)}));
    }
    put_path(out, "catalog", confirmed.catalog);
    write_line(out.dump(), end == confirmed.pairs.size());
  }
}

void JournalWriter::write_confirmed_distinct_forgotten() { write_line(Json{{"apart", "forgotten"}}.dump()); }

void JournalWriter::write_intent(const JournalRecord& record, Action action) {
  Json out = make_numbered_line(record.number);
  out["intent"] = name_of(action);
  put_path(out, "path", record.path);
  if (!record.to.empty()) put_path(out, "to", record.to);
  if (!record.temporary.empty()) put_path(out, "temporary", record.temporary);
  if (!record.main.empty()) put_path(out, "main", record.main);
  for (std::size_t i = 0; i < record.survivors.size(); ++i) {
    const std::uint64_t size = i < record.survivor_sizes.size() ? record.survivor_sizes[i] : 0;
    if (i == 0) {
      put_path(out, "survivor", record.survivors[i]);
      out["survivor_size"] = size;
    } else {
      Json& one = out["more_survivors"].emplace_back(Json::object());
      put_path(one, "path", record.survivors[i]);
      one["size"] = size;
    }
  }
  if (record.whole_group) out["whole_group"] = true;
  const FileState& b = record.before;
  out["size"] = b.size;
  out["mtime_ns"] = b.mtime_ns;
  out["mode"] = b.mode;
  out["owner"] = b.owner;
  out["group_id"] = b.group;
  out["device"] = b.device;
  out["inode"] = b.inode;
  if (record.hash) out["hash"] = hex_of_bytes(*record.hash);
  write_line(out.dump());
}

void JournalWriter::write_sidecar(const JournalSidecar& sidecar) {
  Json out = make_numbered_line(sidecar.number);
  put_path(out, "sidecar", sidecar.path);
  put_path(out, "picture", sidecar.picture);
  out["size"] = sidecar.size;
  out["hash"] = hex_of_bytes(sidecar.hash);
  write_line(out.dump());
}

void JournalWriter::write_done(std::uint64_t number) {
  Json out = make_numbered_line(number);
  out["done"] = true;
  // This line is not synced: the intent is, and the disk shows the outcome.
  write_line(out.dump(), false);
}

void JournalWriter::write_failed(std::uint64_t number, const std::string& reason) {
  Json out = make_numbered_line(number);
  out["failed"] = replace_invalid_utf8(reason);
  write_line(out.dump());
}

void JournalWriter::write_undo_begun() { write_line(Json{{"undo", true}}.dump()); }

void JournalWriter::write_undo_finished() { write_line(Json{{"undo", "finished"}}.dump()); }

void JournalWriter::write_undone(std::uint64_t number, const std::string& where) {
  Json out = make_numbered_line(number);
  put_path(out, "undone", where);
  write_line(out.dump());
}

void JournalWriter::write_purging(std::uint64_t number) {
  Json out = make_numbered_line(number);
  out["purge"] = true;
  write_line(out.dump());
}

void JournalWriter::write_purged(std::uint64_t number) {
  Json out = make_numbered_line(number);
  out["purged"] = true;
  write_line(out.dump());
}

}  // namespace millrace::dedupe
