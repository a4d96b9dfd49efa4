#include "src/jobs/dedupe/page/duplicates_page.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/base/full_disk_for_test.h"
#include "src/base/json.h"
#include "src/base/text.h"

namespace millrace::dedupe {
namespace {

namespace fs = std::filesystem;

class PageTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "millrace-page-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string at(const std::string& name) const { return folder_ / name; }

  std::vector<std::string> names() const {
    std::vector<std::string> list;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      list.push_back(entry.path().filename());
    }
    std::sort(list.begin(), list.end());
    return list;
  }

  fs::path folder_;
};

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

PageHeader some_header() {
  PageHeader header;
  header.title = "Duplicates";
  header.folders = {"/photos"};
  header.files = 12;
  header.pictures = 11;
  header.groups = 1;
  header.reclaimable = 1000;
  header.unreadable = {{"/photos/broken.jpg", "the file is empty"}};
  header.damaged = {{"/photos/cut.jpg", "the file ends in the middle"}};
  header.rule = "The same picture.";
  return header;
}

PageMember some_member(const std::string& path) {
  PageMember member;
  member.path = path;
  member.size = 1000;
  member.width = 40;
  member.height = 30;
  member.mtime_ns = 1'700'000'000'123'456'789;
  member.hash = "00ff";
  member.thumb = "JPEG of " + path;
  return member;
}

PageGroup some_group(int number = 0) {
  PageGroup group;
  group.id = "g" + std::to_string(number);
  group.kind = GroupKind::similar;
  const std::string folder = "/photos/" + std::to_string(number);
  group.members = {some_member(folder + "/a.jpg"), some_member(folder + "/b.jpg")};
  group.members[0].keep = true;
  group.members[0].why = "most pixels";
  group.members[0].warning = "b.jpg has more stars";
  group.pairs = {{0, 1, 0.75, {{"phash", 4}, {"dhash", 3}}}};
  return group;
}

std::string write(const std::string& path, const std::vector<PageGroup>& groups,
                  Bytes limit = DuplicatesPage::kInlineLimit, const PageHeader& header = some_header()) {
  DuplicatesPage page(OutputTarget::overwrite_any_file(path), header, limit);
  for (const PageGroup& group : groups) page.add_group(group);
  page.finish();
  return read(path);
}

// Returns the values that the browser sees in the data scripts with this attribute.
std::vector<Json> data(const std::string& html, const std::string& attribute) {
  const std::string open = "<script type=\"application/json\" " + attribute + ">";
  std::vector<Json> list;
  for (std::size_t p = html.find(open); p != std::string::npos; p = html.find(open, p)) {
    p += open.size();
    list.push_back(Json::parse(html.substr(p, html.find("</script", p) - p)));
  }
  return list;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t p = text.find(part); p != std::string::npos; p = text.find(part, p + 1)) ++n;
  return n;
}

