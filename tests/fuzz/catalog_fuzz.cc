// Bytes taken as rows that another program, or a broken disk, left in the catalogue's tables.
#include <sqlite3.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "src/io/image/thumbnail_jpeg.h"
#include "src/jobs/dedupe/catalog/catalog.h"

namespace {

using millrace::ContentHash;
using millrace::dedupe::Catalog;
using millrace::dedupe::CatalogFile;
using millrace::dedupe::CatalogPicture;

struct Tables {
  // In a folder of its own: a catalogue is believed only where nobody else may write.
  std::string folder = "/dev/shm/millrace-fuzz-" + std::to_string(::getpid()), path = folder + "/catalog.sqlite";
  std::unique_ptr<Catalog> catalog;
  sqlite3* db = nullptr;

  Tables() {
    remove();
    catalog = std::make_unique<Catalog>(path, millrace::dedupe::CatalogKey{"fuzz", "fuzz"});
    if (sqlite3_open(path.c_str(), &db) != SQLITE_OK) std::abort();
    sqlite3_exec(db, "PRAGMA synchronous = OFF", nullptr, nullptr, nullptr);
  }
  ~Tables() {
    catalog.reset();
    sqlite3_close(db);
    remove();
  }
  void remove() const {
    for (const char* suffix : {"", "-wal", "-shm"}) ::unlink((path + suffix).c_str());
    ::rmdir(folder.c_str());
  }
};

// Takes values off the input: a byte of type, then what the type needs; nothing when it is used up.
class Values {
 public:
  Values(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}
  bool empty() const { return at_ == end_; }
  std::uint8_t byte() { return empty() ? 0 : *at_++; }

  void bind(sqlite3_stmt* statement, int i) {
    const std::uint8_t type = byte();
    switch (type % 6) {
      case 0:
        sqlite3_bind_null(statement, i);
        break;
      case 1:
        sqlite3_bind_int64(statement, i, static_cast<std::int8_t>(byte()));
        break;
      case 2: {
        std::int64_t wide = 0;
        take(&wide, sizeof(wide));
        sqlite3_bind_int64(statement, i, wide);
        break;
      }
      case 3: {
        double real = 0;
        take(&real, sizeof(real));
        sqlite3_bind_double(statement, i, real);
        break;
      }
      default: {
        // Every other blob has the length of a content hash, so that rows pass for real ones.
        const std::size_t wanted = type % 2 == 0 ? 16 : byte();
        const std::size_t size = std::min<std::size_t>(wanted, static_cast<std::size_t>(end_ - at_));
        const auto* bytes = reinterpret_cast<const char*>(at_);
        if (type % 6 == 4) {
          sqlite3_bind_blob(statement, i, bytes, static_cast<int>(size), SQLITE_TRANSIENT);
        } else {
          sqlite3_bind_text(statement, i, bytes, static_cast<int>(size), SQLITE_TRANSIENT);
        }
        at_ += size;
      }
    }
  }

 private:
  void take(void* to, std::size_t size) {
    const std::size_t n = std::min<std::size_t>(size, static_cast<std::size_t>(end_ - at_));
    std::memcpy(to, at_, n);
    at_ += n;
  }

  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Tables tables;
  struct Table {
    const char* insert;
    int columns;
  };
  static constexpr Table kTables[] = {
      {"INSERT OR REPLACE INTO files VALUES (?,?,?,?,?,?,?,?)", 8},
      {"INSERT OR REPLACE INTO pictures VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", 15},
      {"INSERT OR REPLACE INTO thumbnails VALUES (?,?)", 2},
      {"INSERT OR REPLACE INTO scores VALUES (?,?,?,?,?)", 5},
      {"INSERT OR REPLACE INTO links VALUES (0,?,?,?,?)", 4},
      {"INSERT OR REPLACE INTO joined VALUES (0,?,?)", 2},
      {"INSERT OR REPLACE INTO not_duplicates VALUES (?,?)", 2},
  };
  sqlite3_exec(tables.db,
               "BEGIN; DELETE FROM files; DELETE FROM pictures; DELETE FROM thumbnails; DELETE FROM scores; "
               "DELETE FROM not_duplicates; DELETE FROM links; DELETE FROM joined;",
               nullptr, nullptr, nullptr);
  Values values(data, size);
  while (!values.empty()) {
    const Table& table = kTables[values.byte() % std::size(kTables)];
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(tables.db, table.insert, -1, &statement, nullptr) != SQLITE_OK) std::abort();
    for (int i = 1; i <= table.columns; ++i) values.bind(statement, i);
    sqlite3_step(statement);  // a row that breaks a constraint is not taken, and cannot be there
    sqlite3_finalize(statement);
  }
  if (sqlite3_exec(tables.db, "COMMIT", nullptr, nullptr, nullptr) != SQLITE_OK) std::abort();

  Catalog& catalog = *tables.catalog;
  catalog.for_each_file("", "\xFF", [](const CatalogFile& file) {
    if (file.failed && file.reason.empty()) std::abort();
  });
  std::vector<ContentHash> contents;
  std::vector<std::uint64_t> appearances;
  catalog.for_each_picture(std::nullopt, [&](const CatalogPicture& picture) {
    if (!picture.failed && (picture.width <= 0 || picture.height <= 0)) std::abort();
    contents.push_back(picture.content);
    appearances.push_back(picture.thumbnail_digest);
  });
  std::size_t found = 0;
  catalog.for_each_picture(contents, [&](const CatalogPicture& picture) {
    if (picture.content != contents[found++]) std::abort();
  });
  if (found != contents.size()) std::abort();
  for (const std::uint64_t thumbnail_digest : appearances) {
    if (const auto jpeg = catalog.thumbnail(thumbnail_digest)) (void)millrace::decode_thumbnail(*jpeg);
  }
  (void)catalog.compared_appearances(0);
  (void)catalog.scores();
  (void)catalog.confirmed_distinct();
  return 0;
}
