#include "src/io/http/local_server.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cerrno>
#include <list>

#include "src/base/json.h"
#include "src/base/text.h"

#include "src/base/text.h"

namespace millrace {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using Status = boost::system::error_code;
using namespace std::chrono_literals;

// The limit leaves room for a browser's six connections while other programs hold connections of their own.
constexpr std::size_t kMaxConnections = 64;
constexpr std::uint32_t kMaxHeadBytes = 16 << 10;
constexpr std::chrono::seconds kHeadTime = 10s, kBodyTime = 120s, kIdleTime = 90s;
constexpr auto kPollInterval = 100ms;

// Splits a request target into path and parameters. Names, numbers and ids need no percent-encoding, so any other
// character is refused: the result is false.
bool parse_target(std::string_view target, HttpRequest& out) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./";
  const auto is_plain = [&](std::string_view text) { return text.find_first_not_of(kPlain) == std::string_view::npos; };
  const std::size_t mark = std::min(target.find('?'), target.size());
  if (!target.starts_with('/') || !is_plain(target.substr(0, mark))) return false;
  out.path = target.substr(0, mark);
  if (mark == target.size()) return true;
  for (const std::string& part : split(std::string(target.substr(mark + 1)), '&')) {
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string name = part.substr(0, equals), value = equals < part.size() ? part.substr(equals + 1) : "";
    if (!is_plain(name) || !is_plain(value)) return false;
    out.query[name] = value;
  }
  return true;
}

HttpResponse make_rejection(int status, std::string what, std::string remedy = "") {
  return make_error_response(status, Error{ErrorCode::usage, std::move(what), "the request", std::move(remedy)});
}

using Head = http::request_header<http::fields>;

// Checks the rules that hold for every request head, against pages of other origins and other names for this host.
// Returns the refusal, or nothing where the head passes.
std::optional<HttpResponse> check_request_head(const Head& head, const std::string& host) {
  const auto only = [&](auto field) {
    return head.count(field) == 1 ? std::string_view(head[field].data(), head[field].size()) : std::string_view();
  };
  if (only(http::field::host) != host)
    return make_rejection(403, "the Host header is not the address of this page",
                          "open the address exactly as it was printed");
  const bool has_origin = head.count(http::field::origin) > 0;
  if ((has_origin || head.method() == http::verb::post) && only(http::field::origin) != "http://" + host)
    return make_rejection(403, "requests from another origin are not allowed");
  const auto site = head["Sec-Fetch-Site"], mode = head["Sec-Fetch-Mode"];
  if (!site.empty() && site != "same-origin" && site != "none" && mode != "navigate")
    return make_rejection(403, "requests from another site are not allowed");
  return std::nullopt;
}

}  // namespace

HttpResponse make_error_response(int status, const Error& error) {
  const Json out{{"error",
                  {{"what", replace_invalid_utf8(error.what)},
                   {"subject", replace_invalid_utf8(error.subject)},
                   {"remedy", replace_invalid_utf8(error.remedy)}}}};
  HttpResponse response;
  response.status = status;
  response.body = out.dump();
  return response;
}

class LocalServer::Impl {
 public:
  Impl(std::uint16_t port, int threads)
      : listeners_{Listener{tcp::acceptor(io_), asio::steady_timer(io_)},
                   Listener{tcp::acceptor(io_), asio::steady_timer(io_)}},
        clock_(io_),
        threads_(threads) {
    Status status;
    // A port that is free on one address may be taken on the other, so several free ports are tried.
    constexpr int kMaxTries = 100;
    for (int tries = 0; tries < (port == 0 ? kMaxTries : 1); ++tries) {
      status = listen(port);
      if (status != asio::error::address_in_use) break;
    }
    if (status) {
      Error error = system_error("cannot be opened for listening", fmt::format("port {}", port), status.value());
      error.remedy = "choose another with --port, or 0 for any free port";
      throw Failure(error);
    }
    port_ = listeners_[0].acceptor.local_endpoint().port();
    host_ = fmt::format("{}.localhost:{}", make_random_token(), port_);
  }

  const std::string& host() const { return host_; }
  std::uint16_t port() const { return port_; }

  void run(const Handlers& handlers) {
    handlers_ = &handlers;
    workers_ = std::make_unique<asio::thread_pool>(static_cast<std::size_t>(threads_));
    for (Listener& listener : listeners_) {
      if (listener.acceptor.is_open()) accept(listener);
    }
    poll();
    io_.run();
    workers_->join();
    workers_.reset();
    connections_.clear();
  }

 private:
  class Connection;

