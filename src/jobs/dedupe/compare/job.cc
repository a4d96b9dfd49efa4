#include "src/jobs/dedupe/job.h"

#include <fmt/format.h>

#include <cmath>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/jobs/dedupe/compare/compare.h"
#include "src/jobs/dedupe/report.h"
#include "src/jobs/dedupe/run.h"
#include "src/report/json_path.h"

namespace millrace::dedupe {
namespace {

// Returns the word for a picture that the other folder lacks or has in a lesser form.
const char* words_of(Held held) {
  switch (held) {
    case Held::pixels:
    case Held::as_good:
      return "other";
    case Held::less:
      return "less";
    case Held::alike:
      return "alike";
    default:
      return "missing";
  }
}

class CompareJob : public Job {
 public:
  Arguments arguments() override { return {"DIR", "two folders", &options_.folders, true}; }
  std::vector<DeviceKind> devices() const override { return {DeviceKind::cuda, DeviceKind::opencl}; }
  void describe(Settings& settings) override {
    settings.add_switch("bytes", "only what has the same bytes counts as there", bytes_);
    describe_files(settings, options_);
  }

  void look_at(Outputs& outputs) override {
    for (const std::string& file : catalog_files(catalog_file(options_.catalog))) outputs.kept(file);
    for (const std::string& folder : options_.folders) outputs.input_folder(folder, is_input);
    outputs.never_replace(is_input);
  }
  OutputKind json_kind() const override {
    return {"the result of millrace dedupe compare", Readers::owner, json_result("compare", {"folders", "files"})};
  }

  Plan plan(RunContext& context) override {
    prepare();
    Catalog catalog(catalog_file(options_.catalog), catalog_key(), access(context));
    return dedupe::plan(options_, catalog, context);
  }

  Result run(RunContext& context, const Print&) override {
    prepare();
    Catalog catalog(catalog_file(options_.catalog), catalog_key(), access(context));
    std::vector<HeldFile> held;
    found_ = dedupe::run(options_, catalog, context, [&](SearchResult& found, Looks& looks) {
      std::vector<std::uint32_t> files;
      for (const Group& group : found.groups) {
        for (const Member& member : group.members) files.push_back(member.file);
      }
      Origins origins;
      origins.read(files, found.library, options_.files, catalog, context);
      held = compare_folders(found, folders_, origins, looks);
    });
    catalog.flush();
    Result out;
    for (const std::size_t folder : {0U, 1U}) {
      if (!out.listing.empty()) out.listing += "\n";
      out.listing += listing_of(held, folder);
      out.summary.push_back(summary_of(held, folder));
    }
    for (const Unreadable& file : found_.library.unreadable)
      out.summary.push_back(fmt::format("not compared: {}: {}", printable(file.path), printable(file.reason)));
    const NotRead& not_read = found_.library.not_read;
    if (not_read.files() > 0) out.summary.push_back("not compared: " + not_read.words());
    out.json = [this, held = std::move(held)] { return json_pieces(json_of(held)); };
    const bool all = found_.library.unreadable.empty() && not_read.files() == 0;
    out.exit_code = all ? ExitCode::done : ExitCode::partial;
    return out;
  }

 private:
  CatalogAccess access(const RunContext& context) const {
    return access_for(context, options_.trust_files ? Trust::files : Trust::checked);
  }

  void prepare() {
    if (options_.folders.size() != 2)
      throw Failure(ErrorCode::usage, fmt::format("{} folders are named", options_.folders.size()), "compare",
                    "name two: how much of each is in the other is told");
    const std::vector<std::string> folders = absolute_folders(options_.folders);
    folders_ = {folders[0], folders[1]};
    for (const std::size_t a : {0U, 1U}) {
      if (inside(folders_[1 - a], folders_[a]))
        throw Failure(ErrorCode::usage, "it lies in the other folder, or is the same",
                      printable(options_.folders[1 - a]), "name two folders beside each other");
    }
    options_.pairs = PairMode::across;
  }

  bool counts(Held held) const { return bytes_ ? held == Held::bytes : is_there(held); }