TEST_F(PageTest, carries_every_field) {
  PageGroup group = some_group();
  PageMember& member = group.members[1];
  member.date = "2020-02-29 12:00";
  member.camera = "Maker Model";
  member.damaged = true;
  member.reference = true;
  member.companions = {"/photos/0/b.xmp"};
  group.pairs.push_back({1, 0, std::numeric_limits<double>::quiet_NaN(), {}});
  const std::string html = write(at("r.html"), {group});

  const Json header = data(html, "id=\"header\"").at(0);
  EXPECT_EQ(header["title"], "Duplicates");
  EXPECT_EQ(header["folders"], Json({"/photos"}));
  EXPECT_EQ(header["totals"], Json({{"files", 12}, {"pictures", 11}, {"groups", 1}, {"reclaimable", 1000}}));
  EXPECT_EQ(header["unreadable"][0]["reason"], "the file is empty");
  EXPECT_EQ(header["damaged"][0]["path"], "/photos/cut.jpg");
  EXPECT_EQ(header["rule"], "The same picture.");
  EXPECT_EQ(header["thumbs"], "r.html.thumbs/");

  const Json out = data(html, "class=\"group\"").at(0);
  EXPECT_EQ(out["id"], "g0");
  EXPECT_EQ(out["kind"], "similar");
  EXPECT_EQ(out["members"][0]["keep"], true);
  EXPECT_EQ(out["members"][0]["why"], "most pixels");
  EXPECT_EQ(out["members"][0]["warning"], "b.jpg has more stars");
  EXPECT_FALSE(out["members"][0].contains("path_base64"));
  const Json& second = out["members"][1];
  EXPECT_EQ(second["path"], "/photos/0/b.jpg");
  EXPECT_EQ(second["size"], 1000);
  EXPECT_EQ(second["width"], 40);
  EXPECT_EQ(second["height"], 30);
  EXPECT_EQ(second["mtime_ns"], "1700000000123456789");
  EXPECT_EQ(second["date"], "2020-02-29 12:00");
  EXPECT_EQ(second["camera"], "Maker Model");
  EXPECT_EQ(second["hash"], "00ff");
  EXPECT_EQ(second["damaged"], true);
  EXPECT_EQ(second["reference"], true);
  EXPECT_EQ(second["companions"], Json({"/photos/0/b.xmp"}));
  EXPECT_EQ(out["pairs"][0], Json({{"a", 0}, {"b", 1}, {"score", 0.75}, {"distances", {{"dhash", 3}, {"phash", 4}}}}));
  EXPECT_TRUE(out["pairs"][1]["score"].is_null());

  const Json thumbs = data(html, "class=\"thumbs\"").at(0);
  EXPECT_EQ(from_base64(thumbs[1].get<std::string>()), group.members[1].thumb);
}

TEST_F(PageTest, hostile_names_stay_text) {
  const std::string evil = "/p/</script><img src=x onerror=alert(1)><!--<script>\n\"'\\&\x01";
  PageHeader header = some_header();
  header.title = "</title><img onerror=alert(2)>";
  header.folders = {evil};
  header.rule = evil;
  header.unreadable = {{evil, evil}};
  PageGroup group = some_group();
  group.id = evil;
  group.members[0].path = evil;
  group.members[0].camera = evil;
  group.members[0].why = evil;
  group.members[0].warning = evil;
  group.members[0].companions = {evil};
  group.pairs[0].distances = {{evil, 1}};
  const std::string plain = write(at("plain.html"), {some_group()});
  const std::string html = write(at("evil.html"), {group}, DuplicatesPage::kInlineLimit, header);

  for (const char* tag : {"<script", "</script", "<img", "<!--", "</title"}) {
    EXPECT_EQ(count(html, tag), count(plain, tag)) << tag;
  }
  EXPECT_EQ(data(html, "class=\"group\"").at(0)["members"][0]["path"], evil);
  EXPECT_NE(html.find("<title>&lt;/title&gt;&lt;img"), std::string::npos);
}

TEST_F(PageTest, a_path_that_is_not_utf8_keeps_its_bytes) {
  PageGroup group = some_group();
  group.members[0].path = "/p/caf\xE9.jpg";
  group.members[0].camera = "\xFF";
  const Json member = data(write(at("r.html"), {group}), "class=\"group\"").at(0)["members"][0];
  EXPECT_EQ(member["path"], "/p/caf\uFFFD.jpg");
  EXPECT_EQ(from_base64(member["path_base64"].get<std::string>()), "/p/caf\xE9.jpg");
}

TEST_F(PageTest, same_input_same_bytes) {
  const std::vector<PageGroup> groups = {some_group(1), some_group(2)};
  EXPECT_EQ(write(at("r.html"), groups), write(at("r.html"), groups));
  EXPECT_EQ(names(), std::vector<std::string>{"r.html"});
}

TEST_F(PageTest, identity_is_the_files_not_the_words) {
  const auto id = [&](const PageGroup& group) {
    return data(write(at("r.html"), {group}), "id=\"end\"").at(0)["id"].get<std::string>();
  };
  PageGroup other = some_group();
  other.members[0].why = "another reason";
  other.members[0].thumb = "another thumbnail";
  EXPECT_EQ(id(some_group()), id(other));
  other.members[0].hash = "00fe";
  EXPECT_NE(id(some_group()), id(other));
}

