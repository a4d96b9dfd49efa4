// Input: a result of dedupe, and what a person does with it in a browser on this machine.
// Output: pictures for that browser; decisions carried out, and taken back, by apply and undo; marks for the next time.
// Never: answers who has no key; takes a path from a browser; ends while files are carried away.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "src/io/http/local_server.h"
#include "src/jobs/dedupe/apply/apply.h"
#include "src/jobs/dedupe/options.h"
#include "src/jobs/dedupe/review/found.h"
#include "src/jobs/dedupe/review/pictures.h"

namespace millrace::dedupe {

struct ReviewOptions {
  std::string result;  // a file
  long long port = 0;  // 0: any that is free
  PictureFileOptions files = scaled_pictures();
  ApplyOptions apply;  // its decisions and go are the browser's
};

class Review {
 public:
  // All live as long as it.
  Review(const SavedSearch& found, const ReviewOptions& options, RunContext& context);

  // What the address that is printed ends with: it lets one page in.
  const std::string& token() const { return token_; }
  // Serves until the last page is away for a minute, or none has come in a quarter of an hour, or one says that it is
  // done, or the run is told to stop.
  void serve(LocalServer& server);
  // What was carried out and taken back, in order, as apply and undo tell it.
  const std::vector<std::string>& told() const { return told_; }
  // Journals of what was carried out and is not all back.
  std::vector<std::string> standing() const;

 private:
  LocalServer::Admission admit(const HttpRequest& request);
  HttpResponse handle(const HttpRequest& request);
  bool ended();

  HttpResponse enter(const HttpRequest& request);
  HttpResponse picture(const HttpRequest& request);
  HttpResponse meeting(const HttpRequest& request);
  HttpResponse data();
  HttpResponse keep_marks(const HttpRequest& request);
  HttpResponse carry_out(const HttpRequest& request);
  HttpResponse take_back(const HttpRequest& request);
  HttpResponse tell(const Applied& applied);
  std::string decisions_from(const std::string& body) const;
  std::string marks_file() const;
  std::string kept_marks() const;
  std::string plan_of(const std::string& decisions, const Applied& applied) const;
  bool has_key(const HttpRequest& request) const;

  const SavedSearch& found_;
  const ReviewOptions& options_;
  RunContext& context_;
  Pictures pictures_;
  std::string token_, session_, key_, plan_secret_, cookie_name_;  // on the server's thread, or not changed any more
  std::atomic<bool> entered_ = false, done_ = false;
  std::atomic<std::int64_t> alive_ = 0;  // when a page was last heard of, by steady_clock
  std::int64_t looked_ = 0;              // when ended() was last asked
  std::atomic<int> carrying_ = 0;
  std::mutex acting_;  // one apply or undo at a time
  std::vector<std::string> told_;
  // What was carried out, by the numbers that pages know it by.
  struct Run {
    std::string journal;
    std::uint64_t files = 0;
    bool undone = false;  // all of it
  };
  std::vector<Run> runs_;
  std::mutex marks_mutex_;
  std::uint64_t visit_ = 0;         // of the page that was loaded last: marks are its alone
  std::uint64_t marks_number_ = 0;  // of those that are kept
  std::string known_marks_;         // as they lie on the disk, for all that this review knows
};

}  // namespace millrace::dedupe
