#include "src/jobs/dedupe/catalog/catalog.h"

#include <unistd.h>

#include <array>
#include <cstring>

#include "src/base/log.h"
#include "src/base/paths.h"
#include "src/io/file/atomic_file.h"
#include "src/io/file/network_file_system.h"
#include "src/io/output/output.h"
#include "src/jobs/dedupe/catalog/catalog_state.h"
#include "src/jobs/dedupe/catalog/packed_scores.h"

namespace millrace::dedupe {
namespace {

// Schema 1 keyed thumbnails and scores by content. Schema 2 held both keys in one string. Schema 3 lacked the inode and
// ctime of files. Schema 4 lacked `unshown`, the content that decoders found but do not show.
constexpr int kSchema = 5;
constexpr int kApplicationId = 0x6D726163;  // "mrac", by which `file` and this program recognise the format

// Names are those of existing catalogs: `look` is an appearance, `closer_looks` holds detailed checks.
constexpr const char* kSchemaSql = R"(
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS files (
  path BLOB PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
  code INTEGER, reason TEXT, content BLOB, inode INTEGER, ctime_ns INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pictures (
  content BLOB PRIMARY KEY, code INTEGER, reason TEXT, damage TEXT, format INTEGER, width INTEGER, height INTEGER,
  quality INTEGER, codes BLOB, taken TEXT, subsecond TEXT, camera TEXT,
  exif_fields INTEGER, look INTEGER, unshown INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS thumbnails (look INTEGER PRIMARY KEY, jpeg BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS previews (content BLOB PRIMARY KEY, jpeg BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS scores (a INTEGER NOT NULL, b INTEGER NOT NULL, orientation INTEGER NOT NULL,
  kind INTEGER NOT NULL, score REAL NOT NULL, PRIMARY KEY (a, b, orientation)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS packed_scores (id INTEGER PRIMARY KEY, scores BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS joined (rule INTEGER NOT NULL, part INTEGER NOT NULL, looks BLOB NOT NULL,
  PRIMARY KEY (rule, part));
CREATE TABLE IF NOT EXISTS joined_codes (rule INTEGER NOT NULL, part INTEGER NOT NULL, codes BLOB NOT NULL,
  PRIMARY KEY (rule, part));
CREATE TABLE IF NOT EXISTS joined_sums (rule INTEGER NOT NULL, part INTEGER NOT NULL, looks INTEGER NOT NULL,
  codes INTEGER NOT NULL, links INTEGER NOT NULL, links_sum INTEGER NOT NULL, PRIMARY KEY (rule, part));
CREATE TABLE IF NOT EXISTS links (rule INTEGER NOT NULL, a INTEGER NOT NULL, b INTEGER NOT NULL,
  kind INTEGER NOT NULL, score REAL NOT NULL, PRIMARY KEY (rule, a, b)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS origins (content BLOB PRIMARY KEY, version INTEGER NOT NULL, told BLOB NOT NULL)
  WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS closer_looks (a BLOB NOT NULL, b BLOB NOT NULL, version INTEGER NOT NULL,
  verdict BLOB NOT NULL, PRIMARY KEY (a, b)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS not_duplicates (a BLOB NOT NULL, b BLOB NOT NULL, PRIMARY KEY (a, b)) WITHOUT ROWID;
)";

// A catalog holds only plain tables. A trigger, a view, a virtual table, an index of an expression, a check or a
// default would run code that others wrote.
void reject_executable_schema(Catalog::State& s) {
  const std::int64_t others = s.number(
      "SELECT count(*) FROM sqlite_master WHERE type NOT IN ('table', 'index') OR rootpage IS NULL OR rootpage < 1 "
      "OR (type = 'index' AND sql IS NOT NULL) OR sql LIKE '%check%' OR sql LIKE '%default%' OR sql LIKE '%generated%' "
      "OR sql LIKE '% as%(%' OR sql LIKE '%virtual%' OR sql LIKE '%collate%' OR sql LIKE '%references%'");
  if (others == 0) return;
  throw Failure(ErrorCode::bad_data, "it contains triggers, views, virtual tables or constraints; a catalog has none",
                escape_unprintable(s.path), "another program changed this file: name another catalog with --catalog");
}

// The checks read in one transaction: another run may be creating the catalog at this moment.
void verify_application_id(Catalog::State& s) {
  s.run("BEGIN");
  const std::int64_t application = s.number("PRAGMA application_id");
  const bool fresh = s.number("SELECT count(*) FROM sqlite_master") == 0;
  const std::int64_t schema = s.number("PRAGMA user_version");
  s.run("COMMIT");
  if (!fresh && application != kApplicationId) {
    throw Failure(ErrorCode::bad_data, "this SQLite file is not a catalog", escape_unprintable(s.path),
                  "name another file with --catalog");
  }
  if (!fresh && schema > kSchema) {
    throw Failure(ErrorCode::conflict, "the catalog was made by a newer version of millrace",
                  escape_unprintable(s.path), "use that version, or name another catalog with --catalog");
  }
  reject_executable_schema(s);
}

// SQLite reads the files beside the database before this program can check them, and acts on them. A journal of this
// program never names another file, since the program never writes to two databases at once. SQLite would delete the
// file that a foreign journal names.
void reject_foreign_journal(const std::string& path, Trust trust) {
  const std::string name = path + "-journal";
  Descriptor file;
  try {
    file = open_trusted_file(name, trust, false, false);
  } catch (const Failure& failure) {
    if (failure.error().code == ErrorCode::not_found) return;
    throw;
  }
  constexpr std::array<unsigned char, 8> kSuperJournalMagic = {0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7};
  std::array<unsigned char, 8> end{};
  const auto state = state_of_descriptor(file.get());
  if (!state || state->size < end.size()) return;
  const auto got = ::pread(file.get(), end.data(), end.size(), static_cast<off_t>(state->size - end.size()));
  if (got != static_cast<ssize_t>(end.size()) || end != kSuperJournalMagic) return;
  throw Failure(ErrorCode::bad_data, "this journal beside the catalog names another file, which SQLite would delete",
                escape_unprintable(name),
                "millrace did not write it: move the journal and the catalog away; the next run makes a new catalog");
}

// Checks that the catalog and SQLite's files beside it belong to the user. Creates the catalog here, so that nobody
// else can read it.
void verify_catalog_ownership(const std::string& path, Trust trust) {
  prepare_trusted_folder(path, trust);
  for (const std::string& file : catalog_files(path)) {
    verify_trusted_file(file, trust).or_throw();
  }
  reject_foreign_journal(path, trust);
  open_trusted_file(path, trust, true, true);
}

// Sets WAL mode with retries. SQLite does not wait for a lock when it changes the journal mode, so two runs that create
// one catalog would collide.
void enable_write_ahead_log(Catalog::State& s) {
  constexpr int kPauseMs = 10;
  for (int waited = 0;; waited += kPauseMs) {
    const int code = sqlite3_exec(s.db, "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
    if (code == SQLITE_OK) return;
    if (code != SQLITE_BUSY || waited >= SqlConnection::kBusyMs) s.fail("cannot use the catalog");
    sqlite3_sleep(kPauseMs);
  }
}

// Drops the rows that another version of the program produced differently.
void drop_outdated_rows(Catalog::State& s, const CatalogKey& key) {
  // Previews are composited over gray; those of earlier versions showed transparent pixels in the colours stored
  // beneath them.
  constexpr const char* kPreviews = "over gray";
  if (s.meta("previews") != kPreviews) {
    s.run("DELETE FROM previews");
    s.set_meta("previews", kPreviews);
  }
  const bool same_pictures = s.meta("key") == key.pictures;
  if (same_pictures && s.meta("verdicts") == key.verdicts) return;
  if (!same_pictures) s.run("DELETE FROM pictures; DELETE FROM thumbnails; DELETE FROM previews");
  s.run(
      "DELETE FROM scores; DELETE FROM packed_scores; DELETE FROM joined; DELETE FROM joined_codes; "
      "DELETE FROM joined_sums; DELETE FROM links");
  s.set_meta("key", key.pictures);
  s.set_meta("verdicts", key.verdicts);
}

}  // namespace

bool is_catalog(const std::string& path) {
  auto file = FileReader::open(path, FileReader::Hashing::off);
  const char* const kept = file ? classify_kept_file((*file)->peek()) : nullptr;
  return kept != nullptr && std::string_view(kept) == kKeptCatalog;
}

std::vector<std::string> catalog_files(const std::string& path) {
  return {path, path + "-wal", path + "-shm", path + "-journal"};
}

Catalog::Catalog(const std::string& path, const CatalogKey& key, const CatalogAccess& access)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.key = key;
  s.cancelled = access.cancelled;
  if (file_name(path) == ":memory:") {
    throw Failure(ErrorCode::usage, "a catalog must be a file, not in memory", path,
                  "to keep no catalog, name a temporary file, such as --catalog $(mktemp -d)/catalog.sqlite");
  }
  prepare_trusted_folder(path, access.trust);
  // The real path is used from here on, so that a link replaced on the way leads nowhere else.
  const std::string real = join_path(real_path(folder_of(path)).value_or(folder_of(path)), file_name(path));
  verify_catalog_ownership(real, access.trust);
  if (const std::string network = network_file_system(folder_of(real)); !network.empty()) {
    // SQLite shares its WAL index through the memory of one machine.
    spdlog::warn(
        "{}: the catalog is on a network file system ({}): use it from one machine at a time, or name one on a "
        "local disk with --catalog",
        escape_unprintable(real), network);
  }
  s.open(real, SQLITE_OPEN_READWRITE);
  verify_application_id(s);
  enable_write_ahead_log(s);
  s.run("PRAGMA synchronous = NORMAL");
  s.run("BEGIN IMMEDIATE");
  s.run(fmt::format("PRAGMA application_id = {}", kApplicationId).c_str());
  const std::int64_t schema = s.number("PRAGMA user_version");
  if (schema == 1) s.run("DROP TABLE pictures; DROP TABLE thumbnails; DROP TABLE scores;");
  s.run(fmt::format("PRAGMA user_version = {}", kSchema).c_str());
  s.run(kSchemaSql);
  if (s.number("SELECT count(*) FROM pragma_table_info('files') WHERE name = 'inode'") == 0)
    s.run("ALTER TABLE files ADD COLUMN inode INTEGER; ALTER TABLE files ADD COLUMN ctime_ns INTEGER");
  if (s.number("SELECT count(*) FROM pragma_table_info('pictures') WHERE name = 'unshown'") == 0)
    s.run("ALTER TABLE pictures ADD COLUMN unshown INTEGER");
  if (const std::string both = s.meta("key"); schema == 2 && both.find(", ") != std::string::npos) {
    const std::size_t at = both.rfind(", ");
    s.set_meta("key", std::string_view(both).substr(0, at));
    s.set_meta("verdicts", std::string_view(both).substr(at + 2));
  }
  drop_outdated_rows(s, key);
  s.run("COMMIT");
  // Cancelling no longer interrupts this connection: it writes this run's results, which an interrupt must not lose.
  sqlite3_progress_handler(s.db, 0, nullptr, nullptr);
}

Catalog::~Catalog() {
  // Rows that were not flushed are lost, as in a kill; a job flushes when it ends well.
}

void Catalog::put(CatalogFile file) { state_->files.push_back(std::move(file)); }
void Catalog::put(CatalogPicture picture, std::vector<std::uint8_t> thumbnail) {
  state_->pictures.emplace_back(std::move(picture), std::move(thumbnail));
}
void Catalog::put(std::span<const CatalogScore> scores) {
  state_->scores.insert(state_->scores.end(), scores.begin(), scores.end());
}
void Catalog::put(CatalogComparison comparison) { state_->comparisons.push_back(std::move(comparison)); }
void Catalog::put(CatalogOrigin origin) { state_->origins.push_back(std::move(origin)); }
void Catalog::put_previews(std::span<const CatalogPreview> previews) {
  if (previews.empty()) return;
  State& s = *state_;
  s.begin_writing();
  {
    SqlStatement row;
    s.prepare(row, "INSERT OR REPLACE INTO previews VALUES (?,?)");
    for (const CatalogPreview& preview : previews) {
      row.bind_content(1, preview.content);
      row.blob(2, preview.jpeg.data(), preview.jpeg.size());
      s.write(row);
    }
  }
  s.run("COMMIT");
}

void Catalog::put_confirmed_distinct(const ContentHash& a, const ContentHash& b) {
  state_->confirmed_distinct.emplace_back(std::min(a, b), std::max(a, b));
}
void Catalog::drop_confirmed_distinct(const ContentHash& a, const ContentHash& b) {
  state_->withdrawn_distinct.emplace_back(std::min(a, b), std::max(a, b));
}

void Catalog::drop_file(std::string path) { state_->dropped_files.push_back(std::move(path)); }

namespace {
constexpr const char* kUnconfirmed = "copies unconfirmed";
}  // namespace

bool Catalog::has_unconfirmed_copies() { return !state_->meta(kUnconfirmed).empty(); }
void Catalog::put_unconfirmed_copies(bool unconfirmed) {
  state_->begin_writing();
  state_->set_meta(kUnconfirmed, unconfirmed ? "1" : "");
  state_->run("COMMIT");
}

void Catalog::flush_periodically() {
  if (std::chrono::steady_clock::now() - state_->last_flush >= std::chrono::seconds(1)) flush();
}

void Catalog::flush() {
  State& s = *state_;
  s.last_flush = std::chrono::steady_clock::now();
  if (s.files.empty() && s.pictures.empty() && s.scores.empty() && s.comparisons.empty() && s.origins.empty() &&
      s.confirmed_distinct.empty() && s.withdrawn_distinct.empty() && s.dropped_files.empty())
    return;
  s.begin_writing();
  {
    SqlStatement picture, thumbnail, file, scores, comparison, origin, confirmed_distinct, duplicates, dropped_files;
    s.prepare(picture, "INSERT OR REPLACE INTO pictures VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    s.prepare(thumbnail, "INSERT OR REPLACE INTO thumbnails VALUES (?,?)");
    s.prepare(file, "INSERT OR REPLACE INTO files VALUES (?,?,?,?,?,?,?,?)");
    s.prepare(scores, "INSERT INTO packed_scores (scores) VALUES (?)");
    s.prepare(comparison, "INSERT OR REPLACE INTO closer_looks VALUES (?,?,?,?)");
    s.prepare(origin, "INSERT OR REPLACE INTO origins VALUES (?,?,?)");
    s.prepare(confirmed_distinct, "INSERT OR REPLACE INTO not_duplicates VALUES (?,?)");
    s.prepare(duplicates, "DELETE FROM not_duplicates WHERE a = ? AND b = ?");
    s.prepare(dropped_files, "DELETE FROM files WHERE path = ?");
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
      picture.word(14, p.thumbnail_digest);
      if (p.unshown) picture.integer(15, p.unshown->bits());
      s.write(picture);
      if (jpeg.empty()) continue;
      thumbnail.word(1, p.thumbnail_digest);
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
      file.word(7, f.inode);
      file.integer(8, f.ctime_ns);
      s.write(file);
    }
    for (const std::string& path : s.dropped_files) {
      dropped_files.blob(1, path.data(), path.size());
      s.write(dropped_files);
    }
    if (!s.scores.empty()) {
      const std::vector<std::uint8_t> packed = pack_scores(s.scores);
      scores.blob(1, packed.data(), packed.size());
      s.write(scores);
    }
    for (const CatalogComparison& v : s.comparisons) {
      comparison.bind_content(1, v.a);
      comparison.bind_content(2, v.b);
      comparison.integer(3, v.version);
      comparison.blob(4, v.verdict.data(), v.verdict.size());
      s.write(comparison);
    }
    for (const CatalogOrigin& v : s.origins) {
      origin.bind_content(1, v.content);
      origin.integer(2, v.version);
      origin.blob(3, v.provenance.data(), v.provenance.size());
      s.write(origin);
    }
    for (const auto& [a, b] : s.confirmed_distinct) {
      confirmed_distinct.bind_content(1, a);
      confirmed_distinct.bind_content(2, b);
      s.write(confirmed_distinct);
    }
    for (const auto& [a, b] : s.withdrawn_distinct) {
      duplicates.bind_content(1, a);
      duplicates.bind_content(2, b);
      s.write(duplicates);
    }
  }
  s.run("COMMIT");
  s.pictures.clear();
  s.files.clear();
  s.dropped_files.clear();
  s.scores.clear();
  s.comparisons.clear();
  s.origins.clear();
  s.confirmed_distinct.clear();
  s.withdrawn_distinct.clear();
}

}  // namespace millrace::dedupe