  struct Counts {
    std::array<std::uint64_t, kHeld.size()> of{};
    std::uint64_t all = 0, there = 0, holding_more = 0, by_preview = 0;
  };
  Counts counts_of(const std::vector<HeldFile>& held, std::size_t folder) const {
    Counts out;
    for (const HeldFile& h : held) {
      if (h.folder != folder) continue;
      ++out.of[static_cast<std::size_t>(h.held)];
      ++out.all;
      out.there += counts(h.held) ? 1 : 0;
      out.holding_more += h.missing.empty() ? 0 : 1;
      out.by_preview += h.by_preview ? 1 : 0;
    }
    return out;
  }

  std::string listing_of(const std::vector<HeldFile>& held, std::size_t folder) const {
    std::string out;
    for (const HeldFile& h : held) {
      if (h.folder != folder || counts(h.held)) continue;
      out += fmt::format("{:<8}  {}{}{}{}\n", words_of(h.held), printable(h.path),
                         h.by.empty() ? "" : ": " + printable(h.by),
                         h.missing.empty() ? "" : fmt::format(", without {}", printable(file_name(h.missing))),
                         h.by_preview ? ", by a RAW file's preview alone" : "");
    }
    return out;
  }

  std::string summary_of(const std::vector<HeldFile>& held, std::size_t folder) const {
    const Counts c = counts_of(held, folder);
    const std::string name = printable(options_.folders[folder]), other = printable(options_.folders[1 - folder]);
    if (c.all == 0) return fmt::format("{}: no picture", name);
    // The share is rounded down, so that it never reaches all.
    const double share = static_cast<double>(c.there) / static_cast<double>(c.all);
    const std::string percent = c.there == c.all ? "100" : fmt::format("{:.1f}", std::floor(1000 * share) / 10);
    std::string out =
        fmt::format("{}: {} of {} pictures ({} %) are in {}", name, grouped(c.there), grouped(c.all), percent, other);
    std::vector<std::string> parts;
    const auto part = [&](Held h, const char* words) {
      if (const auto n = c.of[static_cast<std::size_t>(h)]; n > 0)
        parts.push_back(fmt::format("{} {}", grouped(n), words));
    };
    part(Held::bytes, "by their bytes");
    part(Held::pixels, "by their pixels");
    part(Held::as_good, "by a close look");
    part(Held::less, "there only smaller, in part, or without its RAW, video or other contents");
    part(Held::alike, "there only alike (altered, recoloured, another shot)");
    part(Held::absent, "not there");
    out += fmt::format("\n  {}", fmt::join(parts, ", "));
    if (c.holding_more > 0) out += fmt::format("\n  {} of them hold more than what is there", grouped(c.holding_more));
    if (c.by_preview > 0)
      out += fmt::format("\n  {} of them compared by the preview of a RAW file alone", grouped(c.by_preview));
    return out;
  }

  Json json_of(const std::vector<HeldFile>& held) const {
    Json out{{"millrace", "compare"}, {"folders", Json::array()}, {"files", Json::array()}};
    for (const std::size_t folder : {0U, 1U}) {
      const Counts c = counts_of(held, folder);
      Json entry;
      add_path(entry, folders_[folder]);
      entry["pictures"] = c.all;
      entry["in_the_other"] = c.there;
      entry["holding_more"] = c.holding_more;
      entry["by_preview"] = c.by_preview;
      for (const Held h : kHeld) entry[name_of(h)] = c.of[static_cast<std::size_t>(h)];
      out["folders"].push_back(std::move(entry));
    }
    for (const HeldFile& h : held) {
      Json entry;
      add_path(entry, h.path);
      entry["held"] = name_of(h.held);
      if (!h.by.empty()) {
        Json by;
        add_path(by, h.by);
        entry["by"] = std::move(by);
      }
      if (!h.missing.empty()) entry["missing"] = utf8_for_display(h.missing);
      if (h.by_preview) entry["by_preview"] = true;
      out["files"].push_back(std::move(entry));
    }
    out["not_compared"] = Json::array();
    for (const Unreadable& file : found_.library.unreadable) {
      Json entry;
      add_path(entry, file.path);
      entry["reason"] = file.reason;
      out["not_compared"].push_back(std::move(entry));
    }
    out["not_read"] = not_read_json(found_.library.not_read);
    return out;
  }

  Options options_;
  bool bytes_ = false;
  std::array<std::string, 2> folders_;
  SearchResult found_;
};

}  // namespace

std::unique_ptr<Job> make_compare_job() { return std::make_unique<CompareJob>(); }

}  // namespace millrace::dedupe
