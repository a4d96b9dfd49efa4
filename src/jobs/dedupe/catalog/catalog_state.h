// Input: SQL statements and values.
// Output: rows, or a Failure that names the catalog and a remedy.
// Never: is used outside this folder.
#pragma once

#include <fmt/format.h>
#include <sqlite3.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/mutex.h"
#include "src/base/text.h"
#include "src/jobs/dedupe/catalog/catalog.h"

namespace millrace::dedupe {

struct SqlStatement {
  sqlite3_stmt* handle = nullptr;
  SqlStatement() = default;
  ~SqlStatement() { finalize(); }
  SqlStatement(const SqlStatement&) = delete;
  SqlStatement& operator=(const SqlStatement&) = delete;

  void finalize() {
    sqlite3_finalize(handle);
    handle = nullptr;
  }

  void text(int i, std::string_view v) {
    sqlite3_bind_text(handle, i, v.data(), static_cast<int>(v.size()), SQLITE_STATIC);
  }
  void blob(int i, const void* data, std::size_t size) {
    sqlite3_bind_blob(handle, i, size > 0 ? data : "", static_cast<int>(size), SQLITE_STATIC);
  }
  void bind_content(int i, const ContentHash& hash) { blob(i, hash.data(), hash.size()); }
  void integer(int i, std::int64_t v) { sqlite3_bind_int64(handle, i, v); }
  void word(int i, std::uint64_t v) { integer(i, static_cast<std::int64_t>(v)); }

  std::int64_t integer(int i) const { return sqlite3_column_int64(handle, i); }
  std::uint64_t word(int i) const { return static_cast<std::uint64_t>(integer(i)); }
  bool is_null(int i) const { return sqlite3_column_type(handle, i) == SQLITE_NULL; }
  // False when the column does not hold a number in this range.
  template <typename T>
  bool number(int i, std::int64_t lowest, std::int64_t highest, T& out) const {
    const std::int64_t v = integer(i);
    if (v < lowest || v > highest) return false;
    out = static_cast<T>(v);
    return true;
  }
  bool error_code(int i, ErrorCode& out) const { return number(i, 0, static_cast<int>(ErrorCode::internal), out); }
  bool score(int i, float& out) const {
    out = static_cast<float>(sqlite3_column_double(handle, i));
    return is_valid_score(out);
  }
  // Valid until the next step.
  std::string_view text(int i) const {
    const auto* data = static_cast<const char*>(sqlite3_column_blob(handle, i));
    return data == nullptr ? std::string_view()
                           : std::string_view(data, static_cast<std::size_t>(sqlite3_column_bytes(handle, i)));
  }
  std::vector<std::uint8_t> bytes(int i) const {
    const std::string_view all = text(i);
    return {all.begin(), all.end()};
  }
  // False when the column does not hold a hash. Callers skip a row that this program cannot have written: its file or
  // picture is then read again.
  bool content(int i, ContentHash& hash) const {
    if (sqlite3_column_bytes(handle, i) != static_cast<int>(hash.size())) return false;
    std::memcpy(hash.data(), sqlite3_column_blob(handle, i), hash.size());
    return true;
  }
};

// SQLite's own locks are off, since it takes them for every column of every row. Each connection is used by one thread
// at a time.
struct SqlConnection {
  std::string path;
  sqlite3* db = nullptr;
  std::function<bool()> cancelled;  // set before open()

  SqlConnection() = default;
  ~SqlConnection() { sqlite3_close(db); }
  SqlConnection(const SqlConnection&) = delete;
  SqlConnection& operator=(const SqlConnection&) = delete;

  static constexpr int kBusyMs = 60'000;  // longest wait for another run that holds the catalog

  void open(const std::string& file, int flags) {
    path = file;
    // SQLite treats a name that begins with a slash as a file. It may read others as addresses (file:...), or as no
    // file.
    const std::string name = path.starts_with('/') ? path : "./" + path;
    if (sqlite3_open_v2(name.c_str(), &db, flags | SQLITE_OPEN_NOMUTEX, nullptr) != SQLITE_OK) {
      fail("cannot open the catalog");
    }
    sqlite3_busy_timeout(db, kBusyMs);
    disable_untrusted_code();
    // A statement that a hostile file makes endless ends when the job is cancelled.
    constexpr int kInstructions = 100'000;
    if (cancelled) sqlite3_progress_handler(db, kInstructions, check_cancelled, this);
  }