TEST_F(PageTest, a_page_without_groups) {
  const std::string html = write(at("r.html"), {});
  EXPECT_TRUE(data(html, "class=\"group\"").empty());
  EXPECT_EQ(html.substr(0, 15), "<!doctype html>");
  EXPECT_EQ(html.substr(html.size() - 8), "</html>\n");
}

TEST_F(PageTest, needs_no_network) {
  const std::string html = write(at("r.html"), {some_group()});
  EXPECT_EQ(count(html, "http://") + count(html, "https://"), 0U);
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
}

TEST_F(PageTest, thumbnails_past_the_limit_go_to_a_folder) {
  const PageGroup first = some_group(1);
  const std::uint64_t one = first.members[0].thumb.size() + first.members[1].thumb.size();
  const std::string name = "my report?.html";
  const std::string html = write(at(name), {first, some_group(2), some_group(3)}, Bytes{one + 1});
  const std::vector<Json> thumbs = data(html, "class=\"thumbs\"");
  EXPECT_TRUE(thumbs[0][0].is_string());
  EXPECT_EQ(thumbs[1], Json({0, 1}));
  EXPECT_EQ(thumbs[2], Json({2, 3}));
  EXPECT_EQ(data(html, "id=\"header\"").at(0)["thumbs"], "my%20report%3F.html.thumbs/");
  EXPECT_EQ(read(at(name + ".thumbs/0000/000003.jpg")), "JPEG of /photos/3/b.jpg");
  EXPECT_EQ(names(), (std::vector<std::string>{name, name + ".thumbs"}));

  // A second page with fewer thumbnails: the folder holds none of the former page.
  write(at(name), {first, some_group(2)}, Bytes{one});
  EXPECT_TRUE(fs::exists(at(name + ".thumbs/0000/000001.jpg")));
  EXPECT_FALSE(fs::exists(at(name + ".thumbs/0000/000002.jpg")));
  // A page without thumbnails in a folder removes the folder.
  write(at(name), {first});
  EXPECT_EQ(names(), std::vector<std::string>{name});
}

TEST_F(PageTest, a_thousand_thumbnails_a_folder) {
  std::vector<PageGroup> groups;
  groups.reserve(501);
  for (int i = 0; i < 501; ++i) groups.push_back(some_group(i));
  write(at("r.html"), groups, Bytes{0});
  EXPECT_TRUE(fs::exists(at("r.html.thumbs/0000/000999.jpg")));
  EXPECT_FALSE(fs::exists(at("r.html.thumbs/0000/001000.jpg")));
  EXPECT_TRUE(fs::exists(at("r.html.thumbs/0001/001001.jpg")));
}

TEST_F(PageTest, a_folder_that_is_not_ours_is_never_replaced) {
  fs::create_directories(at("r.html.thumbs"));
  std::ofstream(at("r.html.thumbs/diary.txt")) << "mine";
  try {
    write(at("r.html"), {some_group()}, Bytes{0});
    FAIL() << "replaced a folder with a diary in it";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, ErrorCode::conflict);
  }
  EXPECT_EQ(names(), std::vector<std::string>{"r.html.thumbs"});
  // The folder also stays if the page needs no folder.
  write(at("r.html"), {some_group()});
  EXPECT_EQ(read(at("r.html.thumbs/diary.txt")), "mine");
}

TEST_F(PageTest, nothing_is_seen_before_finish) {
  write(at("r.html"), {some_group(1)});
  const std::string former = read(at("r.html"));
  {
    DuplicatesPage page(OutputTarget::overwrite_any_file(at("r.html")), some_header(), Bytes{0});
    page.add_group(some_group(2));
    EXPECT_EQ(read(at("r.html")), former);
    EXPECT_FALSE(fs::exists(at("r.html.thumbs")));
  }
  EXPECT_EQ(read(at("r.html")), former);
  EXPECT_EQ(names(), std::vector<std::string>{"r.html"});
}

