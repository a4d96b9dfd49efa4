#include "src/jobs/dedupe/stages/compared_lines.h"

#include <gtest/gtest.h>

#include <limits>

#include "src/jobs/dedupe/stages/compare_stage.h"
#include "src/jobs/dedupe/stages/stage_records.h"

namespace millrace::dedupe {
namespace {

ComparedBatch a_part(std::size_t rows) {
  ComparedBatch out;
  out.rule = 0xfedcba9876543210;
  // Appearances, in their order.
  for (std::size_t i = 0; i < rows * 8; ++i)
    out.compared_appearances.push_back(static_cast<std::uint8_t>(i % 8 == 6   ? i / 8 / 256
                                                                 : i % 8 == 5 ? i / 8 % 256
                                                                              : 0));
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

TEST(ComparedLinesParser, ComeBackAsTheyWere) {
  for (const std::size_t rows : {1, 100, 5000}) {
    const ComparedBatch part = a_part(rows);
    ComparedBatch scores;
    scores.scores = {{3, 5, 1, 0, 0.1F}, {4, 9, 1, 2, -0.0F}};
    ComparedLinesParser lines;
    const std::string text = format_lines(part) + format_lines(scores);
    for (const std::string& line : split(text + format_shard_end(0, text))) {
      ASSERT_LT(line.size(), kMaxLineBytes);
      ASSERT_TRUE(lines.add(line)) << line.substr(0, 80);
    }
    ASSERT_TRUE(lines.is_complete());
    ASSERT_EQ(lines.shards(), 1U);
    ASSERT_EQ(lines.complete_parts().size(), 2U);
    const ComparedBatch& again = lines.complete_parts().front();
    EXPECT_EQ(again.rule, part.rule);
    EXPECT_EQ(again.compared_appearances, part.compared_appearances);
    EXPECT_EQ(again.codes, part.codes);
    ASSERT_EQ(again.links.size(), part.links.size());
    for (std::size_t i = 0; i < rows; ++i) {
      const CatalogLink &is = again.links[i], &was = part.links[i];
      EXPECT_TRUE(is.a == was.a && is.b == was.b && is.kind == was.kind && is.score == was.score) << i;
    }
    EXPECT_EQ(lines.complete_parts().back().scores.at(1).kind, 2);
  }
}

TEST(ComparedLinesParser, NothingThatNoRunWritesIsTaken) {
  const std::vector<std::string> good = split(format_lines(a_part(2)) + format_shard_end(0, format_lines(a_part(2))));
  // A missing line makes the result incomplete.
  for (std::size_t left_out = 0; left_out < good.size(); ++left_out) {
    ComparedLinesParser lines;
    bool all = true;
    for (std::size_t i = 0; i < good.size(); ++i) all = all && (i == left_out || lines.add(good[i]));
    EXPECT_FALSE(all && lines.is_complete() && lines.shards() == 1) << good[left_out];
  }
  for (const char* bad :
       {"", "[]", "{}", "{\"rule\":1}", "{\"rule\":\"-1\",\"joined\":\"AA==\"}", "{\"rule\":\"1\",\"joined\":\"A\"}",
        "{\"rule\":\"1\",\"links\":\"AAAA\"}", "{\"scores\":\"AAAA\"}", "{\"shard\":1}", "{\"shard\":-1}",
        "{\"shard\":0.5}", "{\"rule\":\"1\",\"end\":[0,0,0]}", "{\"rule\":\"1\",\"end\":\"0\"}",
        "{\"rule\":\"1\",\"codes\":7}"}) {
    ComparedLinesParser lines;
    EXPECT_FALSE(lines.add(bad)) << bad;
  }
  // Links of a picture to itself, in the wrong order, of an invalid kind, and with a score that is not a number.
  for (const CatalogLink& link : {CatalogLink{5, 5, 1, 1}, CatalogLink{6, 5, 1, 1}, CatalogLink{5, 6, 3, 1},
                                  CatalogLink{5, 6, 1, std::numeric_limits<float>::quiet_NaN()}}) {
    ComparedBatch part = a_part(1);
    part.links = {link};
    ComparedLinesParser lines;
    bool all = true;
    for (const std::string& line : split(format_lines(part))) all = all && lines.add(line);
    EXPECT_FALSE(all);
  }
  // Rows that no catalog could hold: cut short, in another order, repeated, with too few codes.
  const auto taken = [](const ComparedBatch& part) {
    ComparedLinesParser lines;
    bool all = true;
    for (const std::string& line : split(format_lines(part))) all = all && lines.add(line);
    return all;
  };
  ComparedBatch part = a_part(3);
  EXPECT_TRUE(taken(part));
  part.compared_appearances.pop_back();
  EXPECT_FALSE(taken(part));
  part = a_part(3);
  std::swap(part.compared_appearances[5], part.compared_appearances[13]);
  EXPECT_FALSE(taken(part));
  part = a_part(3);
  part.compared_appearances[13] = part.compared_appearances[5];
  EXPECT_FALSE(taken(part));
  part = a_part(3);
  part.codes.resize(part.codes.size() - 848);
  EXPECT_FALSE(taken(part));
  // The hash in the last line of a shard does not match an edited line.
  const std::string text = format_lines(a_part(2));
  ComparedLinesParser lines;
  for (std::string line : split(text)) {
    line.insert(1, " ");
    ASSERT_TRUE(lines.add(line));
  }
  EXPECT_FALSE(lines.add(split(format_shard_end(0, text)).at(0)));
  EXPECT_TRUE(lines.complete_parts().empty());
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
