#include "src/jobs/dedupe/stages/compared_lines.h"

#include <gtest/gtest.h>

#include <limits>

#include "src/jobs/dedupe/stages/compare_stage.h"
#include "src/jobs/dedupe/stages/records.h"

namespace millrace::dedupe {
namespace {

ComparedPart a_part(std::size_t rows) {
  ComparedPart out;
  out.rule = 0xfedcba9876543210;
  // Appearances, in their order.
  for (std::size_t i = 0; i < rows * 8; ++i)
    out.joined.push_back(static_cast<std::uint8_t>(i % 8 == 6 ? i / 8 / 256 : i % 8 == 5 ? i / 8 % 256 : 0));
  for (std::size_t i = 0; i < rows * 848; ++i) out.codes.push_back(static_cast<std::uint8_t>(i * 13));
  for (std::uint64_t i = 0; i < rows; ++i)
    out.links.push_back({i, ~i, static_cast<std::uint8_t>(1 + i % 2), 1.0F / static_cast<float>(i + 3)});
  return out;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

TEST(ComparedLines, ComeBackAsTheyWere) {
  for (const std::size_t rows : {1, 100, 5000}) {
    const ComparedPart part = a_part(rows);
    ComparedPart scores;
    scores.scores = {{3, 5, 1, 0, 0.1F}, {4, 9, 1, 2, -0.0F}};
    ComparedLines lines;
    const std::string text = lines_of(part) + lines_of(scores);
    for (const std::string& line : split(text + line_of_shard(0, text))) {
      ASSERT_LT(line.size(), kLongestLine);
      ASSERT_TRUE(lines.add(line)) << line.substr(0, 80);
    }
    ASSERT_TRUE(lines.at_end());
    ASSERT_EQ(lines.shards(), 1U);
    ASSERT_EQ(lines.whole().size(), 2U);
    const ComparedPart& again = lines.whole().front();
    EXPECT_EQ(again.rule, part.rule);
    EXPECT_EQ(again.joined, part.joined);
    EXPECT_EQ(again.codes, part.codes);
    ASSERT_EQ(again.links.size(), part.links.size());
    for (std::size_t i = 0; i < rows; ++i) {
      const CatalogLink &is = again.links[i], &was = part.links[i];
      EXPECT_TRUE(is.a == was.a && is.b == was.b && is.kind == was.kind && is.score == was.score) << i;
    }
    EXPECT_EQ(lines.whole().back().scores.at(1).kind, 2);
  }
}

TEST(ComparedLines, NothingThatNoRunWritesIsTaken) {
  const std::vector<std::string> good = split(lines_of(a_part(2)) + line_of_shard(0, lines_of(a_part(2))));
  // A missing line makes the result incomplete.
  for (std::size_t left_out = 0; left_out < good.size(); ++left_out) {
    ComparedLines lines;
    bool all = true;
    for (std::size_t i = 0; i < good.size(); ++i) all = all && (i == left_out || lines.add(good[i]));
    EXPECT_FALSE(all && lines.at_end() && lines.shards() == 1) << good[left_out];
  }
  for (const char* bad :
       {"", "[]", "{}", "{\"rule\":1}", "{\"rule\":\"-1\",\"joined\":\"AA==\"}", "{\"rule\":\"1\",\"joined\":\"A\"}",
        "{\"rule\":\"1\",\"links\":\"AAAA\"}", "{\"scores\":\"AAAA\"}", "{\"shard\":1}", "{\"shard\":-1}",
        "{\"shard\":0.5}", "{\"rule\":\"1\",\"end\":[0,0,0]}", "{\"rule\":\"1\",\"end\":\"0\"}",
        "{\"rule\":\"1\",\"codes\":7}"}) {
    ComparedLines lines;
    EXPECT_FALSE(lines.add(bad)) << bad;
  }
  // Links of a picture to itself, in the wrong order, of an invalid kind, and with a score that is not a number.
  for (const CatalogLink& link : {CatalogLink{5, 5, 1, 1}, CatalogLink{6, 5, 1, 1}, CatalogLink{5, 6, 3, 1},
                                  CatalogLink{5, 6, 1, std::numeric_limits<float>::quiet_NaN()}}) {
    ComparedPart part = a_part(1);
    part.links = {link};
    ComparedLines lines;
    bool all = true;
    for (const std::string& line : split(lines_of(part))) all = all && lines.add(line);
    EXPECT_FALSE(all);
  }
  // Rows that no catalog could hold: cut short, in another order, repeated, with too few codes.
  const auto taken = [](const ComparedPart& part) {
    ComparedLines lines;
    bool all = true;
    for (const std::string& line : split(lines_of(part))) all = all && lines.add(line);
    return all;
  };
  ComparedPart part = a_part(3);
  EXPECT_TRUE(taken(part));
  part.joined.pop_back();
  EXPECT_FALSE(taken(part));
  part = a_part(3);
  std::swap(part.joined[5], part.joined[13]);
  EXPECT_FALSE(taken(part));
  part = a_part(3);
  part.joined[13] = part.joined[5];
  EXPECT_FALSE(taken(part));
  part = a_part(3);
  part.codes.resize(part.codes.size() - 848);
  EXPECT_FALSE(taken(part));
  // The hash in the last line of a shard does not match an edited line.
  const std::string text = lines_of(a_part(2));
  ComparedLines lines;
  for (std::string line : split(text)) {
    line.insert(1, " ");
    ASSERT_TRUE(lines.add(line));
  }
  EXPECT_FALSE(lines.add(split(line_of_shard(0, text)).at(0)));
  EXPECT_TRUE(lines.whole().empty());
}

TEST(CompareStage, ShardsCoverAllRowsOnceAndHaveAsManyPairs) {
  for (const std::uint64_t rows : {0, 1, 2, 77, 100'000}) {
    for (const std::uint64_t shards : {1, 2, 7, 200}) {
      EXPECT_EQ(first_row_of(0, shards, rows), 0U);
      EXPECT_EQ(first_row_of(shards, shards, rows), rows);
      for (std::uint64_t k = 0; k < shards; ++k) {
        const auto begin = static_cast<double>(first_row_of(k, shards, rows)),
                   end = static_cast<double>(first_row_of(k + 1, shards, rows));
        EXPECT_LE(begin, end);
        if (rows < 1000) continue;
        const double pairs = (end * end - begin * begin) / static_cast<double>(rows * rows);
        EXPECT_NEAR(pairs * static_cast<double>(shards), 1, 0.02);
      }
    }
  }
}

}  // namespace
}  // namespace millrace::dedupe
