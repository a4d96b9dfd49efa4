// Input: HTTP requests of a person's browser on this machine.
// Output: each request handed to a handler, and the handler's response sent back.
// Never: listens to another machine; accepts a request whose Host is not its own address, a change that another origin
// asks for, or a body before its head was admitted; keeps a log.
//
// The server speaks HTTP/1.1 on 127.0.0.1 and ::1, under a host name that is new in each run. The headers of every
// response forbid caching, framing, sniffing and reading by another origin.
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
  std::map<std::string, std::string> query;  // decoded; of a name that comes twice, the last value
  std::string key, cookies;                  // the headers X-Millrace-Key and Cookie
  std::string body;                          // body of a POST
};

struct HttpResponse {
  int status = 200;
  std::string type = "application/json", body{};
  std::vector<std::pair<std::string, std::string>> headers{};
  std::chrono::milliseconds wait{};  // delay before sending: the answer to a page's long poll
};
// The body of an error response is {"error": {"what": ..., "subject": ..., "remedy": ...}}.
HttpResponse make_error_response(int status, const Error& error);

class LocalServer {
 public:
  // The handler's decision on a request, made from its head: the refusal, or the largest body that may be read.
  struct Admission {
    std::optional<HttpResponse> rejection;
    std::uint64_t max_body = 0;
    bool is_recognized =
        false;  // true: the client is recognised, and its connection is not closed to make room for others
  };
  struct Handlers {
    std::function<Admission(const HttpRequest&)> admit;  // called on the thread of run(), so it does no work
    // Called on one of several threads. A Failure becomes status 409, any other exception 500.
    std::function<HttpResponse(const HttpRequest&)> handle;
    std::function<bool()> should_stop;  // called several times a second, on the thread of run()
  };

  // Port 0 takes any free port. Throws Failure(io) where the port cannot be had.
  LocalServer(std::uint16_t port, int threads);
  ~LocalServer();
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  // "3f0c…d2.localhost:40123": a name that nobody knew before, which browsers resolve to this machine themselves. Data
  // that others served on this port of 127.0.0.1 and left in a browser (caches, workers, cookies) belong to another
  // origin.
  const std::string& host() const;
  std::uint16_t port() const;
  // Serves until `should_stop` returns true. Requests that are being handled then are finished and answered.
  void run(const Handlers& handlers);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Returns 128 random bits as hexadecimal digits.
std::string make_random_token();
// Compares in a time that does not depend on where the two differ.
bool is_same_secret(const std::string& a, const std::string& b);
// Returns the value of a cookie; empty without one.
std::string find_cookie(const std::string& cookies, const std::string& name);

}  // namespace millrace
