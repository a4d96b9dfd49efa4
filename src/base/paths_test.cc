#include "src/base/paths.h"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(Paths, ArePutTogetherAndTakenApart) {
  EXPECT_EQ(folder_of("a"), ".");
  EXPECT_EQ(folder_of("/a"), "/");
  EXPECT_EQ(folder_of("/a/b"), "/a");
  EXPECT_EQ(path_in("/", "a"), "/a");
  EXPECT_EQ(path_in("/a", "b"), "/a/b");
  EXPECT_TRUE(inside("/a/b/c", "/a"));
  EXPECT_TRUE(inside("/a", "/a"));
  EXPECT_TRUE(inside("/a", "/"));
  EXPECT_FALSE(inside("/ab", "/a"));
  EXPECT_FALSE(inside("/a", "/a/b"));
  EXPECT_EQ(real_path("/./../"), "/");
  EXPECT_EQ(real_path("/nothing/is/here"), std::nullopt);
}

TEST(Paths, NamesTellFilesApart) {
  EXPECT_EQ(name_beside("/a/b.c", "/x/d.c"), "b.c");
  EXPECT_EQ(name_beside("/a/b.c", "/x/b.c"), "a/b.c");
  EXPECT_EQ(name_beside("/a/k/b.c", "/x/k/b.c"), "a/k/b.c");
  EXPECT_EQ(name_beside("/a/b.c", "/x/ab.c"), "b.c");
  EXPECT_EQ(name_beside("/a/k/b.c", "k/b.c"), "a/k/b.c");
  EXPECT_EQ(name_beside("k/b.c", "/a/k/b.c"), "k/b.c");
  EXPECT_EQ(name_beside("/a/b.c", "/a/b.c"), "/a/b.c");
}

}  // namespace
}  // namespace millrace
