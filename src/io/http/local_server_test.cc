#include "src/io/http/local_server.h"

#include <gtest/gtest.h>

#include <set>

namespace millrace {
namespace {

TEST(LocalServer, SecretsAreLongAndNeverTwice) {
  std::set<std::string> tokens;
  for (int i = 0; i < 1000; ++i) tokens.insert(random_token());
  EXPECT_EQ(tokens.size(), 1000U);
  for (const std::string& token : tokens) {
    EXPECT_EQ(token.size(), 32U);
    EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos);
  }
  EXPECT_TRUE(same_secret("abc", "abc"));
  EXPECT_FALSE(same_secret("abc", "abd"));
  EXPECT_FALSE(same_secret("abc", "ab"));
  EXPECT_FALSE(same_secret("abc", "abcd"));
  EXPECT_TRUE(same_secret("", ""));
}

TEST(LocalServer, ACookieIsFoundByItsWholeName) {
  EXPECT_EQ(cookie_in("a=1; key-2=x; b=3", "key-2"), "x");
  EXPECT_EQ(cookie_in("key-2=x", "key-2"), "x");
  EXPECT_EQ(cookie_in("not-key-2=y; key-2=x", "key-2"), "x");
  EXPECT_EQ(cookie_in("key-21=y", "key-2"), "");
  EXPECT_EQ(cookie_in("key-2", "key-2"), "");
  EXPECT_EQ(cookie_in("", "key-2"), "");
}

TEST(LocalServer, ListensOnThisMachineAlone) {
  const LocalServer one(0, 1), other(0, 1);
  EXPECT_EQ(one.host().rfind("127.0.0.1:", 0), 0U);
  EXPECT_NE(one.host(), other.host());
  EXPECT_THROW(LocalServer(static_cast<std::uint16_t>(std::stoi(one.host().substr(10))), 1), Failure);
}

}  // namespace
}  // namespace millrace
