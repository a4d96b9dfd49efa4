// Tests of catalogs that other users made or could have made.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>

#include "src/jobs/dedupe/catalog/catalog_for_test.h"

namespace millrace::dedupe {
namespace {

using testing::HasSubstr;

using CatalogTrust = CatalogTest;

TEST_F(CatalogTrust, IsMadeForItsOwnerAlone) {
  const mode_t mask = ::umask(0);
  {
    std::optional<Catalog> catalog;
    EXPECT_NO_THROW(catalog.emplace(path(), kCatalogKey));
    ::umask(mask);
    ASSERT_TRUE(catalog);
    catalog->put(picture(1), {});
    catalog->flush();
    for (const char* part : {"", "-wal", "-shm"}) {
      struct stat info {};
      if (::stat((path() + part).c_str(), &info) != 0) continue;
      EXPECT_EQ(info.st_mode & 0777, 0600U) << part;
    }
  }
}

TEST_F(CatalogTrust, LinksAndWhatOthersMayWriteAreRefusedBeforeSqliteSeesThem) {
  { const Catalog made(path(), kCatalogKey); }
  const std::string link = folder_.at("deep/er/link.sqlite");
  std::filesystem::create_symlink(folder_.at("elsewhere.sqlite"), link);
  EXPECT_EQ(failure(link).code, ErrorCode::conflict);
  EXPECT_FALSE(std::filesystem::exists(folder_.at("elsewhere.sqlite")));
  for (const char* part : {"", "-wal", "-shm", "-journal"}) {
    if (*part != '\0') std::ofstream(path() + part, std::ios::app).flush();
    ::chmod((path() + part).c_str(), 0666);
    EXPECT_THAT(failure(path()).message(), HasSubstr("can write to it")) << part;
    EXPECT_THAT(failure(path()).message(), HasSubstr("--trust-files")) << part;
    ::chmod((path() + part).c_str(), 0600);
  }
  const std::string folder = folder_.at("deep/er");
  ::chmod(folder.c_str(), 0777);
  EXPECT_THAT(failure(path()).message(), HasSubstr("can write to its folder"));
  EXPECT_NO_THROW(Catalog(path(), kCatalogKey, {Trust::files, {}}));
  ::chmod(folder.c_str(), 0700);
  EXPECT_NO_THROW(Catalog(path(), kCatalogKey));
}

// SQLite would delete the file that a journal names as its super-journal.
TEST_F(CatalogTrust, AJournalThatNamesAnotherFileIsRefused) {
  { const Catalog made(path(), kCatalogKey); }
  const std::string victim = folder_.write("thesis.tex", "precious");
  const std::string magic("\xD9\xD5\x05\xF9\x20\xA1\x63\xD7", 8);
  std::string journal = magic + std::string(504, '\0') + victim;
  journal += std::string("\0\0\0", 3) + static_cast<char>(victim.size()) + std::string(4, '\0') + magic;
  folder_.write("deep/er/catalog.sqlite-journal", journal);
  for (const Trust trust : {Trust::checked, Trust::files}) {
    try {
      const Catalog opened(path(), kCatalogKey, {trust, {}});
      ADD_FAILURE() << "it was opened";
    } catch (const Failure& failure) {
      EXPECT_THAT(failure.what(), HasSubstr("names another file"));
    }
  }
  EXPECT_TRUE(std::filesystem::exists(victim));
}

TEST_F(CatalogTrust, TriggersViewsAndVirtualTablesAreRefused) {
  for (const char* sql : {"CREATE TRIGGER t AFTER INSERT ON files BEGIN SELECT 1; END",
                          "CREATE VIEW v AS SELECT * FROM files", "CREATE VIRTUAL TABLE w USING fts5(a)",
                          "CREATE INDEX i ON files (length(path))", "CREATE TABLE c (a CHECK (length(a) > 0))",
                          "CREATE TABLE d (a DEFAULT (random()))", "CREATE TABLE g (a, b AS (a || a))"}) {
    std::filesystem::remove_all(path());
    { const Catalog made(path(), kCatalogKey); }
    edit(sql);
    const Error error = failure(path());
    EXPECT_EQ(error.code, ErrorCode::bad_data) << sql;
    EXPECT_THAT(error.message(), HasSubstr("triggers, views, virtual tables"));
    EXPECT_THAT(error.remedy, HasSubstr("--catalog"));
  }
}

// A lost link is a duplicate that no report shows.
TEST_F(CatalogTrust, WhatIsJoinedIsForgottenWhereARowWasLostOrEdited) {
  const std::vector<std::uint8_t> first = {1, 2, 3}, second = {4, 5}, codes = {6, 7, 8, 9};
  const std::vector<CatalogLink> links = {{1, 2, 0, 0.9F}, {1, 0x9000000000000001, 1, 0.5F}}, more = {{2, 3, 0, 1}};
  const auto put_all = [&](Catalog& catalog) {
    for (const std::uint64_t rule : {7U, 8U}) {
      ASSERT_TRUE(catalog.put_compared_appearances(rule, 0, first, links, codes));
      ASSERT_TRUE(catalog.put_compared_appearances(rule, 1, second, more));
    }
  };
  {
    Catalog catalog(path(), kCatalogKey);
    put_all(catalog);
    EXPECT_EQ(catalog.compared_appearances(7).links.size(), 3U);
    EXPECT_EQ(catalog.compared_codes(7, 0, codes.size()), codes);
  }
  for (const char* sql :
       {"DELETE FROM links WHERE rule = 7 AND a = 2", "DELETE FROM links WHERE rule = 7",
        "UPDATE links SET score = 0.25 WHERE rule = 7 AND a = 2", "UPDATE links SET kind = 2 WHERE rule = 7 AND a = 2",
        "UPDATE links SET b = 4 WHERE rule = 7 AND a = 2", "UPDATE links SET score = 7 WHERE rule = 7 AND a = 2",
        "INSERT INTO links VALUES (7, 5, 6, 0, 1)", "DELETE FROM joined WHERE rule = 7 AND part = 0",
        "DELETE FROM joined WHERE rule = 7 AND part = 1", "DELETE FROM joined WHERE rule = 7",
        "UPDATE joined SET looks = x'0405FF' WHERE rule = 7 AND part = 1",
        "UPDATE joined SET looks = x'' WHERE rule = 7 AND part = 1", "INSERT INTO joined VALUES (7, 2, x'0A')",
        "DELETE FROM joined_sums WHERE rule = 7 AND part = 1", "DELETE FROM joined_sums WHERE rule = 7",
        "UPDATE joined_sums SET links = 0 WHERE rule = 7"}) {
    std::filesystem::remove_all(folder_.at("deep"));
    Catalog catalog(path(), kCatalogKey);
    put_all(catalog);
    edit(sql);
    const ComparedAppearances join = catalog.compared_appearances(7);
    EXPECT_TRUE(join.parts.empty() && join.links.empty()) << sql;
    EXPECT_TRUE(catalog.compared_codes(7, 0, codes.size()).empty()) << sql;
    EXPECT_EQ(catalog.compared_appearances(8).links.size(), 3U) << sql;
    // The batches are written again, from the first one on.
    EXPECT_TRUE(catalog.put_compared_appearances(7, 0, first, links, codes)) << sql;
    EXPECT_EQ(catalog.compared_appearances(7).links.size(), 2U) << sql;
  }
  Catalog catalog(path(), kCatalogKey);
  for (const char* sql :
       {"UPDATE joined_codes SET codes = x'06070800' WHERE rule = 8",
        "UPDATE joined_codes SET codes = x'0607' WHERE rule = 8", "DELETE FROM joined_codes WHERE rule = 8"}) {
    edit(sql);
    EXPECT_TRUE(catalog.compared_codes(8, 0, codes.size()).empty()) << sql;
    EXPECT_EQ(catalog.compared_appearances(8).parts.size(), 2U) << "codes are made again from the thumbnails";
  }
}

// Reading a hostile file without end stops when the job is cancelled; data written then are not lost.
TEST_F(CatalogTrust, CancelEndsWhatReadsAndNoWrite) {
  std::atomic<bool> stop{false};
  const CatalogAccess access{Trust::checked, [&] { return stop.load(); }};
  Catalog catalog(path(), kCatalogKey, access);
  for (int i = 0; i < 20'000; ++i) catalog.put(CatalogFile{"/p/" + std::to_string(i), 1, 1, false, {}, "", content(i)});
  stop = true;
  catalog.flush();
  try {
    catalog.for_each_size([](std::uint64_t) {});
    ADD_FAILURE() << "it was read to its end";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, ErrorCode::cancelled);
  }
  stop = false;
  EXPECT_EQ(files_of(catalog).size(), 20'000U);
  ASSERT_TRUE(catalog.file("/p/7"));
  EXPECT_EQ(catalog.file("/p/7")->content, content(7));
  EXPECT_FALSE(catalog.file("/p/none"));
}

}  // namespace
}  // namespace millrace::dedupe