  // Opens a read-only connection that reads what another connection last flushed.
  void open_read_only(const SqlConnection& other) {
    cancelled = other.cancelled;
    open(other.path, SQLITE_OPEN_READONLY);
  }

  // Turns off everything in the file that could run code: the file is untrusted data.
  void disable_untrusted_code() {
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    run("PRAGMA cell_size_check = ON");
  }

  static int check_cancelled(void* connection) { return static_cast<SqlConnection*>(connection)->cancelled() ? 1 : 0; }

  [[noreturn]] void fail(const char* what) {
    const int code = sqlite3_errcode(db);
    if (code == SQLITE_INTERRUPT) throw Failure(interrupted("the catalog is unchanged"));
    const char* remedy =
        code == SQLITE_FULL   ? "free some space and run the same command again"
        : code == SQLITE_BUSY ? "another run is using the catalog; wait until it ends"
        : code == SQLITE_NOTADB || code == SQLITE_CORRUPT
            ? "move the file away; the next run makes a new catalog, without your \"not duplicates\", and "
              "reads every picture again"
            : "check the file and its folder, or name another catalog with --catalog";
    throw Failure(code == SQLITE_NOTADB || code == SQLITE_CORRUPT ? ErrorCode::bad_data : ErrorCode::io,
                  fmt::format("{} ({})", what, sqlite3_errmsg(db)), escape_unprintable(path), remedy);
  }

  void run(const char* sql) {
    if (sqlite3_exec(db, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail("cannot use the catalog");
  }

  void prepare(SqlStatement& statement, const char* sql) {
    if (sqlite3_prepare_v2(db, sql, -1, &statement.handle, nullptr) != SQLITE_OK) fail("cannot read the catalog");
  }

  bool step(SqlStatement& statement) {
    const int code = sqlite3_step(statement.handle);
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) fail("cannot use the catalog");
    return false;
  }

  void write(SqlStatement& statement) {
    step(statement);
    sqlite3_reset(statement.handle);
    sqlite3_clear_bindings(statement.handle);
  }

  std::int64_t number(const char* sql) {
    SqlStatement statement;
    prepare(statement, sql);
    return step(statement) ? statement.integer(0) : 0;
  }

  std::string meta(const char* key) {
    SqlStatement statement;
    prepare(statement, "SELECT value FROM meta WHERE key = ?");
    statement.text(1, key);
    return step(statement) ? std::string(statement.text(0)) : "";
  }
  void set_meta(const char* key, std::string_view value) {
    SqlStatement statement;
    prepare(statement, "INSERT OR REPLACE INTO meta VALUES (?, ?)");
    statement.text(1, key);
    statement.text(2, value);
    write(statement);
  }
};

struct Catalog::State : SqlConnection {
  CatalogKey key;
  std::vector<CatalogFile> files;
  std::vector<std::pair<CatalogPicture, std::vector<std::uint8_t>>> pictures;
  std::vector<CatalogScore> scores;
  std::vector<CatalogComparison> comparisons;
  std::vector<CatalogOrigin> origins;
  std::vector<std::pair<ContentHash, ContentHash>> confirmed_distinct, withdrawn_distinct;
  std::vector<std::string> dropped_files;  // paths
  std::chrono::steady_clock::time_point last_flush = std::chrono::steady_clock::now();
  SqlConnection query_connection MILLRACE_GUARDED_BY(query_mutex);  // used by picture() and file(), under `query_mutex`
  Mutex query_mutex;
  SqlStatement picture_query, file_query, thumbnail_query, preview_query, comparison_query, origin_query;

  // Begins a transaction that writes this run's results, which are valid only under its key.
  void begin_writing() {
    run("BEGIN IMMEDIATE");
    if (meta("key") == key.pictures && meta("verdicts") == key.verdicts) return;
    run("ROLLBACK");
    throw Failure(ErrorCode::conflict, "another version of millrace changed the catalog during this run",
                  escape_unprintable(path), "run the same command again, or name another catalog with --catalog");
  }

  ~State() {
    picture_query.finalize();
    file_query.finalize();
    thumbnail_query.finalize();
    preview_query.finalize();
    comparison_query.finalize();
    origin_query.finalize();
  }
};

}  // namespace millrace::dedupe
