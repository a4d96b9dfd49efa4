// Input: a result of dedupe, and a person's actions in a browser on this machine.
// Output: pictures for that browser; decisions carried out by apply and reversed by undo; marks for the next visit.
// Never: answers a request without the key; accepts a path from a browser; ends while files are being moved.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "src/base/mutex.h"
#include "src/io/http/local_server.h"
#include "src/jobs/dedupe/apply/apply.h"
#include "src/jobs/dedupe/options.h"
#include "src/jobs/dedupe/review/review_pictures.h"
#include "src/jobs/dedupe/review/saved_search.h"

namespace millrace::dedupe {

struct ReviewOptions {
  std::string result;  // path of the result
  long long port = 0;  // 0: any free port
  PictureFileOptions files = make_scaled_gray_options();
  ApplyOptions apply;  // the browser sets its decisions and `execute`
};

class Review {
 public:
  // The arguments must outlive the object.
  Review(const SavedSearch& found, const ReviewOptions& options, RunContext& context);

  // Last part of the printed address; it admits a single page.
  const std::string& token() const { return token_; }
  // Serves until a page says that it is done, or the run is cancelled. Also ends when the last page is gone for a
  // minute, or when no page has come within a quarter of an hour.
  void serve(LocalServer& server);
  // Reports of apply and undo on the actions carried out and reversed, in order.
  std::vector<std::string> reports() const;
  // Journals of the actions that are not fully reversed.
  std::vector<std::string> undoable_journals() const;

 private:
  LocalServer::Admission admit(const HttpRequest& request);
  HttpResponse handle(const HttpRequest& request);
  bool is_finished();

  HttpResponse enter(const HttpRequest& request);
  HttpResponse serve_picture(const HttpRequest& request);
  HttpResponse serve_alignment(const HttpRequest& request);
  HttpResponse serve_data();
  HttpResponse store_marks(const HttpRequest& request);
  HttpResponse carry_out(const HttpRequest& request);
  HttpResponse undo_run(const HttpRequest& request);
  HttpResponse respond_with_report(const ApplyReport& applied) MILLRACE_REQUIRES(acting_);
  std::string make_decisions(const std::string& body) const;
  std::string marks_file() const;
  std::string read_marks() const;
  std::string hash_plan(const std::string& decisions, const ApplyReport& applied) const;
  bool has_key(const HttpRequest& request) const;

  const SavedSearch& found_;
  const ReviewOptions& options_;
  RunContext& context_;
  ReviewPictures pictures_;
  std::string token_, session_, key_, plan_secret_,
      cookie_name_;  // used on the server's thread, or constant after the start
  std::atomic<bool> entered_ = false, done_ = false;
  std::atomic<std::int64_t> alive_ = 0;  // time of the last sign from a page, by steady_clock
  std::int64_t last_check_ = 0;          // time of the last call of is_finished()
  std::atomic<int> actions_in_progress_ = 0;
  mutable Mutex acting_;  // held for one apply or undo at a time
  std::vector<std::string> reports_ MILLRACE_GUARDED_BY(acting_);
  // Actions that were carried out; pages refer to them by index.
  struct Run {
    std::string journal;
    std::uint64_t files = 0;
    bool undone = false;  // true if all of it was undone
  };
  std::vector<Run> runs_ MILLRACE_GUARDED_BY(acting_);
  Mutex marks_mutex_;
  std::uint64_t visit_ MILLRACE_GUARDED_BY(marks_mutex_) =
      0;  // number of the page that was loaded last: only that page may write marks
  std::uint64_t marks_number_ MILLRACE_GUARDED_BY(marks_mutex_) = 0;  // number of the marks that are stored
  std::string last_marks_
      MILLRACE_GUARDED_BY(marks_mutex_);  // content of the marks file as this review last read or wrote it
};

}  // namespace millrace::dedupe
