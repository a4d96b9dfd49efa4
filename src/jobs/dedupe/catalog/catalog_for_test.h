// Fixtures that the tests of the catalog share: rows to write, and a catalog that another program may edit.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "src/io/test_pictures.h"
#include "src/jobs/dedupe/catalog/catalog.h"

namespace millrace::dedupe {

inline const CatalogKey kCatalogKey = {"key", "verdicts"};

inline ContentHash content(int seed) {
  ContentHash hash{};
  for (std::size_t i = 0; i < hash.size(); ++i) hash[i] = static_cast<std::uint8_t>(seed * 17 + static_cast<int>(i));
  return hash;
}

inline CatalogPicture picture(int seed) {
  CatalogPicture p;
  p.content = content(seed);
  p.damage = "da\nmage";
  p.format = 3;
  p.width = 4000 + seed;
  p.height = 3000;
  p.quality = 77;
  p.codes = {0xFFFFFFFFFFFFFFFF, 1, 0x8000000000000000, static_cast<std::uint64_t>(seed)};
  p.taken = "2024:05:01 12:30:00";
  p.subsecond = "250";
  p.camera = "Maker \xFF\"'; DROP TABLE files;";
  p.exif_fields = 42;
  p.thumbnail_digest = 0x9000000000000000 + static_cast<std::uint64_t>(seed);
  return p;
}

inline std::vector<CatalogFile> files_of(Catalog& catalog) {
  std::vector<CatalogFile> files;
  catalog.for_each_file("", "\xFF", [&](const CatalogFile& file) { files.push_back(file); });
  return files;
}

inline std::vector<CatalogPicture> pictures_of(Catalog& catalog) {
  std::vector<CatalogPicture> pictures;
  catalog.for_each_picture(std::nullopt, [&](const CatalogPicture& picture) { pictures.push_back(picture); });
  return pictures;
}

class CatalogTest : public testing::Test {
 protected:
  std::string path() const { return folder_.at("deep/er/catalog.sqlite"); }

  // Runs SQL on the file as another program would.
  void edit(const std::string& sql) const {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &db), SQLITE_OK);
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &error), SQLITE_OK) << error << " in " << sql;
    sqlite3_close(db);
  }

  Error failure(const std::string& at) const {
    try {
      Catalog catalog(at, kCatalogKey);
      (void)files_of(catalog);
      (void)pictures_of(catalog);
    } catch (const Failure& failure) {
      return failure.error();
    }
    return {};
  }

  TestFolder folder_;
};

}  // namespace millrace::dedupe
