#include "src/base/json.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

namespace millrace {
namespace {

TEST(Json, TheTextIsTheOneOfTheLibraryForThisKind) {
  // Contents: numbers whose shortest text is not plain, texts with escapes, empty containers.
  const std::string text = R"({"b":[],"a":{},"deep":{"list":[1,-2,18446744073709551615,-9223372036854775808,[null]]},
    "real":[0.1,1e300,5e-324,-0.0,1.0,123456789012345680.0,1e-7],"text":"\"\\\n\u0001é\u2028/","no":false,"yes":true})";
  const auto theirs = nlohmann::ordered_json::parse(text);
  const Json ours = Json::parse(text);
  for (const int indent : {-1, 0, 1, 4}) EXPECT_EQ(ours.dump(indent), theirs.dump(indent));
  EXPECT_EQ(Json::parse(ours.dump()), ours);
  EXPECT_EQ(Json(std::nan("")).dump(), "null");
  EXPECT_EQ(Json("caf\xE9").dump(), "\"caf\xEF\xBF\xBD\"");
  EXPECT_EQ((Json{{"caf\xE9", 1}}).dump(), "{\"caf\xEF\xBF\xBD\":1}");
}

TEST(Json, MadeByHand) {
  EXPECT_EQ((Json{{"a", 1}, {"b", {1, "x"}}}).dump(), R"({"a":1,"b":[1,"x"]})");
  EXPECT_EQ((Json{{"a", 1}, {"b", 2}, 3}).dump(), R"([["a",1],["b",2],3])") << "not all are members";
  EXPECT_EQ(Json::array({Json{{"a", 1}}}).dump(), R"([{"a":1}])");
  EXPECT_EQ(Json::array({"a", 1}).dump(), R"(["a",1])") << "a list, whatever it holds";
  EXPECT_EQ(Json(std::array<double, 2>{1, 0.5}).dump(), "[1.0,0.5]");
  EXPECT_EQ(Json(std::map<std::string, int>{{"b", 1}, {"a", 2}}).dump(), R"({"a":2,"b":1})");
  Json json;
  EXPECT_TRUE(json.is_null() && json.empty());
  json["z"]["y"] = true;
  json["a"].push_back(1);
  json["a"].push_back({{"k", "v"}});
  json["z"]["x"] = nullptr;
  EXPECT_EQ(json.dump(), R"({"z":{"y":true,"x":null},"a":[1,{"k":"v"}]})") << "in the order in which they came";
  json.update({{"a", 0}, {"n", 1}});
  json.erase("z");
  EXPECT_EQ(json.dump(), R"({"a":0,"n":1})");
  EXPECT_THROW(json.push_back(1), Json::Error);
  EXPECT_THROW(json["a"]["b"] = 1, Json::Error);
}

TEST(Json, NumbersThatTheTypeDoesNotHold) {
  const Json json = Json::parse("[300, -1, 1.5, 18446744073709551615, 2147483648, true, \"7\"]");
  EXPECT_EQ(json[0].get<std::uint16_t>(), 300);
  EXPECT_THROW(json[0].get<std::uint8_t>(), Json::Error);
  EXPECT_THROW(json[1].get<std::uint64_t>(), Json::Error);
  EXPECT_EQ(json[1].get<std::int8_t>(), -1);
  EXPECT_THROW(json[2].get<int>(), Json::Error) << "no integer, and none is made of it";
  EXPECT_THROW(json[3].get<std::int64_t>(), Json::Error);
  EXPECT_EQ(json[3].get<std::uint64_t>(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_THROW(json[4].get<std::int32_t>(), Json::Error);
  EXPECT_THROW(json[5].get<int>(), Json::Error);
  EXPECT_THROW(json[6].get<int>(), Json::Error);
  EXPECT_EQ(json[0].get<double>(), 300.0);
  EXPECT_TRUE(json[0].holds<int>() && json[1].holds<int>() && json[3].holds<std::uint64_t>());
  EXPECT_FALSE(json[4].holds<int>() || json[1].holds<unsigned>() || json[2].holds<int>() || json[5].holds<int>());
  EXPECT_EQ(json[0], Json(300.0)) << "by their value";
  EXPECT_NE(json[1], json[3]) << "however the bits are";
}

TEST(Json, WhatIsNotThere) {
  const Json json = Json::parse(R"({"a": {"b": [1]}, "t": "x", "null": null})");
  EXPECT_EQ(json.find("b"), nullptr);
  EXPECT_EQ(json["a"]["c"]["d"], Json());
  EXPECT_THROW(json.at("b"), Json::Error);
  EXPECT_THROW(json["a"]["b"].at(1), Json::Error);
  EXPECT_EQ(json.value("b", 5), 5);
  EXPECT_EQ(json.value("t", "y"), "x");
  EXPECT_THROW(json.value("t", 5), Json::Error) << "it is there, and another";
  EXPECT_FALSE(json["t"].contains("x"));
  // A value that is not a list has no elements and does not count as an empty list.
  EXPECT_THROW(json["t"].get<std::vector<int>>(), Json::Error);
  EXPECT_THROW(json["a"].begin(), Json::Error);
  EXPECT_THROW(json["t"].items(), Json::Error);
  EXPECT_EQ(json["null"].begin(), json["null"].end());
  EXPECT_EQ(json["a"].get<decltype(std::map<std::string, std::vector<int>>())>().at("b"), std::vector<int>{1});
}

TEST(Json, TextsThatAreNone) {
  for (const std::string& text : {std::string(), std::string("{"), std::string("{\"a\":1,}"), std::string("1 2"),
                                  std::string("nul"), std::string("1e999"), std::string("\"\xE9\""), std::string("NaN"),
                                  std::string(65, '[') + std::string(65, ']'), std::string(1'000'000, '[')}) {
    EXPECT_THROW(Json::parse(text), Json::Error) << text.substr(0, 80);
    EXPECT_TRUE(Json::parse_or_null(text).is_null()) << text.substr(0, 80);
  }
  EXPECT_EQ(Json::parse(std::string(64, '[') + std::string(64, ']')).size(), 1U);
  try {
    Json::parse("{\"a\": 1,\n x}");
    ADD_FAILURE();
  } catch (const Json::Error& error) {
    EXPECT_EQ(error.at, 11U);
  }
}

TEST(Json, TheLastOfTwoMembersOfOneNameCounts) {
  EXPECT_EQ(Json::parse(R"({"a": 1, "b": 2, "a": [3]})").dump(), R"({"a":[3],"b":2})");
  EXPECT_EQ(Json::parse(R"({"a": {"x": 1, "x": 2}, "a": {"x": 3}})").dump(), R"({"a":{"x":3}})");
  // Members are compared with one another in no more than n log n steps: this would take minutes.
  std::string text = "{";
  constexpr int kMany = 300'000;
  for (int k = 0; k < kMany; ++k) text += "\"k" + std::to_string(k) + "\":" + std::to_string(k) + ",";
  const Json many = Json::parse(text + "\"k7\":-1}");
  EXPECT_EQ(many.size(), static_cast<std::size_t>(kMany));
  EXPECT_EQ(many.at("k7"), -1);
  EXPECT_EQ(many.items()[7].key, "k7");
  EXPECT_EQ(many.at("k299999"), kMany - 1);
}

}  // namespace
}  // namespace millrace
