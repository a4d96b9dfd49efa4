#include "src/jobs/dedupe/apply/decisions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::dedupe {
namespace {

using testing::HasSubstr;

constexpr const char* kHash = "000102030405060708090a0b0c0d0e0f";

std::string entry(const std::string& more = "", const std::string& path = "/p/a.jpg") {
  return R"({"group": "g", "action": "remove", "path": ")" + path + R"(", "size": 5, "mtime_ns": "-7", "hash": ")" +
         kHash + "\"" + more + "}";
}
std::string file(const std::string& entries, const std::string& more = "") {
  return "{\"millrace_decisions\": 1, \"decisions\": [" + entries + "]" + more + "}";
}
std::string problem(const std::string& text) {
  const auto parsed = parse_decisions(text);
  return parsed ? "none" : parsed.error().what;
}

TEST(Decisions, WhatThePageSaves) {
  const auto parsed = parse_decisions(
      file(entry() + ",\n" +
           R"({"group": "h", "action": "not_duplicates", "path": "/p/?", "path_base64": "L3Av/w==", "size": 0,
         "mtime_ns": "1700000000123456789", "hash": "ffffffffffffffffffffffffffffffff", "with": ")" +
           kHash + "\"}"));
  ASSERT_TRUE(parsed) << parsed.error().message();
  ASSERT_EQ(parsed->entries.size(), 2U);
  const Decision& a = parsed->entries[0];
  EXPECT_EQ(a.group, "g");
  EXPECT_EQ(a.kind, DecisionKind::remove);
  EXPECT_EQ(a.path, "/p/a.jpg");
  EXPECT_EQ(a.size, 5U);
  EXPECT_EQ(a.mtime_ns, -7);
  EXPECT_EQ(a.hash[15], 15);
  EXPECT_FALSE(a.with);
  const Decision& b = parsed->entries[1];
  EXPECT_EQ(b.path, "/p/\xff");
  EXPECT_EQ(b.mtime_ns, 1'700'000'000'123'456'789);
  EXPECT_EQ(b.with, a.hash);
}

TEST(Decisions, NumbersAsTimesReferencesAndUnknownFields) {
  const auto parsed = parse_decisions(
      R"({"note": {"deep": [[1, {"decisions": []}], null]}, "references": ["/r", {"path_base64": "L/8="}], "decisions": [)" +
      entry(R"(, "reference": true, "whole_group": 3, "colour": {"x": [1]}, "more": null)") +
      "], \"millrace_decisions\": 1}");
  ASSERT_TRUE(parsed) << parsed.error().message();
  EXPECT_TRUE(parsed->entries.at(0).reference);
  EXPECT_EQ(parsed->entries.at(0).whole_group, 3U);
  EXPECT_EQ(parsed->references, (std::vector<std::string>{"/r", "/\xff"}));
  const auto number =
      parse_decisions(file(R"({"group": "g", "action": "keep", "path": "/a", "size": 5, "mtime_ns": -9, "hash": ")" +
                           std::string(kHash) + "\"}"));
  ASSERT_TRUE(number);
  EXPECT_EQ(number->entries[0].mtime_ns, -9);
}

TEST(Decisions, ErrorsNameTheEntry) {
  EXPECT_THAT(problem(file(entry() + "," + entry("", "a.jpg"))), HasSubstr("decision 2: its path is not absolute"));
  EXPECT_THAT(problem(file(entry("", "/a\\u0000b"))), HasSubstr("decision 1: its path contains a zero byte"));
  EXPECT_THAT(problem(file(entry("", "/" + std::string(70000, 'x')))), HasSubstr("too long"));
  EXPECT_THAT(problem(file(entry(R"(, "size": -1)"))), HasSubstr("its size has the wrong type"));
  EXPECT_THAT(problem(file(entry(R"(, "mtime_ns": "1x")"))), HasSubstr("mtime_ns"));
  EXPECT_THAT(problem(file(entry(R"(, "mtime_ns": 99999999999999999999)"))), HasSubstr("mtime_ns"));
  EXPECT_THAT(problem(file(entry(R"(, "hash": "0g0102030405060708090a0b0c0d0e0f")"))), HasSubstr("its hash"));
  EXPECT_THAT(problem(file(entry(R"(, "hash": "-10102030405060708090a0b0c0d0e0f")"))), HasSubstr("its hash"));
  EXPECT_THAT(problem(file(entry(R"(, "action": "destroy")"))), HasSubstr("its action"));
  EXPECT_THAT(problem(file(entry(R"(, "path_base64": "***")"))), HasSubstr("not Base64"));
  EXPECT_THAT(problem(file(entry(R"(, "group": "")"))), HasSubstr("its group is missing"));
  EXPECT_THAT(problem(file(entry(R"(, "group": [1])"))), HasSubstr("its group has the wrong type"));
  for (const char* value : {"true", "false", "0", "1", "-2", "2.0", "\"2\"", "null", "[2]"}) {
    EXPECT_THAT(problem(file(entry(std::string(", \"whole_group\": ") + value))),
                HasSubstr("decision 1: its whole_group must be the number of members"))
        << value;
  }
  EXPECT_THAT(problem(file("{}")), HasSubstr("decision 1: its action is missing"));
  EXPECT_THAT(problem(file(entry() + ", 7")), HasSubstr("decision 2: it is not an object"));
  EXPECT_THAT(problem(file(entry() + ", []")), HasSubstr("decision 2: it is not an object"));
  EXPECT_THAT(problem(file(entry(), ", \"references\": [\"r\"]")), HasSubstr("reference"));
}

TEST(Decisions, WhatIsNoDecisionsFile) {
  for (const std::string text :
       {"", "7", "null", "[]", "{", "{}", "{\"decisions\": []}", "{\"millrace_decisions\": 1}",
        "{\"millrace_decisions\": 2, \"decisions\": []}", "{\"millrace_decisions\": 1.0, \"decisions\": []}",
        "{\"millrace_decisions\": [1], \"decisions\": []}", "{\"millrace_decisions\": 1, \"decisions\": {}}",
        "{\"millrace_decisions\": 1, \"decisions\": [], \"decisions\": []}",
        "{\"millrace_decisions\": 1, \"decisions\": []} x", "\xff\xfe"}) {
    EXPECT_NE(problem(text), "none") << text;
    EXPECT_NE(problem(text), "") << text;
  }
  EXPECT_THAT(problem("{\"x\": " + std::string(1'000'000, '[')), HasSubstr("too deeply"));
  EXPECT_EQ(problem(file("")), "none");
}

TEST(Decisions, EveryPrefixOfAFileIsAnError) {
  const std::string text = file(entry(R"(, "reference": true)") + "," + entry(), R"(, "references": ["/r"])");
  for (std::size_t size = 0; size < text.size(); ++size) EXPECT_NE(problem(text.substr(0, size)), "none") << size;
  EXPECT_EQ(problem(text), "none");
}

}  // namespace
}  // namespace millrace::dedupe
