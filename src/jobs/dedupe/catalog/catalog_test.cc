#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

#include "src/jobs/dedupe/catalog/catalog_for_test.h"

namespace millrace::dedupe {
namespace {

using testing::HasSubstr;

TEST_F(CatalogTest, EveryFieldComesBack) {
  const std::vector<std::uint8_t> jpeg = {0, 1, 255, 0};
  {
    Catalog catalog(path(), kCatalogKey);
    catalog.put(picture(1), jpeg);
    CatalogPicture failed;
    failed.content = content(2);
    failed.failed = true;
    failed.code = ErrorCode::bad_data;
    failed.reason = "not a picture";
    catalog.put(failed, {});
    catalog.put(CatalogFile{"/a/\xFF\nb", 1ULL << 40, -5, false, {}, "", content(1)});
    catalog.put(CatalogFile{"/b", 0, 7, true, ErrorCode::io, "cannot be read", {}});
    catalog.put(std::array{CatalogScore{3, 0x9000000000000001, 5, 2, 0.625F}});
    catalog.put_confirmed_distinct(content(2), content(1));
    catalog.flush();
    catalog.flush();
  }
  Catalog catalog(path(), kCatalogKey);
  const auto pictures = pictures_of(catalog);
  ASSERT_EQ(pictures.size(), 2U);
  const CatalogPicture& p = pictures[0].failed ? pictures[1] : pictures[0];
  const CatalogPicture& q = pictures[0].failed ? pictures[0] : pictures[1];
  const CatalogPicture expected = picture(1);
  EXPECT_EQ(p.content, expected.content);
  EXPECT_FALSE(p.failed);
  EXPECT_EQ(p.damage, expected.damage);
  EXPECT_EQ(p.format, 3);
  EXPECT_EQ(p.width, 4001);
  EXPECT_EQ(p.height, 3000);
  EXPECT_EQ(p.quality, 77);
  EXPECT_EQ(p.codes, expected.codes);
  EXPECT_EQ(p.taken, expected.taken);
  EXPECT_EQ(p.subsecond, "250");
  EXPECT_EQ(p.camera, expected.camera);
  EXPECT_EQ(p.exif_fields, 42);
  EXPECT_EQ(p.thumbnail_digest, expected.thumbnail_digest);
  EXPECT_TRUE(q.failed);
  EXPECT_EQ(q.code, ErrorCode::bad_data);
  EXPECT_EQ(q.reason, "not a picture");
  EXPECT_EQ(catalog.thumbnail(expected.thumbnail_digest), jpeg);
  EXPECT_EQ(catalog.thumbnail(2), std::nullopt);
  const auto files = files_of(catalog);
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].path, "/a/\xFF\nb");
  EXPECT_EQ(files[0].size, 1ULL << 40);
  EXPECT_EQ(files[0].mtime_ns, -5);
  EXPECT_EQ(files[0].content, content(1));
  EXPECT_TRUE(files[1].failed);
  EXPECT_EQ(files[1].code, ErrorCode::io);
  EXPECT_EQ(files[1].reason, "cannot be read");
  const auto scores = catalog.scores();
  ASSERT_EQ(scores.size(), 1U);
  EXPECT_EQ(scores[0].b, 0x9000000000000001);
  EXPECT_EQ(scores[0].orientation, 5);
  EXPECT_EQ(scores[0].kind, 2);
  EXPECT_EQ(scores[0].score, 0.625F);
  ASSERT_EQ(catalog.confirmed_distinct().size(), 1U);
  EXPECT_EQ(catalog.confirmed_distinct()[0].first, content(1)) << "the smaller first";
}

TEST_F(CatalogTest, RecordsOfContentsComeBack) {
  const std::vector<std::uint8_t> verdict(CatalogComparison::kMaxBytes, 0xFE), provenance = {0, 255, 1};
  {
    Catalog catalog(path(), kCatalogKey);
    catalog.put(CatalogComparison{content(1), content(2), 3, {7}});
    catalog.put(CatalogComparison{content(1), content(2), 4, verdict});  // the later one is kept
    catalog.put(CatalogOrigin{content(1), 9, provenance});
    catalog.flush();
  }
  Catalog catalog(path(), kCatalogKey);
  const auto comparison = catalog.comparison(content(1), content(2));
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->version, 4U);
  EXPECT_EQ(comparison->verdict, verdict);
  EXPECT_FALSE(catalog.comparison(content(1), content(3)));
  const auto origin = catalog.origin(content(1));
  ASSERT_TRUE(origin);
  EXPECT_EQ(origin->version, 9U);
  EXPECT_EQ(origin->provenance, provenance);
  EXPECT_FALSE(catalog.origin(content(2)));
}

