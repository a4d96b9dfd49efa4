#include "src/jobs/dedupe/group/grouping.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "src/io/test_pictures.h"
#include "src/jobs/dedupe/match/packed_codes.h"

namespace millrace::dedupe {
namespace {

constexpr std::uint64_t kAppearance = 7;

struct Shown {
  std::string camera, taken, subsecond;
  std::uint64_t thumbnail_digest = kAppearance;
  int quality = 100;
};

// Reports all pictures as the same.
class AllTheSame : public PairComparator {
 public:
  void check(std::span<const PicturePair> pairs) override { compared_pairs_ += pairs.size(); }
  const Comparison* find(std::uint32_t, std::uint32_t) const override { return &same_; }
  std::uint64_t compared_pairs() const override { return compared_pairs_; }

 private:
  Comparison same_{
      .seen = true, .kind = detailed_check::DifferenceKind::same, .contained = detailed_check::Containment::both};
  std::uint64_t compared_pairs_ = 0;
};

// Library of pictures without files on disk; the number of a picture is its content and its name.
class GroupingTest : public testing::Test {
 protected:
  using Names = std::vector<std::vector<std::uint32_t>>;

  void add(const Shown& shown) {
    const auto number = static_cast<std::uint32_t>(library_.files.size());
    LibraryPicture picture;
    for (std::uint32_t byte = 0; byte < 4; ++byte)
      picture.data.content[byte] = static_cast<std::uint8_t>(number >> (24 - 8 * byte));
    picture.data.quality = shown.quality;
    picture.data.thumbnail_digest = shown.thumbnail_digest;
    picture.data.codes[0] = shown.quality > 0 ? shown.thumbnail_digest : 0;
    picture.data.camera = shown.camera;
    picture.data.taken = shown.taken;
    picture.data.subsecond = shown.subsecond;
    picture.files = {number};
    LibraryFile file;
    file.entry.path = fmt::format("/{:06}", number);
    file.entry.size = 1;
    file.picture = number;
    library_.pictures.push_back(std::move(picture));
    library_.files.push_back(std::move(file));
  }
  // Adds `count` shots, ten a second.
  void add_burst(const std::string& camera, int count, const std::function<std::uint64_t(int)>& thumbnail_digest) {
    for (int i = 0; i < count; ++i) {
      const int s = i / 10;
      add({camera, fmt::format("2024:05:01 {:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60), std::to_string(i % 10),
           thumbnail_digest(i)});
    }
  }
  void add_confirmed_distinct(std::uint32_t a, std::uint32_t b) {
    catalog_.put_confirmed_distinct(library_.pictures[a].data.content, library_.pictures[b].data.content);
    catalog_.flush();
  }
  // Writes a link as if an earlier run had found the two the same.
  void link(std::uint64_t a, std::uint64_t b) {
    std::vector<std::uint8_t> part;
    for (const std::uint64_t thumbnail_digest : {a, b})
      append_packed_codes(part, {thumbnail_digest, ThumbnailCodes{thumbnail_digest}});
    const std::vector<CatalogLink> links = {{a, b, 0, 0.9F}};
    ASSERT_TRUE(catalog_.put_compared_appearances(catalog_rule_key(parse_rule("auto", true)), 0, part, links));
  }
  Names names(const std::vector<Group>& groups, GroupKind kind) const {
    Names out;
    for (const Group& group : groups) {
      if (group.kind != kind) continue;
      out.emplace_back();
      for (const GroupMember& member : group.members) out.back().push_back(member.file);
      std::sort(out.back().begin(), out.back().end());
    }
    std::sort(out.begin(), out.end());
    return out;
  }
  void run() {
    result_.library = library_;
    result_.rule = parse_rule("auto", options_.verify);
    executor_.run([&] { find_groups(options_, result_, catalog_, comparator_, context_); });
  }
  Names similar() const { return names(result_.groups, GroupKind::similar); }
  Names related() const { return names(result_.related, GroupKind::related); }
  std::vector<std::size_t> bursts() const {
    std::vector<std::size_t> sizes;
    for (const auto& burst : names(result_.groups, GroupKind::burst)) sizes.push_back(burst.size());
    return sizes;
  }

  TestFolder folder_;
  Catalog catalog_{folder_.at("catalog.sqlite"), catalog_key()};
  DedupeOptions options_;
  Executor executor_{2};
  CancelToken cancel_;
  Trace trace_;
  Budget budget_{1_GiB};
  RunContext context_{executor_, cancel_, trace_, budget_};
  AllTheSame comparator_;
  Library library_;
  SearchResult result_;
};

std::uint64_t blank(int) { return kAppearance; }

TEST_F(GroupingTest, ShotsOfOneAppearanceAreGroupedWithWhatIsNotOfTheirBurst) {
  add_burst("A", 3, blank);
  add_burst("B", 4, blank);
  add({});
  run();
  EXPECT_EQ(similar(), (Names{{0, 3, 7}, {1, 4}, {2, 5}})) << "the first of each, the second of each";
  // Pictures that could as well be in the first group, though not all of them; 6 is among them, which has no group.
  EXPECT_EQ(related(), (Names{{0, 4}, {0, 5}, {0, 6}}));
  EXPECT_EQ(bursts(), (std::vector<std::size_t>{3, 4}));
  options_.group = GroupMode::connected;
  result_ = {};
  run();
  EXPECT_EQ(similar(), (Names{{0, 1, 2, 3, 4, 5, 6, 7}}));
}

TEST_F(GroupingTest, PicturesOfOneAppearanceCanBeConfirmedDistinct) {
  for (int i = 0; i < 5; ++i) add({});
  add_confirmed_distinct(1, 2);
  add_confirmed_distinct(1, 3);
  run();
  EXPECT_EQ(similar(), (Names{{0, 1, 4}, {2, 3}}));
  EXPECT_EQ(related(), (Names{{0, 2, 4}}));
  options_.verify = false;
  result_ = {};
  run();
  EXPECT_EQ(similar(), (Names{{0, 1, 4}, {2, 3}}));
}

TEST_F(GroupingTest, HashesThatSayNothingGroupNothing) {
  for (const std::uint64_t thumbnail_digest : {kAppearance, kAppearance + 1, kAppearance})
    add({"", "", "", thumbnail_digest, 0});
  options_.verify = false;
  run();
  EXPECT_EQ(similar(), (Names{{0, 2}})) << "only what has one appearance";
}

TEST_F(GroupingTest, ACopyWithoutFractionsJoinsOneShotOfItsSecond) {
  for (const char* fraction : {"", "1", "5", "5"}) add({"A", "2024:05:01 12:00:00", fraction});
  add({"A", "2024:05:01 12:00:01", ""});
  add({"A", "2024:05:01 12:00:01", "25"});
  add({"A", "2024:05:01 12:00:01", "75"});
  run();
  EXPECT_EQ(similar(), (Names{{0, 1}, {2, 3}, {4, 5}}));
}

TEST_F(GroupingTest, TwentyThousandFramesOfOneAppearance) {
  constexpr int kMany = 20'000;
  add_burst("A", kMany, blank);
  for (int i = 0; i < kMany; ++i) add({"B", "2024:05:01 12:00:00", fmt::format("{:05}", i)});
  for (int i = 0; i < kMany; ++i) add({});
  run();
  EXPECT_EQ(similar().size(), static_cast<std::size_t>(kMany)) << "a shot of each; the first with all the others";
  EXPECT_EQ(related().size(), static_cast<std::size_t>(kMany - 1));
  EXPECT_EQ(bursts(), (std::vector<std::size_t>{kMany, kMany}));
}

TEST_F(GroupingTest, TwoThousandBurstsOfOneAppearance) {
  for (int burst = 0; burst < 2000; ++burst) add_burst(std::to_string(burst), 10, blank);
  for (const bool verify : {true, false}) {
    options_.verify = verify;
    result_ = {};
    run();
    EXPECT_EQ(similar().size(), 10U);
    EXPECT_EQ(related().size(), 9U);
  }
}

TEST_F(GroupingTest, OneBurstOfTwoAppearances) {
  constexpr int kMany = 20'000;
  add_burst("A", kMany, [](int i) { return kAppearance + static_cast<std::uint64_t>(i % 2); });
  add({"", "", "", kAppearance + 1});
  link(kAppearance, kAppearance + 1);
  run();
  EXPECT_EQ(similar(), (Names{{1, kMany}})) << "shots are kept apart, and only one may have what is of no burst";
  EXPECT_EQ(related().size(), static_cast<std::size_t>(kMany - 1));
}

}  // namespace
}  // namespace millrace::dedupe
