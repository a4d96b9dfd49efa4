#include "src/base/paths.h"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(Paths, ArePutTogetherAndTakenApart) {
  EXPECT_EQ(folder_of("a"), ".");
  EXPECT_EQ(folder_of("/a"), "/");
  EXPECT_EQ(folder_of("/a/b"), "/a");
  EXPECT_EQ(join_path("/", "a"), "/a");
  EXPECT_EQ(join_path("/a", "b"), "/a/b");
  EXPECT_TRUE(is_inside("/a/b/c", "/a"));
  EXPECT_TRUE(is_inside("/a", "/a"));
  EXPECT_TRUE(is_inside("/a", "/"));
  EXPECT_FALSE(is_inside("/ab", "/a"));
  EXPECT_FALSE(is_inside("/a", "/a/b"));
  EXPECT_EQ(real_path("/./../"), "/");
  EXPECT_EQ(real_path("/nothing/is/here"), std::nullopt);
}

TEST(Paths, NamesTellFilesApart) {
  EXPECT_EQ(shortest_distinct_suffix("/a/b.c", "/x/d.c"), "b.c");
  EXPECT_EQ(shortest_distinct_suffix("/a/b.c", "/x/b.c"), "a/b.c");
  EXPECT_EQ(shortest_distinct_suffix("/a/k/b.c", "/x/k/b.c"), "a/k/b.c");
  EXPECT_EQ(shortest_distinct_suffix("/a/b.c", "/x/ab.c"), "b.c");
  EXPECT_EQ(shortest_distinct_suffix("/a/k/b.c", "k/b.c"), "a/k/b.c");
  EXPECT_EQ(shortest_distinct_suffix("k/b.c", "/a/k/b.c"), "k/b.c");
  EXPECT_EQ(shortest_distinct_suffix("/a/b.c", "/a/b.c"), "/a/b.c");
}

}  // namespace
}  // namespace millrace
