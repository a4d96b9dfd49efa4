// Input: a person's browser on this machine.
// Output: its requests handed to a handler, and what that says sent back.
// Never: listens to another machine; takes a request whose Host is not its own address, a change that another origin
//   asks for, or a body before its head was admitted. Keeps a log.
//
// HTTP/1.1 on 127.0.0.1 and ::1, under a name of each run's own. Every answer forbids to be cached, framed, sniffed or
// read by another origin.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/base/error.h"

namespace millrace {

struct HttpRequest {
  std::string method;                        // GET or POST
  std::string path;                          // "/region/12"
  std::map<std::string, std::string> query;  // decoded; of a name that comes twice the last
  std::string key, cookies;                  // the headers X-Millrace-Key and Cookie
  std::string body;                          // of a POST
};

struct HttpResponse {
  int status = 200;
  std::string type = "application/json", body{};
  std::vector<std::pair<std::string, std::string>> headers{};
  std::chrono::milliseconds wait{};  // before it is sent: how a page says for long that it is there
};
// {"error": {"what": ..., "subject": ..., "remedy": ...}}
HttpResponse error_response(int status, const Error& error);

class LocalServer {
 public:
  // What may be made of a request, from its head: refused, or its body read.
  struct Admission {
    std::optional<HttpResponse> refused;
    std::uint64_t most_body = 0;
    bool known = false;  // who asks: their connection is not closed to make room for others
  };
  struct Handlers {
    std::function<Admission(const HttpRequest&)> admit;  // on the thread of run(): does no work
    // On one of several threads. A Failure becomes status 409, what else it throws 500.
    std::function<HttpResponse(const HttpRequest&)> handle;
    std::function<bool()> ended;  // asked several times a second, on the thread of run()
  };

  // Port 0 takes any that is free. Failure(io) where it cannot be had.
  LocalServer(std::uint16_t port, int threads);
  ~LocalServer();
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  // "3f0c…d2.localhost:40123": a name that nobody knew before, which browsers take for this machine themselves. What
  // others served on this port of 127.0.0.1, and left in a browser (a cache, a worker, cookies), is another origin's.
  const std::string& host() const;
  std::uint16_t port() const;
  // Serves until `ended` is true. What is being handled then is waited for, and answered.
  void run(const Handlers& handlers);

 private:
  class Listening;
  std::unique_ptr<Listening> listening_;
};

// 128 random bits as hexadecimal digits.
std::string random_token();
// In a time that does not depend on where they differ.
bool same_secret(const std::string& a, const std::string& b);
// The value of a cookie; empty without one.
std::string cookie_in(const std::string& cookies, const std::string& name);

}  // namespace millrace
