// Catalogues that others made or could have made.
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
    EXPECT_THAT(failure(path()).message(), HasSubstr("may be written by others")) << part;
    EXPECT_THAT(failure(path()).message(), HasSubstr("--trust-files")) << part;
    ::chmod((path() + part).c_str(), 0600);
  }
  const std::string folder = folder_.at("deep/er");
  ::chmod(folder.c_str(), 0777);
  EXPECT_THAT(failure(path()).message(), HasSubstr("its folder may be written by others"));
  EXPECT_NO_THROW(Catalog(path(), kCatalogKey, {Trust::files, {}}));
  ::chmod(folder.c_str(), 0700);
  EXPECT_NO_THROW(Catalog(path(), kCatalogKey));
}

// SQLite would remove the file that a journal names as the one of a larger transaction.
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
    EXPECT_THAT(error.message(), HasSubstr("triggers, views, virtual tables or conditions"));
    EXPECT_THAT(error.remedy, HasSubstr("--catalog"));
  }
}

// What reads a hostile file without end stops when the job is told to stop; what is written then is not lost.
TEST_F(CatalogTrust, CancelEndsWhatReadsAndNoWrite) {
  std::atomic<bool> stop{false};
  const CatalogAccess access{Trust::checked, [&] { return stop.load(); }};
  Catalog catalog(path(), kCatalogKey, access);
  for (int i = 0; i < 20'000; ++i) catalog.put(CatalogFile{"/p/" + std::to_string(i), 1, 1, false, {}, "", content(i)});
  stop = true;
  catalog.flush();
  try {
    catalog.each_size([](std::uint64_t) {});
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
