#include "src/jobs/segment/suspects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::segment {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Returns a setup with one class, or with several classes that exclude each other.
Setup setup_of(std::size_t classes, std::size_t models = 1) {
  Setup out;
  out.models.resize(models);
  out.heads.resize(1);
  out.heads[0].classes = model::make_unnamed_classes(classes);
  return out;
}

PictureResult picture(const std::vector<std::uint64_t>& pixels) {
  PictureResult out;
  out.width = out.height = 100;
  out.heads.resize(1);
  for (const std::uint64_t each : pixels) out.heads[0].classes.push_back({each, 0, 0});
  return out;
}

std::vector<std::string> why(const std::vector<PictureResult>& pictures, const Setup& setup, std::size_t k) {
  for (const Suspect& each : rank_suspects(pictures, setup))
    if (each.picture == k) return each.why;
  return {"not there"};
}

TEST(Suspects, AllAreThereAndThoseWithoutAReasonStayInTheirOrder) {
  std::vector<PictureResult> pictures(20, picture({1000}));
  pictures[7].damage = "cut";
  const auto found = rank_suspects(pictures, setup_of(1));
  ASSERT_EQ(found.size(), 20U);
  EXPECT_EQ(found[0].picture, 7U);
  for (std::size_t k = 1; k < 20; ++k) {
    EXPECT_EQ(found[k].picture, k <= 7 ? k - 1 : k);
    EXPECT_THAT(found[k].why, IsEmpty());
  }
}

TEST(Suspects, NothingFoundIsWrongWhereMostHaveSomething) {
  std::vector<PictureResult> pictures(10, picture({1000}));
  pictures[4] = picture({0});
  EXPECT_EQ(rank_suspects(pictures, setup_of(1))[0].picture, 4U);
  // Most images have no lesions: then an empty mask is not flagged, and no image comes first.
  std::vector<PictureResult> healthy(10, picture({0}));
  healthy[3] = picture({50});
  EXPECT_EQ(rank_suspects(healthy, setup_of(1))[0].weight, 0);
  // The first of several exclusive classes is the background: an image with nothing else is empty.
  pictures.assign(10, picture({9000, 1000}));
  pictures[2] = picture({10000, 0});
  EXPECT_THAT(why(pictures, setup_of(2), 2), Contains("nothing found"));
}

TEST(Suspects, AnAreaFarFromTheOthers) {
  std::vector<PictureResult> pictures;
  for (std::uint64_t k = 0; k < 12; ++k) pictures.push_back(picture({1000 + 10 * k}));
  pictures[5] = picture({6000});
  EXPECT_THAT(why(pictures, setup_of(1), 5), Contains(HasSubstr("covers 60 %, where 11 % is usual")));
  for (const std::size_t k : {0U, 4U, 11U}) EXPECT_THAT(why(pictures, setup_of(1), k), IsEmpty());
  // A few images do not show what is usual.
  pictures.resize(7);
  EXPECT_THAT(why(pictures, setup_of(1), 5), IsEmpty());
}

TEST(Suspects, WhatReachesTheEdgeWhereMostDoNot) {
  std::vector<PictureResult> pictures(10, picture({1000}));
  pictures[1].heads[0].classes[0].at_edge = 3;
  EXPECT_THAT(why(pictures, setup_of(1), 1), Contains(HasSubstr("reaches the edge")));
  // Vessels reach the edge in most images.
  for (PictureResult& each : pictures) each.heads[0].classes[0].at_edge = 3;
  EXPECT_THAT(why(pictures, setup_of(1), 1), IsEmpty());
}

TEST(Suspects, NetworksThatDisagreeMoreThanOfOthers) {
  std::vector<PictureResult> pictures(10, picture({1000}));
  for (std::size_t k = 0; k < 10; ++k) pictures[k].heads[0].votes = {20 + k, 1000};
  pictures[6].heads[0].votes = {300, 1000};
  const auto setup = setup_of(1, 2);
  EXPECT_EQ(rank_suspects(pictures, setup)[0].picture, 6U);
  EXPECT_THAT(why(pictures, setup, 6), Contains("models disagree on 30 %"));
  EXPECT_FALSE(is_disagreement_common(pictures, 0));
  // If networks disagree on all images, the networks are the cause, and no image is flagged.
  for (PictureResult& each : pictures) each.heads[0].votes = {900, 1000};
  EXPECT_THAT(why(pictures, setup, 6), Not(Contains(HasSubstr("disagree"))));
  EXPECT_TRUE(is_disagreement_common(pictures, 0));
}

}  // namespace
}  // namespace millrace::segment
