#include "src/jobs/dedupe/review/review.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "src/base/json.h"
#include "src/base/parse_values.h"
#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/atomic_file.h"
#include "src/io/file/trusted_file.h"
#include "src/jobs/dedupe/review/page_shell.h"

namespace millrace::dedupe {
namespace {

using namespace std::chrono_literals;

// A page must send a sign every twenty seconds: the answer to each sign is delayed that long, and the page then sends
// the next. Browsers do not slow this down, as they do with timers of pages in the background.
constexpr std::chrono::seconds kHeartbeatInterval = 20s, kHeartbeatTimeout = 60s, kFirstVisitTimeout = 15min;
constexpr std::uint64_t kMaxEnterBytes = 4096, kMaxBodyBytes = 256 << 20;

std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

HttpResponse reject_request(int status, const std::string& what, const std::string& remedy = "") {
  return make_error_response(status, Error{ErrorCode::usage, what, "the request", remedy});
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t out = 0;
  if (!read_number(text, out) || out > 1'000'000'000) return std::nullopt;
  return out;
}

void write_file(const std::string& path, const std::string& text, Trust trust) {
  prepare_trusted_folder(path, trust);
  AtomicFile file(path, OverwritePolicy{}, ReadAccess::owner);
  file.write(text);
  file.sync();
  file.commit();
}

const char* words_of(Action action) {
  switch (action) {
    case Action::trash:
      return "moved to the trash";
    case Action::move:
      return "moved";
    case Action::hardlink:
      return "replaced by hard links";
    case Action::remove:
      return "set aside";
  }
  return "";
}

bool is_post(const HttpRequest& request) { return request.method == "POST"; }

}  // namespace

Review::Review(const SavedSearch& found, const ReviewOptions& options, RunContext& context)
    : found_(found),
      options_(options),
      context_(context),
      pictures_(found.files, options.files, context),
      token_(make_random_token()),
      session_(make_random_token()),
      key_(make_random_token()),
      plan_secret_(make_random_token()),
      alive_(now()) {}

void Review::serve(LocalServer& server) {
  cookie_name_ = fmt::format("millrace-review-{}", server.port());
  alive_ = last_check_ = now();
  server.run({[this](const HttpRequest& request) { return admit(request); },
              [this](const HttpRequest& request) { return handle(request); }, [this] { return is_finished(); }});
}

bool Review::is_finished() {
  // While this process was stopped, no sign of a page could arrive.
  constexpr auto kStopped = std::chrono::steady_clock::duration(5s).count();
  const std::int64_t since = now() - std::exchange(last_check_, now());
  if (since > kStopped) alive_ += since;
  if (actions_in_progress_ > 0) return false;
  if (done_ || context_.cancel.cancelled()) return true;
  const auto silent = std::chrono::steady_clock::duration(now() - alive_);
  return silent > (entered_ ? kHeartbeatTimeout : kFirstVisitTimeout);
}

bool Review::has_key(const HttpRequest& request) const {
  return is_same_secret(find_cookie(request.cookies, cookie_name_), session_) && is_same_secret(request.key, key_);
}

// Requests that need no key get answers without data of a person's files.
LocalServer::Admission Review::admit(const HttpRequest& request) {
  const bool post = is_post(request);
  if (!post && (request.path == "/" || request.path == "/page.js")) return {};
  if (post && request.path == "/enter") return {std::nullopt, kMaxEnterBytes};
  if (!has_key(request))
    return {reject_request(403, "the key of this review is missing", "open the address that the program printed"), 0};
  return {std::nullopt, post ? kMaxBodyBytes : 0, true};
}

HttpResponse Review::handle(const HttpRequest& request) {
  const std::string& path = request.path;
  if (is_post(request)) {
    if (path == "/enter") return enter(request);
    if (path == "/alive") {
      alive_ = now();
      HttpResponse out;
      out.body = "{}";
      out.wait = kHeartbeatInterval;
      return out;
    }
    if (path == "/marks") return store_marks(request);
    if (path == "/apply") return carry_out(request);
    if (path == "/undo") return undo_run(request);
    if (path == "/done") {
      done_ = true;
      return {200, "application/json", "{}"};
    }
    return reject_request(404, "nothing was found at this address");
  }
  if (path == "/") {
    const std::string nonce = make_random_token();
    return {200, "text/html; charset=utf-8", shell_html(nonce), {{"Content-Security-Policy", shell_policy(nonce)}}};
  }
  if (path == "/page.js") return {200, "text/javascript; charset=utf-8", std::string(shell_script())};
  if (path == "/data") return serve_data();
  if (path.starts_with("/meeting/") && std::count(path.begin(), path.end(), '/') == 3) return serve_alignment(request);
  return serve_picture(request);
}

HttpResponse Review::serve_data() {
  ReviewPageData words;
  const Action action = parse_action(options_.apply.action);
  words.action = name_of(action);
  words.words = words_of(action);
  words.merge_metadata = options_.apply.merge_metadata;
  {
    const MutexLock lock(marks_mutex_);
    words.visit = ++visit_;
    words.marks = last_marks_ = read_marks();
  }
  // While files are being moved, it is unknown which ones still exist.
  const MutexLock lock(acting_);
  for (std::uint32_t i = 0; i < found_.files.size(); ++i) {
    const auto state = state_of(found_.files[i].path);
    if (!state && state.error().code == ErrorCode::not_found) words.gone.push_back(i);
  }
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (!runs_[i].undone) words.runs.push_back({i, runs_[i].files});
  }
  return {200, "text/plain; charset=utf-8", format_data_lines(found_, words)};
}

std::vector<std::string> Review::reports() const {
  const MutexLock lock(acting_);
  return reports_;
}

std::vector<std::string> Review::undoable_journals() const {
  const MutexLock lock(acting_);
  std::vector<std::string> out;
  for (const Run& run : runs_) {
    if (!run.undone) out.push_back(run.journal);
  }
  return out;
}

HttpResponse Review::enter(const HttpRequest& request) {
  // The token is valid once: a second visitor with the same address gets an error.
  bool expected = false;
  if (!is_same_secret(request.body, token_) || !entered_.compare_exchange_strong(expected, true))
    return reject_request(403, "this address was already used, or belongs to another review",
                          "run millrace dedupe review again");
  alive_ = now();
  HttpResponse out;
  out.body = Json{{"key", key_}}.dump();
  out.headers.emplace_back("Set-Cookie",
                           fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/", cookie_name_, session_));
  return out;
}

// Answers /meeting/ID/ID: the orientation of the second picture, and the transform of a point (x, y) of the first to
// the rotated second. Both are in shares of their sides from -0.5 to 0.5. The answer is {} if the pictures do not
// match.
HttpResponse Review::serve_alignment(const HttpRequest& request) {
  const auto parts = split(request.path, '/');
  const auto first = parse_number(parts[2]), second = parse_number(parts[3]);
  if (!first || !second || *first >= found_.files.size() || *second >= found_.files.size())
    return reject_request(404, "nothing was found at this address");
  const auto met = pictures_.align(*first, *second);
  if (!met) return make_error_response(409, met.error());
  Json json = Json::object();
  if (*met) json = {{"turn", static_cast<int>((*met)->turn)}, {"map", (*met)->map}};
  return {200, "application/json", json.dump()};
}

// Answers /thumb/ID, /picture/ID?turn=, /region/ID?turn=&x=&y=&w=&h=; `turn` is an EXIF number from 1 to 8.
HttpResponse Review::serve_picture(const HttpRequest& request) {
  const auto parts = split(request.path, '/');
  const auto id = parts.size() == 3 ? parse_number(parts[2]) : std::nullopt;
  if (!id || *id >= found_.files.size()) return reject_request(404, "nothing was found at this address");
  const auto number = [&](const char* name) {
    const auto found = request.query.find(name);
    return static_cast<int>(found == request.query.end() ? 0 : parse_number(found->second).value_or(0));
  };
  const int turn = number("turn");
  const Orientation orientation = turn >= 1 && turn <= 8 ? static_cast<Orientation>(turn) : Orientation::upright;
  const auto shown = [&]() -> Outcome<ReviewPictures::ServedImage> {
    if (parts[1] == "thumb") return pictures_.make_thumbnail(*id);
    if (parts[1] == "picture") return pictures_.make_preview(*id, orientation);
    return pictures_.make_region(*id, orientation, {number("x"), number("y"), number("w"), number("h")});
  };
  if (parts[1] != "thumb" && parts[1] != "picture" && parts[1] != "region")
    return reject_request(404, "nothing was found at this address");
  auto done = shown();
  if (!done) return make_error_response(409, done.error());
  return {
      200, done->type, std::move(done->bytes), {{"X-Millrace-Sides", fmt::format("{}x{}", done->width, done->height)}}};
}

std::string Review::marks_file() const { return data_path(fmt::format("reviews/{}.marks", found_.page_id)); }

std::string Review::read_marks() const {
  try {
    auto reader = FileReader::make(open_trusted_file(marks_file(), options_.apply.trust(), false, false), marks_file(),
                                   FileReader::Hashing::off);
    const auto text = reader ? read_text(**reader) : Outcome<std::string>(reader.error());
    return text ? *text : "";
  } catch (const Failure&) {
    return "";  // none were stored, or the file is not trusted
  }
}

HttpResponse Review::store_marks(const HttpRequest& request) {
  const Json marks = Json::parse_or_null(request.body);
  if (!marks.is_object()) return reject_request(400, "the marks are not a JSON object");
  const MutexLock lock(marks_mutex_);
  const auto is = [&](const char* name, std::uint64_t number) {
    return !marks.contains(name) || marks[name] == number;
  };
  if (!is("visit", visit_))
    return reject_request(409, "this review is open in another tab", "continue there, or reload this page");
  if (read_marks() != last_marks_)
    return reject_request(409, "another review of this result is also saving marks",
                          "end one of the two reviews, and reload this page");
  // Marks may arrive in another order than they were sent.
  if (marks.contains("number") && marks["number"].is_number_unsigned()) {
    const auto number = marks["number"].get<std::uint64_t>();
    if (number <= marks_number_) return {200, "application/json", "{}"};
    marks_number_ = number;
  }
  write_file(marks_file(), request.body, options_.apply.trust());
  last_marks_ = request.body;
  return {200, "application/json", "{}"};
}

// Converts [[group, member, "remove" | "keep" | "not_duplicates", {"chosen": true, "whole": N, "with": M}?], ...] to a
// decisions file. The numbers are those that this review gave, and N is as in a decisions file. The properties of the
// files come from the result.
std::string Review::make_decisions(const std::string& body) const {
  const auto wrong = [](const char* what) {
    return Failure(ErrorCode::usage, what, "the decisions", "reload the page");
  };
  const Json json = Json::parse_or_null(body);
  if (!json.is_object() || !json.contains("decisions") || !json["decisions"].is_array())
    throw wrong("their format is not supported");
  std::string out = "{\"millrace_decisions\": 1, \"decisions\": [";
  bool first = true;
  for (const Json& one : json["decisions"]) {
    const auto index = [&](std::size_t at, std::size_t count) {
      if (!one.is_array() || at >= one.size() || !one[at].is_number_unsigned() || one[at].get<std::uint64_t>() >= count)
        throw wrong("they name a file or group that is not in this review");
      return one[at].get<std::size_t>();
    };
    const std::size_t g = index(0, found_.groups.size());
    const PageGroup& group = found_.groups[g];
    const std::size_t m = index(1, group.members.size());
    const PageMember& member = group.members[m];
    if (one.size() < 3 || !one[2].is_string()) throw wrong("their format is not supported");
    const Json more = one.size() > 3 && one[3].is_object() ? one[3] : Json::object();
    const auto flag = [&](const char* name) { return more.contains(name) && more[name] == true; };
    Json entry{
        {"group", replace_invalid_utf8(group.id)}, {"action", one[2]}, {"path", replace_invalid_utf8(member.path)}};
    if (!is_utf8(member.path)) entry["path_base64"] = to_base64(member.path);
    entry["size"] = member.size;
    entry["mtime_ns"] = std::to_string(member.mtime_ns);
    entry["hash"] = member.hash;
    if (member.reference) entry["reference"] = true;
    if (flag("chosen")) entry["chosen"] = true;
    if (more.contains("whole")) entry["whole_group"] = more["whole"];
    if (more.contains("with")) {
      if (!more["with"].is_number_unsigned() || more["with"].get<std::uint64_t>() >= group.members.size())
        throw wrong("they name a file or group that is not in this review");
      entry["with"] = group.members[more["with"].get<std::size_t>()].hash;
    }
    out += (first ? "\n  " : ",\n  ") + entry.dump();
    first = false;
  }
  return out + "\n]}\n";
}

HttpResponse Review::respond_with_report(const ApplyReport& applied) {
  std::string text = json_of(applied);
  if (applied.execute) reports_.push_back(text);
  Json out{{"applied", Json::parse(text)}, {"summary", replace_invalid_utf8(summary_of(applied))}};
  return {200, "application/json", out.dump()};
}

namespace {

// Keeps the server from ending during its life.
class ActionInProgress {
 public:
  explicit ActionInProgress(std::atomic<int>& count) : count_(count) { ++count_; }
  ~ActionInProgress() { --count_; }
  ActionInProgress(const ActionInProgress&) = delete;
  ActionInProgress& operator=(const ActionInProgress&) = delete;

 private:
  std::atomic<int>& count_;
};

// Removes a temporary file at the end.
struct Draft {
  std::string path;  // empty: none
  ~Draft() {
    if (!path.empty()) std::remove(path.c_str());
  }
};

}  // namespace

// Handles {"decisions": [...], "go", "merge", "plan": the answer of the dry run before}.
HttpResponse Review::carry_out(const HttpRequest& request) {
  const ActionInProgress in_progress(actions_in_progress_);
  const MutexLock lock(acting_);
  const std::string text = make_decisions(request.body);
  const Json asked = Json::parse_or_null(request.body);
  const auto flag = [&](const char* name) { return asked.contains(name) && asked[name] == true; };
  ApplyOptions apply = options_.apply;
  apply.execute = flag("go");
  apply.merge_metadata = flag("merge");
  // Only actions that a dry run listed are carried out, and only as listed.
  const std::string wanted = fmt::format("{}{}", apply.merge_metadata, text);
  apply.confirm_plan = [&](const ApplyReport& about) {
    return asked.contains("plan") && asked["plan"] == hash_plan(wanted, about);
  };
  if (apply.execute && !asked.contains("plan"))
    return reject_request(409, "these actions were not listed", "list the actions first");
  apply.decisions = data_path(
      fmt::format("reviews/{}.{}.json", hex_of_bytes(content_hash(wanted)), apply.execute ? "decisions" : "listed"));
  const Draft draft{apply.execute ? "" : apply.decisions};
  write_file(apply.decisions, text, options_.apply.trust());
  const ApplyReport applied = dedupe::apply(apply, context_);
  if (apply.execute) runs_.push_back({applied.journal, applied.count(ItemState::done)});
  HttpResponse out = respond_with_report(applied);
  Json json = Json::parse(out.body);
  if (!apply.execute) json["plan"] = hash_plan(wanted, applied);
  if (apply.execute) json["run"] = runs_.size() - 1;
  out.body = json.dump();
  return out;
}

// Returns a hash of the outcome for every file. The secret in it means that only this review can produce it.
std::string Review::hash_plan(const std::string& decisions, const ApplyReport& applied) const {
  std::string text = plan_secret_ + decisions;
  for (const ReportItem& item : applied.items) {
    // No path contains a zero byte.
    for (const std::string& part : {item.path, item.main, std::string(name_of(item.state)),
                                    std::string(item.sidecar ? "+" : ""), std::to_string(item.size), item.reason})
      text.append(part).push_back('\0');
  }
  return hex_of_bytes(content_hash(text));
}

// Handles {"run": a number that carry_out() returned, "go"}.
HttpResponse Review::undo_run(const HttpRequest& request) {
  const ActionInProgress in_progress(actions_in_progress_);
  const MutexLock lock(acting_);
  const Json asked = Json::parse_or_null(request.body);
  if (!asked.is_object() || !asked.contains("run") || !asked["run"].is_number_unsigned() ||
      asked["run"].get<std::uint64_t>() >= runs_.size())
    return reject_request(404, "this review has carried out no action of that number");
  const bool execute = asked.contains("go") && asked["go"] == true;
  Run& run = runs_[asked["run"].get<std::size_t>()];
  const ApplyReport applied = undo(run.journal, execute, options_.apply.trust(), context_);
  if (execute) run.undone = !applied.interrupted && applied.exit_code() == ExitCode::done;
  return respond_with_report(applied);
}

}  // namespace millrace::dedupe
