#include "src/jobs/job.h"

#include <gtest/gtest.h>

namespace millrace {
namespace {

Plan some_plan() {
  Plan plan;
  plan.lines = {{"files", "3"}, {"", "a line by itself"}};
  plan.figures = {{"files", 3}};
  plan.threads = 2;
  plan.in_flight = 8;
  plan.memory = {{"the program", 10_MiB}, {"nothing", {}}, {"files in flight", 6_MiB}};
  plan.allowed = 1_GiB;
  plan.seconds = 2;
  plan.timed_step = "reading";
  return plan;
}

TEST(Job, APlanIsALineAThing) {
  EXPECT_EQ(text_of(some_plan()),
            "files:      3\n"
            "a line by itself\n"
            "threads:    2\n"
            "in flight:  8 at once\n"
            "memory:     about 16 MiB of 1.0 GiB allowed: 10 MiB the program, 6.0 MiB files in flight\n"
            "time:       about 2.0 s for reading\n");
  EXPECT_EQ(text_of({}), "");
}

TEST(Job, AProgramReadsTheSamePlan) {
  const auto json = Json::parse(json_of(some_plan(), "some"));
  EXPECT_EQ(json["millrace"], "some");
  EXPECT_EQ(json["plan"]["files"], 3);
  EXPECT_EQ(json["plan"]["device"], "cpu");
  EXPECT_EQ(json["plan"]["in_flight"], 8);
  EXPECT_EQ(json["plan"]["memory"]["needed"], (16_MiB).count);
  EXPECT_EQ(json["plan"]["memory"]["allowed"], (1_GiB).count);
  EXPECT_EQ(json["plan"]["memory"]["purposes"]["files in flight"], (6_MiB).count);
  EXPECT_EQ(json["plan"]["seconds"], 2.0);
  EXPECT_TRUE(Json::parse(json_of({}, "some"))["plan"].empty());
}

}  // namespace
}  // namespace millrace