  // Loopback addresses, IPv4 and IPv6. Browsers resolve "localhost" to both, so whoever listened on the other one would
  // get our requests first.
  struct Listener {
    tcp::acceptor acceptor;
    asio::steady_timer retry_timer;
  };
  Status listen(std::uint16_t port) {
    Status status;
    for (Listener& listener : listeners_) {
      Status ignored;
      listener.acceptor.close(ignored);
    }
    for (Listener& listener : listeners_) {
      tcp::acceptor& acceptor = listener.acceptor;
      const bool first = &listener == &listeners_[0];
      const asio::ip::address address = first ? asio::ip::address(asio::ip::address_v4::loopback())
                                              : asio::ip::address(asio::ip::address_v6::loopback());
      const tcp::endpoint wanted(address, first ? port : listeners_[0].acceptor.local_endpoint().port());
      acceptor.open(wanted.protocol(), status);
      if (!status && !first) acceptor.set_option(asio::ip::v6_only(true), status);
      // With port 0, SO_REUSEADDR stays off: the system must not choose a port that somebody holds without listening.
      if (!status && port != 0) acceptor.set_option(tcp::acceptor::reuse_address(true), status);
      if (!status) acceptor.bind(wanted, status);
      if (!status) acceptor.listen(asio::socket_base::max_listen_connections, status);
      if (!status) continue;
      Status ignored;
      acceptor.close(ignored);
      // Without IPv6 on this machine, nobody can listen on ::1.
      if (!first && (status == asio::error::address_family_not_supported || status.value() == EADDRNOTAVAIL)) {
        status.clear();
        continue;
      }
      return status;
    }
    return status;
  }
  void accept(Listener& listener);

  // Closes the oldest connection of which no request was recognized. False where there is none.
  bool make_room();

  void poll() {
    clock_.expires_after(kPollInterval);
    clock_.async_wait([this](Status) {
      std::erase_if(connections_, [](const auto& connection) { return connection.expired(); });
      if (ending_ && busy_ == 0) return io_.stop();
      if (!ending_ && handlers_->should_stop()) end();
      poll();
    });
  }

  void end();

  asio::io_context io_{1};
  std::array<Listener, 2> listeners_;
  asio::steady_timer clock_;
  const int threads_;
  std::string host_;
  std::uint16_t port_ = 0;
  const Handlers* handlers_ = nullptr;
  std::unique_ptr<asio::thread_pool> workers_;
  std::list<std::weak_ptr<Connection>> connections_;
  int busy_ = 0;  // requests being handled, and answers to recognized clients that are not sent yet
  bool ending_ = false;
};

// A connection. All of it runs on the thread of run(), except for the handling of requests.
class LocalServer::Impl::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Impl& server, tcp::socket socket) : server_(server), stream_(std::move(socket)), delay_(server.io_) {}

  bool is_recognized() const { return recognized_; }
  void close() {
    Status ignored;
    stream_.socket().close(ignored);
  }
  void end_wait() { delay_.cancel(); }

  void read() {
    parser_.emplace();
    parser_->header_limit(kMaxHeadBytes);
    parser_->body_limit(UINT64_MAX);  // the real limit is set when the head was admitted
    stream_.expires_after(recognized_ ? kIdleTime : kHeadTime);
    http::async_read_header(stream_, buffer_, *parser_, [self = shared_from_this()](Status status, std::size_t) {
      // A message over its limit gets status 413. A message that is not HTTP gets no answer.
      if (status == http::error::body_limit || status == http::error::header_limit)
        return self->refuse(make_rejection(413, "the request is too large"));
      if (status) return self->close();
      self->admit_request();
    });
  }

 private:
  void count() {
    ++server_.busy_;
    counted_ = true;
  }

  void admit_request() {
    const auto& head = parser_->get();
    request_ = {};
    request_.method = std::string_view(head.method_string().data(), head.method_string().size());
    const auto text = [&](auto field) { return std::string(head[field].data(), head[field].size()); };
    request_.key = text("X-Millrace-Key");
    request_.cookies = text(http::field::cookie);
    if (auto rejection = check_request_head(head, server_.host_)) return refuse(std::move(*rejection));
    if (head.method() != http::verb::get && head.method() != http::verb::post)
      return refuse(make_rejection(405, "expected GET or POST; other methods are not supported"));
    const auto target = head.target();
    if (!parse_target({target.data(), target.size()}, request_))
      return refuse(make_rejection(400, "the URL is not valid"));
    Admission admission = server_.handlers_->admit(request_);
    if (admission.rejection) return refuse(std::move(*admission.rejection));
    if (server_.ending_) return close();
    recognized_ = recognized_ || admission.is_recognized;
    const auto length = parser_->content_length();
    if (length && *length > admission.max_body) return refuse(make_rejection(413, "the request is too large"));
    parser_->body_limit(admission.max_body);
    stream_.expires_after(kBodyTime);
    http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](Status status, std::size_t) {
      if (status == http::error::body_limit) return self->refuse(make_rejection(413, "the request is too large"));
      if (status) return self->close();
      self->request_.body = std::move(self->parser_->get().body());
      self->dispatch_request();
    });
  }

  void dispatch_request() {
    count();
    stream_.expires_never();
    asio::post(*server_.workers_, [self = shared_from_this()] {
      HttpResponse response;
      try {
        response = self->server_.handlers_->handle(self->request_);
      } catch (const Failure& failure) {
        response = make_error_response(409, failure.error());
      } catch (const std::exception& problem) {
        response = make_error_response(500, Error{ErrorCode::internal, problem.what(), "the request", ""});
      }
      asio::post(self->server_.io_,
                 [self, answer = std::move(response)]() mutable { self->answer(std::move(answer)); });
    });
  }

  void answer(HttpResponse response) {
    if (response.wait.count() == 0 || server_.ending_) {
      send(std::move(response), parser_->keep_alive() && !server_.ending_);
      return;
    }
    // run() does not wait for a request that only waits for its delay.
    --server_.busy_;
    counted_ = false;
    delay_.expires_after(response.wait);
    delay_.async_wait([self = shared_from_this(), answer = std::move(response)](Status) mutable {
      self->count();
      self->send(std::move(answer), self->parser_->keep_alive() && !self->server_.ending_);
    });
  }

  // Answers a request that was not admitted. The rest of the request is not read.
  void refuse(HttpResponse response) { send(std::move(response), false); }

  void send(HttpResponse response, bool keep_alive) {
    response_ = {static_cast<http::status>(response.status), 11};
    response_.set(http::field::content_type, response.type);
    response_.set(http::field::cache_control, "no-store");
    response_.set("X-Content-Type-Options", "nosniff");
    response_.set("X-Frame-Options", "DENY");
    response_.set("Referrer-Policy", "no-referrer");
    response_.set("Cross-Origin-Resource-Policy", "same-origin");
    response_.set("Cross-Origin-Opener-Policy", "same-origin");
    response_.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    for (const auto& [name, value] : response.headers) response_.set(name, value);
    response_.keep_alive(keep_alive);
    response_.body() = std::move(response.body);
    response_.prepare_payload();
    // At the end, run() does not wait for clients that are not recognized, however slowly they read.
    const bool waited_for = std::exchange(counted_, false);
    if (waited_for && !recognized_) --server_.busy_;
    stream_.expires_after(recognized_ ? kBodyTime : kHeadTime);
    http::async_write(
        stream_, response_,
        [self = shared_from_this(), keep_alive, counted = waited_for && recognized_](Status status, std::size_t) {
          if (counted) --self->server_.busy_;
          if (status || !keep_alive) {
            Status ignored;
            self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
            return self->close();
          }
          self->read();
        });
  }

  Impl& server_;
  beast::tcp_stream stream_;
  asio::steady_timer delay_;
  beast::flat_buffer buffer_{kMaxHeadBytes + (64 << 10)};
  std::optional<http::request_parser<http::string_body>> parser_;
  HttpRequest request_;
  http::response<http::string_body> response_;
  bool recognized_ = false, counted_ = false;  // counted_: the request is included in busy_
};

