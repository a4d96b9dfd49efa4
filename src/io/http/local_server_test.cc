#include "src/io/http/local_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <functional>
#include <memory>
#include <set>
#include <thread>

namespace millrace {
namespace {

TEST(LocalServer, SecretsAreLongAndNeverTwice) {
  std::set<std::string> tokens;
  for (int i = 0; i < 1000; ++i) tokens.insert(make_random_token());
  EXPECT_EQ(tokens.size(), 1000U);
  for (const std::string& token : tokens) {
    EXPECT_EQ(token.size(), 32U);
    EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos);
  }
  EXPECT_TRUE(is_same_secret("abc", "abc"));
  EXPECT_FALSE(is_same_secret("abc", "abd"));
  EXPECT_FALSE(is_same_secret("abc", "ab"));
  EXPECT_FALSE(is_same_secret("abc", "abcd"));
  EXPECT_TRUE(is_same_secret("", ""));
}

TEST(LocalServer, ACookieIsFoundByItsWholeName) {
  EXPECT_EQ(find_cookie("a=1; key-2=x; b=3", "key-2"), "x");
  EXPECT_EQ(find_cookie("key-2=x", "key-2"), "x");
  EXPECT_EQ(find_cookie("not-key-2=y; key-2=x", "key-2"), "x");
  EXPECT_EQ(find_cookie("key-21=y", "key-2"), "");
  EXPECT_EQ(find_cookie("key-2", "key-2"), "");
  EXPECT_EQ(find_cookie("", "key-2"), "");
}

TEST(LocalServer, ListensOnThisMachineAlone) {
  const LocalServer one(0, 1), other(0, 1);
  EXPECT_EQ(one.host().substr(32), ".localhost:" + std::to_string(one.port()));
  EXPECT_NE(one.host().substr(0, 32), other.host().substr(0, 32)) << "no two runs have one name";
  EXPECT_THROW(LocalServer(one.port(), 1), Failure);
}

// Browsers try ::1 first for a name below localhost, so a program that listens there would get requests that are meant
// for us.
TEST(LocalServer, HoldsBothAddressesOfThisMachine) {
  const LocalServer server(0, 1);
  const int other = ::socket(AF_INET6, SOCK_STREAM, 0);
  if (other < 0) GTEST_SKIP() << "no IPv6 here";
  sockaddr_in6 to{};
  to.sin6_family = AF_INET6;
  to.sin6_addr = in6addr_loopback;
  to.sin6_port = htons(server.port());
  const int yes = 1;
  ::setsockopt(other, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const bool bound = ::bind(other, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  if (!bound && errno == EADDRNOTAVAIL) {
    ::close(other);
    GTEST_SKIP() << "no IPv6 here";
  }
  EXPECT_FALSE(bound && ::listen(other, 1) == 0) << "somebody else listens there";
  // A port on whose ::1 somebody listens already is not taken.
  sockaddr_in6 free = to;
  free.sin6_port = 0;
  const int enemy = ::socket(AF_INET6, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(enemy, reinterpret_cast<const sockaddr*>(&free), sizeof free), 0);
  ASSERT_EQ(::listen(enemy, 1), 0);
  socklen_t size = sizeof free;
  ASSERT_EQ(::getsockname(enemy, reinterpret_cast<sockaddr*>(&free), &size), 0);
  EXPECT_THROW(LocalServer(ntohs(free.sin6_port), 1), Failure);
  ::close(other);
  ::close(enemy);
}

// Client with one connection, as a browser has.
class Client {
 public:
  explicit Client(const LocalServer& server) : host_(server.host()), socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(server.port());
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void ask(const std::string& path) const {
    const std::string text = "GET " + path + " HTTP/1.1\r\nHost: " + host_ + "\r\n\r\n";
    ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
  }
  // Returns the body of one answer; empty where the connection was closed.
  std::string answer() const {
    std::string text;
    char byte = 0;
    while (!text.ends_with("\r\n\r\n")) {
      if (::recv(socket_, &byte, 1, 0) != 1) return "";
      text += byte;
    }
    const std::size_t at = text.find("Content-Length: ");
    std::string body(std::stoul(text.substr(at + 16)), ' ');
    return ::recv(socket_, body.data(), body.size(), MSG_WAITALL) == static_cast<ssize_t>(body.size()) ? body : "";
  }

 private:
  std::string host_;
  int socket_;
};

// Server that runs until end() is called. Requests for "/known..." come from a recognized client, ".../long" takes
// until go_on_ is set, and "/held" is held back.
class LocalServerTest : public testing::Test {
 protected:
  LocalServerTest() : server_(0, 4) {
    thread_ = std::thread([this] {
      server_.run({[](const HttpRequest& request) {
                     return LocalServer::Admission{std::nullopt, 0, request.path.starts_with("/known")};
                   },
                   [this](const HttpRequest& request) { return handle(request); }, [this] { return ended_.load(); }});
      over_ = true;
    });
  }
  ~LocalServerTest() override {
    go_on_ = ended_ = true;
    thread_.join();
  }
  HttpResponse handle(const HttpRequest& request) {
    ++handled_;
    HttpResponse out;
    out.body = request.path;
    if (request.path == "/held") out.wait = std::chrono::hours(1);
    while (request.path.ends_with("/long") && !go_on_) std::this_thread::yield();
    return out;
  }
  static void until(const std::function<bool()>& happened) {
    while (!happened()) std::this_thread::yield();
  }

  LocalServer server_;
  std::atomic<int> handled_ = 0;
  std::atomic<bool> ended_ = false, over_ = false, go_on_ = false;
  std::thread thread_;
};

TEST_F(LocalServerTest, RecognizedClientsStayConnected) {
  const Client page(server_), busy(server_);
  page.ask("/known");
  EXPECT_EQ(page.answer(), "/known");
  busy.ask("/known/long");
  until([&] { return handled_ == 2; });
  // Strangers keep the connections that they were given.
  std::vector<std::unique_ptr<Client>> strangers;
  for (int i = 0; i < 200; ++i) {
    strangers.push_back(std::make_unique<Client>(server_));
    strangers.back()->ask("/");
    EXPECT_EQ(strangers.back()->answer(), "/") << i;
  }
  page.ask("/known");
  EXPECT_EQ(page.answer(), "/known");
  go_on_ = true;
  EXPECT_EQ(busy.answer(), "/known/long");
}

TEST_F(LocalServerTest, WhatIsAtWorkIsFinishedAndAnsweredAtTheEnd) {
  const Client busy(server_), held(server_);
  busy.ask("/long");
  held.ask("/held");
  until([&] { return handled_ == 2; });
  ended_ = true;
  EXPECT_EQ(held.answer(), "/held") << "it is held back no longer";
  EXPECT_FALSE(over_);
  go_on_ = true;
  EXPECT_EQ(busy.answer(), "/long");
  until([&] { return over_.load(); });
}

}  // namespace
}  // namespace millrace
