#include <fmt/format.h>

#include <algorithm>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/relocate.h"
#include "src/jobs/dedupe/job.h"
#include "src/jobs/dedupe/review/review.h"
#include "src/jobs/dedupe/scan/library.h"

namespace millrace::dedupe {
namespace {

class ReviewJob : public Job {
 public:
  Arguments arguments() override { return {"RESULT", "the file that dedupe --json wrote", &inputs_, true, false}; }

  // The job serves a page, and acts on pictures anywhere, so it cannot be sandboxed.
  bool can_be_sandboxed() const override { return false; }
  void describe(Settings& settings) override {
    settings.set_heading("Server");
    settings.add_integer("port", "N", "listen on this port, reachable only from this machine; 0: any free port",
                         options_.port, 0, 65535);
    settings.add_integer("max-pixels", "N", "skip pictures with more pixels, as protection against decompression bombs",
                         options_.files.max_pixels, 1, 100'000'000'000);
    options_.apply.action = "trash";
    describe_action_options(settings, options_.apply);
    settings.add_consent("trust-files", kTrustFilesHelp, options_.apply.trust_files);
  }

  void register_files(OutputRegistry& outputs) override {
    outputs.add_input(inputs_.at(0));
    for (const std::string& file : catalog_files(catalog_path(options_.apply.catalog))) outputs.add_kept_file(file);
    outputs.never_replace(is_input);
  }
  OutputKind json_kind() const override {
    return {"the result of millrace dedupe review", ReadAccess::owner, make_json_recognizer("review", {"runs"})};
  }

  Plan plan(RunContext&) override {
    read_result();
    Plan out;
    out.lines.push_back({"result", escape_unprintable(inputs_[0])});
    out.lines.push_back({"groups", fmt::format("{} of {} files", group_digits(found_.groups.size()),
                                               group_digits(found_.files.size()))});
    out.figures = {{"groups", found_.groups.size()}, {"files", found_.files.size()}};
    return out;
  }

  Result run(RunContext& context, const PrintLines& print) override {
    read_result();
    Review review(found_, options_, context);
    LocalServer server(static_cast<std::uint16_t>(options_.port), std::max(2, context.executor.threads()));
    print(fmt::format("http://{}/#{}\n", server.host(), review.token()));
    review.serve(server);
    Result out;
    const std::vector<std::string> undoable_journals = review.undoable_journals();
    out.summary.emplace_back(review.reports().empty()    ? "the review has ended; no file was changed"
                             : undoable_journals.empty() ? "the review has ended; all its actions were reversed"
                                                         : "the review has ended; to undo its actions:");
    for (const std::string& journal : undoable_journals)
      out.summary.push_back(fmt::format("millrace dedupe undo {} --go", escape_unprintable(journal)));
    out.json = [runs = review.reports()] {
      Json json{{kJsonMark, "review"}, {"runs", Json::array()}};
      for (const std::string& run : runs) json["runs"].push_back(Json::parse(run));
      return make_json_strings(json);
    };
    return out;
  }

 private:
  void read_result() {
    options_.result = inputs_.at(0);
    parse_action(options_.apply.action);
    const std::string subject = escape_unprintable(options_.result);
    const auto text = read_text(options_.result, kMaxResultBytes);
    if (!text) throw Failure(text.error());
    if (text->size() > kMaxResultBytes)
      throw Failure(ErrorCode::too_large,
                    fmt::format("the file is too large; the limit is {}", format_bytes(Bytes{kMaxResultBytes})),
                    subject);
    found_ = read_saved_search(*text, subject);
    const std::vector<std::string> references = resolve_folders(options_.apply.references);
    for (PageGroup& group : found_.groups) {
      for (PageMember& member : group.members) {
        member.reference |= std::any_of(references.begin(), references.end(),
                                        [&](const std::string& folder) { return is_inside(member.path, folder); });
      }
    }
    const std::string catalog = catalog_path(options_.apply.catalog);
    if (!exists(catalog) && options_.apply.within.empty()) {
      throw Failure(ErrorCode::not_found,
                    "the catalog of the search was not found, and only files in it may be touched",
                    escape_unprintable(catalog), "name the catalog of the search with --catalog");
    }
  }

  std::vector<std::string> inputs_;
  ReviewOptions options_;
  SavedSearch found_;
};

}  // namespace

std::unique_ptr<Job> make_review_job() { return std::make_unique<ReviewJob>(); }

}  // namespace millrace::dedupe
