#include "src/io/store/pair_lists.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>

#include "src/io/store/dataset_for_test.h"
#include "src/io/tensor/npy.h"

namespace millrace {
namespace {

using namespace for_test;
using Row = std::array<std::uint32_t, 3>;  // i, j, distance

std::string bytes_of(const std::vector<Row>& rows) {
  std::string out;
  for (const auto& [i, j, distance] : rows) {
    out.append(reinterpret_cast<const char*>(&i), 4).append(reinterpret_cast<const char*>(&j), 4);
    out += static_cast<char>(distance);
  }
  return out;
}

class PairLists : public ::testing::Test {
 protected:
  TemporaryFolder folder_{"pair_lists"};
  std::vector<std::string> parts_;

  void part(const std::string& bytes) {
    parts_.push_back(folder_ / ("part" + std::to_string(parts_.size())));
    PairListWriter list(parts_.back());
    list.append(std::as_bytes(std::span(bytes)));
    list.finish();
    list.commit();
  }
  std::string merged() {
    const std::string out = folder_ / "pairs.npy";
    merge_pair_lists(parts_, out, [] {});
    const npy::Header header = npy::read_header(out).or_throw();
    EXPECT_EQ(header.item_bytes(), kPairRowBytes);
    const std::string text = text_in(out);
    EXPECT_EQ(text.size(), header.data_offset + header.items() * kPairRowBytes);
    return text.substr(header.data_offset);
  }
  void expect_refused(const char* words) {
    try {
      merged();
      FAIL() << "it was merged";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.error().code, ErrorCode::bad_data);
      EXPECT_NE(failure.error().what.find(words), std::string::npos) << failure.error().what;
    }
    EXPECT_FALSE(std::filesystem::exists(folder_ / "pairs.npy"));
  }
};

TEST_F(PairLists, ManyListsOfManyPairsAreOneList) {
  std::mt19937 random(3);
  std::vector<Row> all;
  for (std::uint32_t i = 0; i < 90'000; ++i) {
    // Rows are beyond 31 bits, and several pairs have the same i.
    for (std::uint32_t j = 0; j < random() % 3; ++j) all.push_back({i * 40'000u, i * 40'000u + 1 + 7 * j, j});
  }
  std::vector<std::vector<Row>> lists(37);
  for (const Row& row : all) lists[random() % (lists.size() - 1)].push_back(row);
  std::shuffle(lists.begin(), lists.end(), random);  // one of them is empty
  for (const auto& list : lists) part(bytes_of(list));
  EXPECT_EQ(merged(), bytes_of(all));
}

TEST_F(PairLists, NothingIsAListOfNothing) {
  EXPECT_EQ(merged(), "");
  part("");
  EXPECT_EQ(merged(), "");
}

TEST_F(PairLists, APairThatTwoHaveIsRefused) {
  part(bytes_of({{0, 1, 2}, {3, 4, 5}}));
  part(bytes_of({{0, 2, 2}, {3, 4, 5}, {9, 10, 1}}));
  expect_refused("also in");
}

TEST_F(PairLists, WhatIsNotSortedOrCutShortIsRefused) {
  part(bytes_of({{0, 2, 2}, {0, 1, 2}}));
  expect_refused("not sorted");
  parts_.clear();
  part(bytes_of({{0, 2, 2}, {0, 2, 2}}));
  expect_refused("not sorted");
  parts_.clear();
  part(bytes_of({{2, 1, 2}}));
  expect_refused("not sorted");
}

TEST_F(PairLists, AListThatLostPairsOrHasOthersIsRefused) {
  const std::string rows = bytes_of({{0, 1, 2}, {3, 4, 5}, {3, 5, 6}});
  part(rows);
  EXPECT_TRUE(is_pair_list(parts_[0]));
  EXPECT_FALSE(is_pair_list(folder_ / "none"));
  const std::string whole = text_in(parts_[0]);
  for (const std::string& damaged : {whole.substr(0, whole.size() - 9), whole.substr(9), whole + "x", std::string()}) {
    std::ofstream(parts_[0], std::ios::binary | std::ios::trunc) << damaged;
    EXPECT_FALSE(is_pair_list(parts_[0]));
    expect_refused("differs from the list");
  }
  std::string other = whole;
  other[8] = 1;  // another distance
  std::ofstream(parts_[0], std::ios::binary | std::ios::trunc) << other;
  expect_refused("differs from the list");
}

}  // namespace
}  // namespace millrace