TEST_F(PageTest, the_former_thumbnails_come_back_with_the_former_page) {
  const std::string former = write(at("r.html"), {some_group(1)}, Bytes{0});
  DuplicatesPage page(OutputTarget::overwrite_any_file(at("r.html")), some_header(), Bytes{0});
  page.add_group(some_group(2));
  // The page cannot get its name: a folder takes it at the last moment.
  fs::rename(at("r.html"), at("away.html"));
  fs::create_directories(at("r.html/full"));
  EXPECT_THROW(page.finish(), Failure);
  EXPECT_EQ(read(at("r.html.thumbs/0000/000000.jpg")), "JPEG of /photos/1/a.jpg");
  EXPECT_EQ(read(at("away.html")), former);
}

TEST_F(PageTest, what_a_killed_run_left_is_passed_over) {
  const auto left_behind = [&] {
    DuplicatesPage page(OutputTarget::overwrite_any_file(at("r.html")), some_header(), Bytes{0});
    page.add_group(some_group());
    for (const std::string& name : names()) {
      if (name.find("thumbs") != std::string::npos) return name;
    }
    return std::string();
  };
  const std::string left = left_behind();
  const std::size_t digits = left.find_last_of('-') + 1;
  const std::string next = left.substr(0, digits) + std::to_string(std::stoi(left.substr(digits)) + 1);
  fs::create_directories(at(next) + "/fresh/0000");
  write(at("r.html"), {some_group()}, Bytes{0});
  EXPECT_EQ(names(), (std::vector<std::string>{next, "r.html", "r.html.thumbs"}));
}

TEST_F(PageTest, a_folder_that_cannot_be_written) {
  std::ofstream(at("file")) << "not a folder";
  for (const std::string& path : {at("missing/r.html"), at("file/r.html")}) {
    EXPECT_THROW(DuplicatesPage(OutputTarget::overwrite_any_file(path), some_header()), Failure) << path;
  }
  fs::create_directories(at("r.html"));
  EXPECT_THROW(DuplicatesPage(OutputTarget::overwrite_any_file(at("r.html")), some_header()), Failure);
  EXPECT_EQ(names(), (std::vector<std::string>{"file", "r.html"}));

  if (::geteuid() == 0) return;  // root may write anywhere
  fs::create_directories(at("locked"));
  fs::permissions(at("locked"), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_THROW(DuplicatesPage(OutputTarget::overwrite_any_file(at("locked/r.html")), some_header()), Failure);
  EXPECT_TRUE(fs::is_empty(at("locked")));
  fs::permissions(at("locked"), fs::perms::owner_all);
}

TEST_F(PageTest, a_full_disk_leaves_nothing) {
  const std::string former = write(at("r.html"), {some_group()});
  std::optional<ErrorCode> code;
  {
    FullDisk full(20'000);
    try {
      write(at("r.html"), {some_group(1)});
    } catch (const Failure& failure) {
      code = failure.error().code;
    }
  }
  EXPECT_EQ(code, ErrorCode::io);
  EXPECT_EQ(read(at("r.html")), former);
  EXPECT_EQ(names(), std::vector<std::string>{"r.html"});
}

TEST_F(PageTest, a_page_that_failed_never_comes_out) {
  PageGroup big = some_group();
  big.members[0].thumb.assign(100'000, 'x');
  DuplicatesPage page(OutputTarget::overwrite_any_file(at("r.html")), some_header(), Bytes{0});
  {
    FullDisk full(20'000);
    EXPECT_THROW(page.add_group(big), Failure);
  }
  EXPECT_THROW(page.add_group(some_group()), Failure);
  EXPECT_THROW(page.finish(), Failure);
  EXPECT_FALSE(fs::exists(at("r.html")));
}

TEST_F(PageTest, a_pair_must_name_two_members) {
  for (const PagePair& pair : {PagePair{0, 2, 1, {}}, PagePair{1, 1, 1, {}}}) {
    PageGroup group = some_group();
    group.pairs = {pair};
    DuplicatesPage page(OutputTarget::overwrite_any_file(at("r.html")), some_header());
    EXPECT_THROW(page.add_group(group), Failure);
  }
  EXPECT_TRUE(names().empty());
}

}  // namespace
}  // namespace millrace::dedupe