TEST_F(CatalogTest, NotDuplicatesCanBeTakenBack) {
  {
    Catalog catalog(path(), kCatalogKey);
    catalog.put_confirmed_distinct(content(1), content(2));
    catalog.put_confirmed_distinct(content(1), content(3));
    catalog.flush();
    catalog.drop_confirmed_distinct(content(2), content(1));
    catalog.drop_confirmed_distinct(content(8), content(9));
    EXPECT_EQ(catalog.confirmed_distinct().size(), 2U) << "at the next flush";
    catalog.flush();
  }
  const auto left = Catalog(path(), kCatalogKey).confirmed_distinct();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].second, content(3));
}

TEST_F(CatalogTest, AKillLosesOnlyWhatWasNotFlushed) {
  const pid_t child = ::fork();
  if (child == 0) {
    Catalog catalog(path(), kCatalogKey);
    catalog.put(picture(1), {1});
    catalog.flush();
    catalog.put(picture(2), {2});
    ::kill(::getpid(), SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  Catalog catalog(path(), kCatalogKey);
  ASSERT_EQ(pictures_of(catalog).size(), 1U);
  EXPECT_EQ(pictures_of(catalog)[0].content, content(1));
}

TEST_F(CatalogTest, TwoRunsShareOne) {
  // The processes create the catalog at the same time, and write to it in turn.
  constexpr int kProcesses = 6, kEach = 15;
  std::vector<pid_t> children;
  for (int c = 0; c < kProcesses; ++c) {
    const pid_t child = ::fork();
    if (child == 0) {
      int status = 0;
      try {
        Catalog catalog(path(), kCatalogKey);
        for (int i = 0; i < kEach; ++i) {
          catalog.put(picture(c * kEach + i), {1});
          catalog.put(picture(1000), {2});
          catalog.flush();
        }
      } catch (const Failure& failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        status = 1;
      }
      ::_exit(status);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  Catalog catalog(path(), kCatalogKey);
  EXPECT_EQ(pictures_of(catalog).size(), static_cast<std::size_t>(kProcesses * kEach + 1));
}

TEST_F(CatalogTest, OtherFilesAreRefusedAndLeftAlone) {
  const std::string text = folder_.write("text", std::string(5000, 'x'));
  const Error not_sqlite = failure(text);
  EXPECT_EQ(not_sqlite.code, ErrorCode::bad_data);
  EXPECT_THAT(not_sqlite.subject, HasSubstr("text"));
  EXPECT_FALSE(not_sqlite.remedy.empty());

  std::filesystem::create_directories(folder_.at("deep/er"));
  edit("CREATE TABLE bookmarks (url TEXT); PRAGMA application_id = 77");
  const auto read = [&] {
    std::ifstream in(path(), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string before = read();
  const Error other = failure(path());
  EXPECT_EQ(other.code, ErrorCode::bad_data);
  EXPECT_THAT(other.remedy, HasSubstr("--catalog"));
  EXPECT_EQ(read(), before);
  EXPECT_EQ(failure(folder_.at("deep/er")).code, ErrorCode::conflict);
}

TEST_F(CatalogTest, BrokenPagesAreAFailureWithARemedyOrNoHarm) {
  {
    Catalog catalog(path(), kCatalogKey);
    for (int i = 0; i < 300; ++i) {
      catalog.put(picture(i), std::vector<std::uint8_t>(600, 7));
      catalog.put(CatalogFile{"/photos/" + std::to_string(i), 1, 1, false, {}, "", content(i)});
    }
    catalog.flush();
  }
  std::ifstream in(path(), std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(in), {}};
  ASSERT_GT(good.size(), 100'000U);
  int failed = 0;
  for (std::size_t page = 0; page * 4096 < good.size(); ++page) {
    std::string bad = good;
    for (std::size_t i = 0; i < 300; ++i) bad[page * 4096 + 100 + i] = static_cast<char>(i * 7 + page);
    for (const char* suffix : {"-wal", "-shm"}) std::filesystem::remove(path() + suffix);
    std::ofstream(path(), std::ios::binary) << bad;
    const Error error = failure(path());
    if (error.what.empty()) continue;
    ++failed;
    EXPECT_THAT(error.subject, HasSubstr("catalog.sqlite"));
    EXPECT_FALSE(error.remedy.empty());
  }
  EXPECT_GT(failed, 3);
  std::ofstream(path(), std::ios::binary) << good.substr(0, good.size() / 2);
  const Error cut = failure(path());
  EXPECT_EQ(cut.code, ErrorCode::bad_data);
  EXPECT_THAT(cut.remedy, HasSubstr("move the file away"));
}

TEST_F(CatalogTest, UnshownContentIsKeptAndUnknownInOlderRows) {
  const std::vector<UnshownData> all = {{}, {true, false, false, false}, {false, true, true, true}};
  for (const auto& unshown : all) {
    Catalog catalog(path(), kCatalogKey);
    CatalogPicture one = picture(1);
    one.unshown = unshown;
    catalog.put(one, {1});
    catalog.flush();
    EXPECT_EQ(catalog.picture(one.content)->unshown, unshown);
  }
  for (const char* value : {"NULL", "16", "-1", "99999999999"}) {
    edit(std::string("UPDATE pictures SET unshown = ") + value);
    Catalog catalog(path(), kCatalogKey);
    ASSERT_EQ(pictures_of(catalog).size(), 1U);
    EXPECT_EQ(pictures_of(catalog)[0].unshown, std::nullopt) << value;
  }
  edit("ALTER TABLE pictures DROP COLUMN unshown; PRAGMA user_version = 4");
  Catalog catalog(path(), kCatalogKey);
  ASSERT_EQ(pictures_of(catalog).size(), 1U) << "nothing is read again";
  EXPECT_EQ(pictures_of(catalog)[0].unshown, std::nullopt);
}

TEST_F(CatalogTest, RowsThatWeCannotHaveWrittenArePassedOver) {
  {
    Catalog catalog(path(), kCatalogKey);
    catalog.put(picture(1), {1});
    catalog.put(CatalogFile{"/good", 1, 1, false, {}, "", content(1)});
    catalog.flush();
  }
  const std::string id = "x'000102030405060708090a0b0c0d0e0f'";
  // Rows of wrong types, short blobs, numbers out of range, and missing values.
  edit("INSERT INTO files VALUES ('text', 'many', 3.5, NULL, NULL, x'00', NULL, NULL)");
  edit("INSERT INTO files VALUES (x'01', -1, 9223372036854775807, 3, '', " + id + ", 'no number', 2)");
  edit("INSERT INTO files VALUES (x'02', 1, 1, 99999999999, 'why', NULL, NULL, NULL)");
  edit("INSERT INTO files VALUES (x'03', 1, 1, -1, 'why', NULL, NULL, NULL)");
  for (const char* values :
       {"NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL", "NULL,'','',1,10,10,50,x'00','','','',0,0",
        "NULL,'','',1,-5,10,50,zeroblob(48),'','','',0,0", "NULL,'','',1,99999999999,10,50,zeroblob(48),'','','',0,0",
        "NULL,'','',1,10,10,101,zeroblob(48),'','','',0,0", "NULL,'','',1,10,10,50,zeroblob(48),'','','',-1,0",
        "'x',x'',x'',1,10,10,50,zeroblob(48),1,2,3,0,0", "77,'why','',1,10,10,50,zeroblob(48),1,2,3,0,0",
        "NULL,'','',-1,10,10,50,zeroblob(48),'','','',0,0"}) {
    edit("INSERT OR REPLACE INTO pictures VALUES (" + id + "," + values + ",NULL)");
    Catalog catalog(path(), kCatalogKey);
    EXPECT_EQ(pictures_of(catalog).size(), 1U) << values;
  }
  edit(
      "INSERT INTO scores VALUES (1, 2, 300, 1, 0.5), (3, 3, 0, 1, 0.5), (1, 2, 1, 1, 9e999), ('x', x'00', 1, 1, 1), "
      "(1, 4, 1, 1, 7.0), (1, 5, 1, 1, -5.0)");
  // Blobs with an empty and a too large count, an appearance paired with itself, invalid scores, a truncated blob, and
  // values that are no blobs.
  for (const char* packed : {"x'01000000000000000100000000'", "x'0100000000000000FFFFFFFF02000000'",
                             "x'0100000000000000010000000100000000000000100000003F'",
                             "x'010000000000000001000000020000000000000010000080FF'",
                             "x'0100000000000000010000000200000000000000100000E040'", "x'01'", "''", "77"})
    edit(std::string("INSERT INTO packed_scores (scores) VALUES (") + packed + ")");
  edit("INSERT INTO links VALUES (7, 1, 2, 300, 0.5), (7, 4, 3, 0, 0.5), (7, 1, 3, 1, 9e999), (7, 1, 4, 1, 7.0)");
  edit("INSERT INTO joined VALUES (7, 0, 'no blob')");
  edit("INSERT INTO not_duplicates VALUES ('a', 'b')");
  edit("INSERT OR REPLACE INTO thumbnails VALUES (" +
       std::to_string(static_cast<std::int64_t>(picture(1).thumbnail_digest)) + ", 'not a blob')");
  Catalog catalog(path(), kCatalogKey);
  EXPECT_EQ(files_of(catalog).size(), 1U);
  EXPECT_TRUE(catalog.scores().empty());
  EXPECT_TRUE(catalog.confirmed_distinct().empty());
  EXPECT_TRUE(catalog.compared_appearances(7).links.empty());
  (void)catalog.thumbnail(picture(1).thumbnail_digest);
}

TEST_F(CatalogTest, PicturesAreFoundByContent) {
  Catalog catalog(path(), kCatalogKey);
  std::vector<ContentHash> all, wanted;
  for (int i = 0; i < 1000; ++i) {
    CatalogPicture p = picture(1);
    p.content = {};
    p.content[0] = static_cast<std::uint8_t>(i >> 8);
    p.content[1] = static_cast<std::uint8_t>(i & 255);
    // A quarter of the pictures is missing; another quarter is not asked for.
    if (i % 4 != 0) catalog.put(p, {});
    if (i % 4 != 1) wanted.push_back(p.content);
    if (i % 4 > 1) all.push_back(p.content);
  }
  catalog.flush();
  const auto found = [&](const std::vector<ContentHash>& contents) {
    std::vector<ContentHash> out;
    catalog.for_each_picture(contents, [&](const CatalogPicture& p) { out.push_back(p.content); });
    return out;
  };
  EXPECT_EQ(found(wanted), all);
  // Pictures far apart, the first and the last among them.
  EXPECT_EQ(found({all[0], all[200], all.back()}), (std::vector<ContentHash>{all[0], all[200], all.back()}));
  EXPECT_TRUE(found({}).empty());
  EXPECT_TRUE(found({wanted[0]}).empty());
  ASSERT_TRUE(catalog.picture(all[7]));
  EXPECT_EQ(catalog.picture(all[7])->content, all[7]);
  EXPECT_FALSE(catalog.picture(wanted[0]));
}

TEST_F(CatalogTest, RowsThatAreNoPicturesDoNotHoldUpTheSearch) {
  {
    Catalog catalog(path(), kCatalogKey);
    catalog.put(picture(9), {});
    catalog.flush();
  }
  for (int i = 0; i < 20; ++i) {
    edit("INSERT INTO pictures (content) VALUES (x'80" + std::string(32, '0') + std::to_string(10 + i) + "')");
  }
  Catalog catalog(path(), kCatalogKey);
  std::vector<ContentHash> wanted = {content(1), content(9)};
  std::sort(wanted.begin(), wanted.end());
  int found = 0;
  catalog.for_each_picture(wanted, [&](const CatalogPicture&) { ++found; });
  EXPECT_EQ(found, 1);
}

TEST_F(CatalogTest, FilesOfAFolder) {
  Catalog catalog(path(), kCatalogKey);
  for (const char* name : {"/a", "/a/b", "/a/c/d", "/a-b/c", "/a0", "/b"}) {
    catalog.put(CatalogFile{name, 1, 1, false, {}, "", content(1)});
  }
  catalog.flush();
  std::vector<std::string> names;
  catalog.for_each_file("/a/", "/a0", [&](const CatalogFile& file) { names.push_back(file.path); });
  EXPECT_EQ(names, (std::vector<std::string>{"/a/b", "/a/c/d"}));
  catalog.put(CatalogFile{"/c", 1ULL << 40, 1, false, {}, "", content(1)});
  catalog.put(CatalogFile{"/d", 3, 1, true, ErrorCode::io, "cannot be read", {}});
  catalog.flush();
  std::map<std::uint64_t, int> sizes;
  catalog.for_each_size([&](std::uint64_t size) { ++sizes[size]; });
  EXPECT_EQ(sizes, (std::map<std::uint64_t, int>{{1, 6}, {1ULL << 40, 1}}));
}

TEST_F(CatalogTest, OnlyTheFirstPutsAPart) {
  Catalog one(path(), kCatalogKey), two(path(), kCatalogKey);
  const std::vector<std::uint8_t> a = {1, 2, 3}, b = {4};
  EXPECT_TRUE(one.put_compared_appearances(7, 0, a, std::vector<CatalogLink>{{1, 0x9000000000000001, 1, 0.5F}}));
  EXPECT_FALSE(two.put_compared_appearances(7, 0, b, std::vector<CatalogLink>{{5, 6, 0, 1}}))
      << "what it knew was out of date";
  EXPECT_TRUE(two.put_compared_appearances(7, 1, b, {}));
  EXPECT_TRUE(two.put_compared_appearances(8, 0, b, {}));
  const ComparedAppearances join = one.compared_appearances(7);
  EXPECT_EQ(join.parts, (std::vector<std::vector<std::uint8_t>>{a, b}));
  ASSERT_EQ(join.links.size(), 1U);
  EXPECT_EQ(join.links[0].b, 0x9000000000000001);
  EXPECT_EQ(join.links[0].kind, 1);
  EXPECT_EQ(join.links[0].score, 0.5F);
}

TEST_F(CatalogTest, FoldersAreMadeAndTheirFailureIsNamed) {
  folder_.write("file", "");
  try {
    Catalog catalog(folder_.at("file/catalog.sqlite"), kCatalogKey);
    ADD_FAILURE();
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("file"));
  }
}

}  // namespace
}  // namespace millrace::dedupe
