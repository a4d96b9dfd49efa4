#include "src/io/catalog/catalog.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "src/base/text.h"
#include "src/io/file/atomic_file.h"
#include "src/io/image/picture.h"

namespace millrace {
namespace {

constexpr int kSchema = 1;
constexpr int kBusyMs = 60'000;             // how long another run may hold the catalogue
constexpr int kApplicationId = 0x6D726163;  // "mrac", so that `file` and we can tell it from other SQLite files

constexpr const char* kTables = R"(
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS files (
  path BLOB PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
  code INTEGER, reason TEXT, content BLOB) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pictures (
  content BLOB PRIMARY KEY, code INTEGER, reason TEXT, damage TEXT, format INTEGER, width INTEGER, height INTEGER,
  quality INTEGER, codes BLOB, taken TEXT, subsecond TEXT, camera TEXT,
  exif_fields INTEGER, look INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS thumbnails (content BLOB PRIMARY KEY, jpeg BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS scores (a BLOB NOT NULL, b BLOB NOT NULL, orientation INTEGER NOT NULL,
  kind INTEGER NOT NULL, score REAL NOT NULL, PRIMARY KEY (a, b, orientation)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS not_duplicates (a BLOB NOT NULL, b BLOB NOT NULL, PRIMARY KEY (a, b)) WITHOUT ROWID;
)";

struct Statement {
  sqlite3_stmt* handle = nullptr;
  Statement() = default;
  ~Statement() { sqlite3_finalize(handle); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void text(int i, std::string_view v) {
    sqlite3_bind_text(handle, i, v.data(), static_cast<int>(v.size()), SQLITE_STATIC);
  }
  void blob(int i, const void* data, std::size_t size) {
    sqlite3_bind_blob(handle, i, size > 0 ? data : "", static_cast<int>(size), SQLITE_STATIC);
  }
  void bind_content(int i, const ContentHash& hash) { blob(i, hash.data(), hash.size()); }
  void integer(int i, std::int64_t v) { sqlite3_bind_int64(handle, i, v); }

  std::int64_t integer(int i) const { return sqlite3_column_int64(handle, i); }
  bool null(int i) const { return sqlite3_column_type(handle, i) == SQLITE_NULL; }
  // False when the column does not hold a number in this range.
  template <typename T>
  bool number(int i, std::int64_t lowest, std::int64_t highest, T& out) const {
    const std::int64_t v = integer(i);
    if (v < lowest || v > highest) return false;
    out = static_cast<T>(v);
    return true;
  }
  bool error_code(int i, ErrorCode& out) const { return number(i, 0, static_cast<int>(ErrorCode::internal), out); }
  std::string text(int i) const {
    const auto* data = static_cast<const char*>(sqlite3_column_blob(handle, i));
    return data == nullptr ? std::string()
                           : std::string(data, static_cast<std::size_t>(sqlite3_column_bytes(handle, i)));
  }
  // False when the column does not hold a hash. A row that we cannot have written is passed over: its file or picture
  // is then read again.
  bool content(int i, ContentHash& hash) const {
    if (sqlite3_column_bytes(handle, i) != static_cast<int>(hash.size())) return false;
    std::memcpy(hash.data(), sqlite3_column_blob(handle, i), hash.size());
    return true;
  }
};

}  // namespace

struct Catalog::State {
  std::string path;
  sqlite3* db = nullptr;
  std::vector<CatalogFile> files;
  std::vector<std::pair<CatalogPicture, std::vector<std::uint8_t>>> pictures;
  std::vector<CatalogScore> scores;
  std::vector<std::pair<ContentHash, ContentHash>> not_duplicates, duplicates_after_all;
  std::chrono::steady_clock::time_point last_flush = std::chrono::steady_clock::now();

  ~State() { sqlite3_close(db); }

  [[noreturn]] void fail(const char* what) {
    const int code = sqlite3_errcode(db);
    const char* remedy = code == SQLITE_FULL   ? "free some space and run the same command again"
                         : code == SQLITE_BUSY ? "another run holds the catalogue; wait for it"
                         : code == SQLITE_NOTADB || code == SQLITE_CORRUPT
                             ? "move the file away: the next run makes a new one, and reads every picture again"
                             : "check the file and its folder, or name another with --catalog";
    throw Failure(code == SQLITE_NOTADB || code == SQLITE_CORRUPT ? ErrorCode::bad_data : ErrorCode::io,
                  fmt::format("{} ({})", what, sqlite3_errmsg(db)), printable(path), remedy);
  }

  void run(const char* sql) {
    if (sqlite3_exec(db, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail("the catalogue cannot be used");
  }

  void prepare(Statement& statement, const char* sql) {
    if (sqlite3_prepare_v2(db, sql, -1, &statement.handle, nullptr) != SQLITE_OK) fail("the catalogue cannot be read");
  }

  bool step(Statement& statement) {
    const int code = sqlite3_step(statement.handle);
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) fail("the catalogue cannot be used");
    return false;
  }

  void write(Statement& statement) {
    step(statement);
    sqlite3_reset(statement.handle);
    sqlite3_clear_bindings(statement.handle);
  }

  std::int64_t number(const char* sql) {
    Statement statement;
    prepare(statement, sql);
    return step(statement) ? statement.integer(0) : 0;
  }

  std::string meta(const char* key) {
    Statement statement;
    prepare(statement, "SELECT value FROM meta WHERE key = ?");
    statement.text(1, key);
    return step(statement) ? statement.text(0) : "";
  }
};

namespace {

// Read in one transaction: another run may be making the catalogue at this moment.
void check_ours(Catalog::State& s) {
  s.run("BEGIN");
  const std::int64_t application = s.number("PRAGMA application_id");
  const bool fresh = s.number("SELECT count(*) FROM sqlite_master") == 0;
  const std::int64_t schema = s.number("PRAGMA user_version");
  s.run("COMMIT");
  if (!fresh && application != kApplicationId) {
    throw Failure(ErrorCode::bad_data, "this SQLite file is not a catalogue", printable(s.path),
                  "name another with --catalog");
  }
  if (!fresh && schema > kSchema) {
    throw Failure(ErrorCode::conflict, "a newer version of this program made the catalogue", printable(s.path),
                  "use that version, or name another catalogue with --catalog");
  }
}

// SQLite does not wait for a lock when it changes the journal, so two runs that make one catalogue would collide.
void use_write_ahead_log(Catalog::State& s) {
  constexpr int kPauseMs = 10;
  for (int waited = 0;; waited += kPauseMs) {
    const int code = sqlite3_exec(s.db, "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
    if (code == SQLITE_OK) return;
    if (code != SQLITE_BUSY || waited >= kBusyMs) s.fail("the catalogue cannot be used");
    sqlite3_sleep(kPauseMs);
  }
}

}  // namespace

Catalog::Catalog(const std::string& path, const std::string& key) : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.path = path;
  make_folders(folder_of(path));
  if (sqlite3_open_v2(path.c_str(), &s.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr) != SQLITE_OK) {
    s.fail("the catalogue cannot be opened");
  }
  sqlite3_busy_timeout(s.db, kBusyMs);
  check_ours(s);
  use_write_ahead_log(s);
  s.run("PRAGMA synchronous = NORMAL");
  s.run("BEGIN IMMEDIATE");
  s.run(fmt::format("PRAGMA application_id = {}", kApplicationId).c_str());
  s.run(fmt::format("PRAGMA user_version = {}", kSchema).c_str());
  s.run(kTables);
  if (s.meta("key") != key) {
    s.run("DELETE FROM pictures; DELETE FROM thumbnails; DELETE FROM scores;");
    Statement statement;
    s.prepare(statement, "INSERT OR REPLACE INTO meta VALUES ('key', ?)");
    statement.text(1, key);
    s.write(statement);
  }
  s.run("COMMIT");
}

Catalog::~Catalog() {
  // What was not flushed is lost, as in a kill; a job flushes when it ends well.
}

std::vector<CatalogFile> Catalog::files() {
  State& s = *state_;
  Statement row;
  s.prepare(row, "SELECT path, size, mtime_ns, code, reason, content FROM files ORDER BY path");
  std::vector<CatalogFile> out;
  while (s.step(row)) {
    CatalogFile file;
    file.path = row.text(0);
    file.size = static_cast<std::uint64_t>(row.integer(1));
    file.mtime_ns = row.integer(2);
    file.failed = !row.null(3);
    if (file.failed) {
      file.reason = row.text(4);
      if (!row.error_code(3, file.code) || file.reason.empty()) continue;
    } else if (!row.content(5, file.content)) {
      continue;
    }
    out.push_back(std::move(file));
  }
  return out;
}

std::vector<CatalogPicture> Catalog::pictures() {
  State& s = *state_;
  Statement row;
  s.prepare(row,
            "SELECT content, code, reason, damage, format, width, height, quality, codes, taken, subsecond, "
            "camera, exif_fields, look FROM pictures");
  std::vector<CatalogPicture> out;
  while (s.step(row)) {
    CatalogPicture p;
    if (!row.content(0, p.content)) continue;
    p.failed = !row.null(1);
    p.reason = row.text(2);
    p.damage = row.text(3);
    const bool right = p.failed ? row.error_code(1, p.code) && !p.reason.empty()
                                : row.number(4, 0, 255, p.format) && row.number(5, 1, kLongestSide, p.width) &&
                                      row.number(6, 1, kLongestSide, p.height) && row.number(7, 0, 100, p.quality) &&
                                      row.number(12, 0, INT_MAX, p.exif_fields);
    if (!right) continue;
    if (const std::string codes = row.text(8); codes.size() == sizeof(p.codes)) {
      std::memcpy(p.codes.data(), codes.data(), codes.size());
    } else if (!p.failed) {
      continue;
    }
    p.taken = row.text(9);
    p.subsecond = row.text(10);
    p.camera = row.text(11);
    p.look = static_cast<std::uint64_t>(row.integer(13));
    out.push_back(std::move(p));
  }
  return out;
}

std::vector<CatalogScore> Catalog::scores() {
  State& s = *state_;
  Statement row;
  s.prepare(row, "SELECT a, b, orientation, kind, score FROM scores");
  std::vector<CatalogScore> out;
  while (s.step(row)) {
    CatalogScore score;
    if (!row.content(0, score.a) || !row.content(1, score.b)) continue;
    if (!row.number(2, 0, 255, score.orientation) || !row.number(3, 0, 255, score.kind)) continue;
    score.score = static_cast<float>(sqlite3_column_double(row.handle, 4));
    if (!std::isfinite(score.score)) continue;
    out.push_back(score);
  }
  return out;
}

std::vector<std::pair<ContentHash, ContentHash>> Catalog::not_duplicates() {
  State& s = *state_;
  Statement row;
  s.prepare(row, "SELECT a, b FROM not_duplicates");
  std::vector<std::pair<ContentHash, ContentHash>> out;
  while (s.step(row)) {
    ContentHash a, b;
    if (row.content(0, a) && row.content(1, b)) out.emplace_back(a, b);
  }
  return out;
}

std::optional<std::vector<std::uint8_t>> Catalog::thumbnail(const ContentHash& content) {
  State& s = *state_;
  Statement row;
  s.prepare(row, "SELECT jpeg FROM thumbnails WHERE content = ?");
  row.bind_content(1, content);
  if (!s.step(row)) return std::nullopt;
  const std::string bytes = row.text(0);
  return std::vector<std::uint8_t>(bytes.begin(), bytes.end());
}

void Catalog::put(CatalogFile file) { state_->files.push_back(std::move(file)); }
void Catalog::put(CatalogPicture picture, std::vector<std::uint8_t> thumbnail) {
  state_->pictures.emplace_back(std::move(picture), std::move(thumbnail));
}
void Catalog::put(const CatalogScore& score) { state_->scores.push_back(score); }
void Catalog::put_not_duplicates(const ContentHash& a, const ContentHash& b) {
  state_->not_duplicates.emplace_back(std::min(a, b), std::max(a, b));
}
void Catalog::drop_not_duplicates(const ContentHash& a, const ContentHash& b) {
  state_->duplicates_after_all.emplace_back(std::min(a, b), std::max(a, b));
}

void Catalog::flush_now_and_then() {
  if (std::chrono::steady_clock::now() - state_->last_flush >= std::chrono::seconds(1)) flush();
}

void Catalog::flush() {
  State& s = *state_;
  s.last_flush = std::chrono::steady_clock::now();
  if (s.files.empty() && s.pictures.empty() && s.scores.empty() && s.not_duplicates.empty() &&
      s.duplicates_after_all.empty())
    return;
  s.run("BEGIN IMMEDIATE");
  {
    Statement picture, thumbnail, file, score, apart, not_apart;
    s.prepare(picture, "INSERT OR REPLACE INTO pictures VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    s.prepare(thumbnail, "INSERT OR REPLACE INTO thumbnails VALUES (?,?)");
    s.prepare(file, "INSERT OR REPLACE INTO files VALUES (?,?,?,?,?,?)");
    s.prepare(score, "INSERT OR REPLACE INTO scores VALUES (?,?,?,?,?)");
    s.prepare(apart, "INSERT OR REPLACE INTO not_duplicates VALUES (?,?)");
    s.prepare(not_apart, "DELETE FROM not_duplicates WHERE a = ? AND b = ?");
    for (const auto& [p, jpeg] : s.pictures) {
      picture.bind_content(1, p.content);
      if (p.failed) picture.integer(2, static_cast<int>(p.code));
      picture.text(3, p.reason);
      picture.text(4, p.damage);
      picture.integer(5, p.format);
      picture.integer(6, p.width);
      picture.integer(7, p.height);
      picture.integer(8, p.quality);
      picture.blob(9, p.codes.data(), sizeof(p.codes));
      picture.text(10, p.taken);
      picture.text(11, p.subsecond);
      picture.text(12, p.camera);
      picture.integer(13, p.exif_fields);
      picture.integer(14, static_cast<std::int64_t>(p.look));
      s.write(picture);
      if (jpeg.empty()) continue;
      thumbnail.bind_content(1, p.content);
      thumbnail.blob(2, jpeg.data(), jpeg.size());
      s.write(thumbnail);
    }
    for (const CatalogFile& f : s.files) {
      file.blob(1, f.path.data(), f.path.size());
      file.integer(2, static_cast<std::int64_t>(f.size));
      file.integer(3, f.mtime_ns);
      if (f.failed) {
        file.integer(4, static_cast<int>(f.code));
        file.text(5, f.reason);
      } else {
        file.bind_content(6, f.content);
      }
      s.write(file);
    }
    for (const CatalogScore& v : s.scores) {
      score.bind_content(1, v.a);
      score.bind_content(2, v.b);
      score.integer(3, v.orientation);
      score.integer(4, v.kind);
      sqlite3_bind_double(score.handle, 5, static_cast<double>(v.score));
      s.write(score);
    }
    for (const auto& [a, b] : s.not_duplicates) {
      apart.bind_content(1, a);
      apart.bind_content(2, b);
      s.write(apart);
    }
    for (const auto& [a, b] : s.duplicates_after_all) {
      not_apart.bind_content(1, a);
      not_apart.bind_content(2, b);
      s.write(not_apart);
    }
  }
  s.run("COMMIT");
  s.pictures.clear();
  s.files.clear();
  s.scores.clear();
  s.not_duplicates.clear();
  s.duplicates_after_all.clear();
}

std::string data_path(const std::string& name) {
  const char* data = std::getenv("XDG_DATA_HOME");
  const char* home = std::getenv("HOME");
  // The specification says to ignore a relative path.
  if (data != nullptr && data[0] == '/') return std::string(data) + "/millrace/" + name;
  return std::string(home != nullptr ? home : ".") + "/.local/share/millrace/" + name;
}

void make_folders(const std::string& folder) {
  for (std::size_t at = 1; at != std::string::npos;) {
    at = folder.find('/', at);
    const std::string part = folder.substr(0, at);
    if (::mkdir(part.c_str(), 0777) != 0 && errno != EEXIST) {
      const int reason = errno;
      struct stat info {};
      if (::stat(part.c_str(), &info) != 0)
        throw Failure(system_error("the folder cannot be made", printable(part), reason));
    }
    if (at != std::string::npos) ++at;
  }
}

}  // namespace millrace