void LocalServer::Impl::accept(Listener& listener) {
  listener.acceptor.async_accept([this, &listener](Status status, tcp::socket socket) {
    if (ending_ || status == asio::error::operation_aborted) return;
    if (!status) {
      if (make_room()) {
        auto connection = std::make_shared<Connection>(*this, std::move(socket));
        connections_.push_back(connection);
        connection->read();
      }
      return accept(listener);
    }
    // A failure such as no descriptor being left: accepting is tried again after a pause, not in a busy loop.
    listener.retry_timer.expires_after(kPollInterval);
    listener.retry_timer.async_wait([this, &listener](Status) {
      if (!ending_) accept(listener);
    });
  });
}

bool LocalServer::Impl::make_room() {
  if (connections_.size() < kMaxConnections) return true;
  std::erase_if(connections_, [](const auto& connection) { return connection.expired(); });
  if (connections_.size() < kMaxConnections) return true;
  const auto oldest = std::find_if(connections_.begin(), connections_.end(), [](const auto& connection) {
    const auto held = connection.lock();
    return held && !held->is_recognized();
  });
  if (oldest == connections_.end()) return false;
  if (const auto held = oldest->lock()) held->close();
  connections_.erase(oldest);
  return true;
}

void LocalServer::Impl::end() {
  ending_ = true;
  Status ignored;
  for (Listener& listener : listeners_) listener.acceptor.close(ignored);
  for (const auto& connection : connections_) {
    if (const auto held = connection.lock()) held->end_wait();
  }
}

LocalServer::LocalServer(std::uint16_t port, int threads) : impl_(std::make_unique<Impl>(port, threads)) {}
LocalServer::~LocalServer() = default;
const std::string& LocalServer::host() const { return impl_->host(); }
std::uint16_t LocalServer::port() const { return impl_->port(); }
void LocalServer::run(const Handlers& handlers) { impl_->run(handlers); }

std::string make_random_token() {
  std::array<unsigned char, 16> bytes{};
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t n = ::getrandom(bytes.data() + have, bytes.size() - have, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Failure(system_error("cannot provide random bytes", "the system", errno));
    have += static_cast<std::size_t>(n);
  }
  std::string out;
  for (const unsigned char byte : bytes) out += fmt::format("{:02x}", byte);
  return out;
}

bool is_same_secret(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  unsigned differing = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    differing |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return differing == 0;
}

std::string find_cookie(const std::string& cookies, const std::string& name) {
  for (const std::string& part : split(cookies, ';')) {
    const std::string_view cookie = trim(part);
    if (cookie.size() > name.size() && cookie.starts_with(name) && cookie[name.size()] == '=')
      return std::string(cookie.substr(name.size() + 1));
  }
  return "";
}

}  // namespace millrace
