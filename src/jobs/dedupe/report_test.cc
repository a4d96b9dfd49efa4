#include "src/jobs/dedupe/report.h"

#include <gtest/gtest.h>

#include "src/base/json.h"

namespace millrace::dedupe {
namespace {

SearchResult result_of(std::size_t groups) {
  SearchResult result;
  LibraryPicture picture;
  picture.data.width = picture.data.height = 1;
  result.library.pictures.push_back(picture);
  LibraryFile file;
  file.entry.path = "/a\n\"groups\": []";
  file.picture = 0;
  result.library.files.push_back(file);
  Group group;
  group.members = {{0, true, "it stays"}, {0, false, "it may go"}};
  group.pairs = {{0, 1, {1, 2, 3, 4}, 0.5F}};
  for (std::size_t g = 0; g < groups; ++g) {
    group.id = "similar-" + std::to_string(g);
    result.groups.push_back(group);
  }
  group.id = "related-0";
  group.kind = GroupKind::related;
  result.related.push_back(group);
  return result;
}

TEST(Report, PiecesMakeOneJson) {
  const Executor executor(2);
  for (const std::size_t groups : {0U, 1U, 600U}) {
    std::string text;
    for (const std::string& piece : json_of(result_of(groups), executor)) text += piece;
    const auto json = Json::parse(text);
    ASSERT_EQ(json["groups"].size(), groups);
    EXPECT_EQ(json["related"].size(), 1U);
    EXPECT_EQ(json["related"][0]["members"][1]["keep"], false);
    EXPECT_EQ(json.dump(1) + "\n", text) << "written as one tree would be";
    if (groups > 0) {
      EXPECT_EQ(json["groups"][groups - 1]["id"], "similar-" + std::to_string(groups - 1));
    }
  }
}

TEST(Report, AnInterruptedJsonIsNotWritten) {
  CancelToken cancel;
  const Executor executor(2, &cancel);
  cancel.cancel();
  EXPECT_THROW((void)json_of(result_of(600), executor), Failure);
}

}  // namespace
}  // namespace millrace::dedupe
