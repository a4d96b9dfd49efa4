#include "src/jobs/dedupe/review/saved_search.h"

#include <gmock/gmock.h>

#include "src/base/error.h"
#include "src/base/json.h"
#include "src/base/text.h"

namespace millrace::dedupe {
namespace {

using testing::HasSubstr;

Json member(const std::string& path, const char* digit = "0") {
  std::string hash;
  for (int i = 0; i < 32; ++i) hash += digit;
  return {{"path", path}, {"size", 5}, {"width", 40}, {"height", 30}, {"mtime_ns", "-7"}, {"hash", hash}};
}

// Makes a result with two groups that share a file.
Json result() {
  const Json first{{"id", "1"},
                   {"kind", "similar"},
                   {"members", {member("/a.jpg"), member("/b.jpg", "1")}},
                   {"pairs", {{{"a", 0}, {"b", 1}, {"score", 0.5}, {"distances", {{"dhash", 3}}}}}}};
  const Json second{{"id", "2"}, {"kind", "altered"}, {"members", {member("/b.jpg", "1"), member("/c.jpg", "2")}}};
  return {{"millrace", "dedupe"}, {"groups", {first}}, {"related", {second}}, {"totals", {{"files", 3}}}};
}

std::string problem(const Json& json) {
  try {
    read_saved_search(json.dump(), "/result.json");
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().subject, "/result.json");
    EXPECT_NE(failure.error().remedy, "");
    return failure.error().what;
  }
  return "none";
}

TEST(Found, AFileHasOneNumberWhateverItsGroups) {
  Json json = result();
  json["groups"][0]["members"][0]["path_base64"] = "L/8=";
  const SavedSearch found = read_saved_search(json.dump(), "/result.json");
  ASSERT_EQ(found.groups.size(), 2U);
  EXPECT_EQ(found.ids, (std::vector<std::vector<std::uint32_t>>{{0, 1}, {1, 2}}));
  EXPECT_EQ(found.files[0].path, "/\xff");
  EXPECT_EQ(found.files[0].mtime_ns, -7);
  EXPECT_EQ(found.groups[0].pairs[0].distances.at("dhash"), 3);
  EXPECT_EQ(found.header.files, 3U);
  EXPECT_EQ(found.header.groups, 2U);
  EXPECT_EQ(found.page_id, read_saved_search(json.dump(1), "/elsewhere.json").page_id);
  json["related"][0]["id"] = "3";
  EXPECT_NE(found.page_id, read_saved_search(json.dump(), "/result.json").page_id);
}

TEST(Found, WhatIsWrongIsNamedWithItsPlace) {
  struct Case {
    const char *place, *value, *words;
  };
  for (const auto& [place, value, words] : {
           Case{"/groups/0/members/1/path", "\"b.jpg\"", "group 1, member 2: its path is not absolute"},
           Case{"/groups/0/members/1/path", "\"/b\\u0000.jpg\"", "its path is not absolute"},
           Case{"/groups/0/members/1/path", "7", "its path is not text"},
           Case{"/groups/0/members/1/path_base64", "\"*\"", "its path_base64 is not Base64"},
           Case{"/groups/0/members/1/size", "-1", "its size is not a number"},
           Case{"/groups/0/members/1/width", "4000000000", "its width is not a number from 0 to 1000000000"},
           Case{"/groups/0/members/1/hash", "\"../../etc\"", "its hash is not 32 hexadecimal digits"},
           Case{"/groups/0/members/1/mtime_ns", "\"1e9\"", "its mtime_ns is not a whole number"},
           Case{"/groups/0/members/1/place", "[0, 0, 1]", "its place does not have four sides"},
           Case{"/groups/0/members/1/place", "[0, 0, 1, 2]", "its place is not within the picture"},
           Case{"/groups/0/members/1/keep", "1", "its keep is neither true nor false"},
           Case{"/groups/0/members/1/companions", R"([{"path": "x"}])", "group 1, member 2, companion 1"},
           Case{"/groups/0/members/1", "[]", "it is not an object"},
           Case{"/groups/0/members/1", R"({"path": "/a.jpg"})", "its mtime_ns is not a whole number"},
           Case{"/groups/0/members", "{}", "its members is not a list"},
           Case{"/groups/0/kind", "\"other\"", "its kind is not supported"},
           Case{"/groups/0/id", "\"\"", "it has no id"},
           Case{"/related/0/id", "\"1\"", "group 1: another group has the same id"},
           Case{"/groups/0/pairs/0/b", "2", "pair 1: it does not name two members"},
           Case{"/groups/0/pairs/0/b", "0", "pair 1: it does not name two members"},
           Case{"/groups/0/pairs/0/score", "1.5", "its score is not from 0 to 1"},
           Case{"/related/0/members/0/size", "6", "another group has another size, time or hash"},
           Case{"/totals", "[]", "totals: it is not an object"},
           Case{"/millrace", "\"latents\"", "this is not a result of millrace dedupe"},
       }) {
    Json json = result();
    Json* at = &json;
    for (const std::string& step : split(std::string_view(place).substr(1), '/')) {
      at = step == "0" || step == "1" ? &(*at)[step[0] - '0'] : &(*at)[step];
    }
    *at = Json::parse(value);
    EXPECT_THAT(problem(json), HasSubstr(words)) << place << " " << value;
  }
  Json twice = result();
  twice["groups"][0]["members"][1] = twice["groups"][0]["members"][0];
  EXPECT_THAT(problem(twice), HasSubstr("member 2: it is in its group twice"));
  Json alone = result();
  alone["groups"][0]["members"] = Json::array({alone["groups"][0]["members"][0]});
  EXPECT_THAT(problem(alone), HasSubstr("fewer than two members"));
  EXPECT_THAT(problem(Json::array()), HasSubstr("not a result"));
}

TEST(Found, DepthIsNoMatter) {
  EXPECT_THROW(read_saved_search(std::string(1'000'000, '['), "/result.json"), Failure);
  EXPECT_THROW(read_saved_search(R"({"millrace": "dedupe", "more": )" + std::string(1'000'000, '['), "/result.json"),
               Failure);
}

}  // namespace
}  // namespace millrace::dedupe
