// Tests of what remains of a catalog that another version of the program made.
#include <gmock/gmock.h>

#include "src/jobs/dedupe/catalog/catalog_for_test.h"

namespace millrace::dedupe {
namespace {

using testing::HasSubstr;

// Writes a catalog with a row in each table.
void fill(const std::string& path, const CatalogKey& key) {
  Catalog catalog(path, key);
  catalog.put(picture(1), {1});
  catalog.put(CatalogFile{"/a", 1, 1, false, {}, "", content(1)});
  catalog.put(std::array{CatalogScore{1, 2, 0, 1, 1}});
  EXPECT_TRUE(
      catalog.put_compared_appearances(7, 0, std::vector<std::uint8_t>{1}, std::vector<CatalogLink>{{1, 2, 0, 1}}));
  catalog.put_confirmed_distinct(content(1), content(2));
  catalog.flush();
}

class CatalogVersions : public CatalogTest {
 protected:
  // Checks which of these rows remain under `key`.
  void expect(const CatalogKey& key, bool pictures, bool verdicts) const {
    Catalog catalog(path(), key);
    EXPECT_EQ(pictures_of(catalog).size(), pictures ? 1U : 0U);
    EXPECT_EQ(catalog.thumbnail(picture(1).thumbnail_digest).has_value(), pictures);
    EXPECT_EQ(catalog.scores().size(), verdicts ? 1U : 0U);
    EXPECT_EQ(catalog.compared_appearances(7).parts.size(), verdicts ? 1U : 0U);
    EXPECT_EQ(catalog.compared_appearances(7).links.size(), verdicts ? 1U : 0U);
    EXPECT_EQ(files_of(catalog).size(), 1U);
    EXPECT_EQ(catalog.confirmed_distinct().size(), 1U) << "what a person decided stays";
  }
};

TEST_F(CatalogVersions, PicturesReadInAnotherWayAreDropped) {
  fill(path(), {"old", "verifier"});
  expect({"old", "verifier"}, true, true);
  expect({"new", "verifier"}, false, false);
}

TEST_F(CatalogVersions, AnotherVerifierDropsOnlyVerdicts) {
  fill(path(), {"key", "old"});
  expect({"key", "new"}, true, false);
  expect({"key", "old"}, true, false);
}

TEST_F(CatalogVersions, TheSecondSchemaHadBothKeysInOne) {
  const auto older = [&] {
    std::filesystem::remove_all(folder_.at("deep"));
    fill(path(), {"how, and more", "verifier 1"});
    edit("DELETE FROM meta; INSERT INTO meta VALUES ('key', 'how, and more, verifier 1'); PRAGMA user_version = 2");
  };
  older();
  expect({"how, and more", "verifier 1"}, true, true);
  older();
  expect({"how, and more", "verifier 2"}, true, false);
  older();
  expect({"how", "verifier 1"}, false, false);
}

TEST_F(CatalogVersions, ANewerSchemaIsAConflict) {
  { const Catalog catalog(path(), kCatalogKey); }
  edit("PRAGMA user_version = 99");
  const Error error = failure(path());
  EXPECT_EQ(error.code, ErrorCode::conflict);
  EXPECT_THAT(error.what, HasSubstr("newer version"));
}

TEST_F(CatalogVersions, AnotherVersionThatTakesOverEndsAnOlderRun) {
  for (const CatalogKey& key : {CatalogKey{"new", "verdicts"}, CatalogKey{"key", "new"}}) {
    Catalog older(path(), kCatalogKey);
    older.put(picture(1), {1});
    const Catalog newer(path(), key);
    EXPECT_THROW(older.flush(), Failure);
    EXPECT_THROW(older.put_compared_appearances(7, 0, std::vector<std::uint8_t>{1}, {}), Failure);
  }
}

TEST_F(CatalogVersions, TablesOfTheFirstSchemaAreMadeAnew) {
  std::filesystem::create_directories(folder_.at("deep/er"));
  edit(
      "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
      "CREATE TABLE files (path BLOB PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, code INTEGER, "
      "reason TEXT, content BLOB) WITHOUT ROWID;"
      "CREATE TABLE pictures (content BLOB PRIMARY KEY); CREATE TABLE thumbnails (content BLOB PRIMARY KEY);"
      "CREATE TABLE scores (a BLOB, b BLOB);"
      "INSERT INTO files VALUES (x'2F61', 1, 1, NULL, NULL, x'000102030405060708090a0b0c0d0e0f');"
      "PRAGMA application_id = " +
      std::to_string(0x6D726163) + "; PRAGMA user_version = 1");
  Catalog catalog(path(), kCatalogKey);
  catalog.put(picture(1), {1});
  catalog.flush();
  EXPECT_EQ(pictures_of(catalog).size(), 1U);
  EXPECT_EQ(files_of(catalog).size(), 1U) << "files are still what they were";
}

}  // namespace
}  // namespace millrace::dedupe
