#include "src/trace/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "src/base/json.h"

namespace millrace {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Verdict, NamesTheBusiestStageForItsWidth) {
  // The stage decode is busy for longer in total, but on four threads; write has one thread and is never idle.
  const std::string text = verdict_of({{"walk", 1, 100, 0, 0.1, 0, ""},
                                       {"decode", 4, 100, 400'000'000, 24, 0, "more --threads"},
                                       {"write", 1, 100, 50 << 20, 10, 2.5, "a faster disk"}},
                                      10);
  EXPECT_THAT(text, StartsWith("limited by write (busy 100 % of the time on 1 thread, 5.0 MiB/s)"));
  EXPECT_THAT(text, HasSubstr("it waited 2.5 s"));
  EXPECT_THAT(text, HasSubstr("other stages: walk 0.1 s, decode 24.0 s"));
  EXPECT_THAT(text, HasSubstr("to try: a faster disk"));
  EXPECT_THAT(text, Not(HasSubstr("--threads")));
}

// A stage that waits for a device looks busy all the time but is not the limit.
TEST(Verdict, TransfersOrTheDeviceLimitWhoWaitsForThem) {
  const StageTotals join{"join", 1, 1, 0, 9.8, 0, "more threads"};
  EXPECT_THAT(verdict_of({join, {kToDevice, 1, 9, 6'000'000'000, 6, 0, ""}, {kOnDevice, 1, 9, 0, 1, 0, ""}}, 10),
              StartsWith("limited by transfers (to device, 60 % of the time"));
  EXPECT_THAT(verdict_of({join, {kToDevice, 1, 9, 1000, 1, 0, ""}, {kOnDevice, 1, 9, 0, 8, 0, ""}}, 10),
              StartsWith("limited by the device (busy 80 % of the time"));
  EXPECT_THAT(verdict_of({join, {kOnDevice, 1, 9, 0, 1, 0, ""}}, 10), StartsWith("limited by join"));
}

TEST(Verdict, ManyThreads) {
  const std::string text =
      verdict_of({{"read", 1, 10, 0, 1, 7.25, ""}, {"decode", 4, 10, 0, 38, 0, "fewer pixels"}}, 10);
  EXPECT_THAT(text, StartsWith("limited by decode (busy 95 % of the time on 4 threads)"));
  EXPECT_THAT(text, HasSubstr("read 1.0 s (waited 7.2 s)"));
  EXPECT_THAT(text, HasSubstr("to try: fewer pixels"));
}

TEST(Verdict, OddTimes) {
  EXPECT_EQ(verdict_of({}, 10), "nothing was measured");
  EXPECT_EQ(verdict_of({{"read", 1, 0, 0, 1, 0, ""}}, 0), "nothing was measured");
  // Clocks of several threads may add up to slightly more than the elapsed time.
  EXPECT_THAT(verdict_of({{"read", 1, 1, 0, 10.4, 0, ""}}, 10), HasSubstr("busy 100 %"));
  EXPECT_THAT(verdict_of({{"read", 1, 1, 5, 0, 0, ""}}, 10), HasSubstr("busy 0 %"));
}

TEST(Trace, CountsItemsAndBytes) {
  Trace trace;
  Trace::Stage& stage = trace.stage("decode", 3, "try this");
  EXPECT_EQ(&trace.stage("decode"), &stage);
  for (int i = 0; i < 5; ++i) {
    Span span(stage);
    span.stage().add_bytes(10);
    const WaitSpan wait(span);
  }
  stage.add_items(2);
  const auto totals = trace.totals();
  ASSERT_EQ(totals.size(), 1U);
  EXPECT_EQ(totals[0].name, "decode");
  EXPECT_EQ(totals[0].width, 3);
  EXPECT_EQ(totals[0].items, 7U);
  EXPECT_EQ(totals[0].bytes, 50U);
  EXPECT_EQ(totals[0].remedy, "try this");
  EXPECT_GE(totals[0].busy_s, 0);
  EXPECT_GE(totals[0].waited_s, 0);
  EXPECT_LE(totals[0].busy_s + totals[0].waited_s, trace.elapsed_s() + 1e-6);
}

TEST(Trace, ChromeJsonHasTheSpansOfEveryThread) {
  Trace trace(true);
  Trace::Stage& read = trace.stage("read");
  Trace::Stage& decode = trace.stage("dec\"ode\n", 2);
  {
    Span span(read);
    span.stage().add_bytes(4096);
    const WaitSpan wait(span);
  }
  std::thread([&] { const Span span(decode); }).join();
  std::thread([&] { const Span span(decode); }).join();

  const auto json = Json::parse(trace.chrome_json());
  std::map<std::string, int> spans;
  std::map<int, int> threads;
  bool counted = false;
  for (const auto& event : json.at("traceEvents")) {
    const std::string phase = event.at("ph").text();
    if (phase == "X") {
      ++spans[event.at("name").text()];
      EXPECT_GE(event.at("ts").get<double>(), 0);
      EXPECT_GE(event.at("dur").get<double>(), 0);
    }
    if (phase == "M") ++threads[event.at("tid").get<int>()];
    if (phase == "C" && event.at("name") == "read totals") {
      counted = true;
      EXPECT_EQ(event.at("args").at("items"), 1);
      EXPECT_EQ(event.at("args").at("bytes"), 4096);
    }
  }
  EXPECT_EQ(spans, (std::map<std::string, int>{{"read", 1}, {"read (waiting)", 1}, {"dec\"ode\n", 2}}));
  EXPECT_EQ(threads.size(), 3U);
  EXPECT_TRUE(counted);
}

TEST(Trace, OneThreadWorksForTwoRunsInTurns) {
  Trace first(true), second(true);
  for (int i = 0; i < 3; ++i) {
    { const Span span(first.stage("of the first")); }
    { const Span span(second.stage("of the second")); }
  }
  for (const auto& [trace, own, other] :
       {std::tuple{&first, "of the first", "of the second"}, std::tuple{&second, "of the second", "of the first"}}) {
    const auto events = Json::parse(trace->chrome_json())["traceEvents"];
    const auto count = [&](const char* name) {
      return std::count_if(events.begin(), events.end(),
                           [&](const auto& e) { return e["ph"] == "X" && e["name"] == name; });
    };
    EXPECT_EQ(count(own), 3);
    EXPECT_EQ(count(other), 0);
  }
}

TEST(Trace, SpansAreKeptOnlyWhenAsked) {
  Trace trace;
  { const Span span(trace.stage("read")); }
  const auto json = Json::parse(trace.chrome_json());
  for (const auto& event : json.at("traceEvents")) EXPECT_NE(event.at("ph"), "X");
  EXPECT_EQ(trace.totals()[0].items, 1U);
}

}  // namespace
}  // namespace millrace
