#include "src/jobs/dedupe/job.h"

#include <fmt/format.h>

#include <cmath>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/jobs/dedupe/compare/compare_folders.h"
#include "src/jobs/dedupe/report.h"
#include "src/jobs/dedupe/run.h"
#include "src/report/json_path.h"

namespace millrace::dedupe {
namespace {

// Returns the word for a picture that the other folder lacks or has in a lesser form.
const char* presence_word(FolderPresence presence) {
  switch (presence) {
    case FolderPresence::pixels:
    case FolderPresence::interchangeable:
      return "other";
    case FolderPresence::less:
      return "less";
    case FolderPresence::alike:
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
    settings.add_switch("bytes", "count a picture as present only if the other folder has the same bytes", bytes_);
    describe_files(settings, options_);
  }

  void register_files(OutputRegistry& outputs) override {
    for (const std::string& file : catalog_files(catalog_path(options_.catalog))) outputs.add_kept_file(file);
    for (const std::string& folder : options_.folders) outputs.add_input_folder(folder, is_input);
    outputs.never_replace(is_input);
  }
  OutputKind json_kind() const override {
    return {"the result of millrace dedupe compare", ReadAccess::owner,
            make_json_recognizer("compare", {"folders", "files"})};
  }

  Plan plan(RunContext& context) override {
    prepare();
    Catalog catalog(catalog_path(options_.catalog), catalog_key(), access(context));
    return dedupe::plan(options_, catalog, context);
  }

  Result run(RunContext& context, const PrintLines&) override {
    prepare();
    Catalog catalog(catalog_path(options_.catalog), catalog_key(), access(context));
    std::vector<FilePresence> presence;
    found_ = dedupe::run(options_, catalog, context, [&](SearchResult& found, PairComparator& comparator) {
      std::vector<std::uint32_t> files;
      for (const Group& group : found.groups) {
        for (const GroupMember& member : group.members) files.push_back(member.file);
      }
      Origins origins;
      origins.read(files, found.library, options_.files, catalog, context);
      presence = compare_folders(found, folders_, origins, comparator);
    });
    catalog.flush();
    Result out;
    for (const std::size_t folder : {0U, 1U}) {
      if (!out.listing.empty()) out.listing += "\n";
      out.listing += listing_of(presence, folder);
      out.summary.push_back(summary_of(presence, folder));
    }
    for (const UnreadableFile& file : found_.library.unreadable)
      out.summary.push_back(
          fmt::format("not compared: {}: {}", escape_unprintable(file.path), escape_unprintable(file.reason)));
    const UnsupportedFiles& unsupported_files = found_.library.unsupported_files;
    if (unsupported_files.files() > 0) out.summary.push_back("not compared: " + unsupported_files.description());
    out.json = [this, presence = std::move(presence)] { return make_json_strings(json_of(presence)); };
    const bool all = found_.library.unreadable.empty() && unsupported_files.files() == 0;
    out.exit_code = all ? ExitCode::done : ExitCode::partial;
    return out;
  }

 private:
  CatalogAccess access(const RunContext& context) const {
    return make_catalog_access(context, options_.trust_files ? Trust::files : Trust::checked);
  }

  void prepare() {
    if (options_.folders.size() != 2)
      throw Failure(ErrorCode::usage, fmt::format("expected 2 folders, found {}", options_.folders.size()), "compare",
                    "name two folders, as in millrace dedupe compare A B");
    const std::vector<std::string> folders = resolve_folders(options_.folders);
    folders_ = {folders[0], folders[1]};
    for (const std::size_t a : {0U, 1U}) {
      if (is_inside(folders_[1 - a], folders_[a]))
        throw Failure(ErrorCode::usage, "it is the other folder, or is inside it",
                      escape_unprintable(options_.folders[1 - a]), "name two folders, neither inside the other");
    }
    options_.pairs = PairMode::across;
  }

  bool is_counted(FolderPresence presence) const {
    return bytes_ ? presence == FolderPresence::bytes : is_covered(presence);
  }

  struct Counts {
    std::array<std::uint64_t, kFolderPresences.size()> by_presence{};
    std::uint64_t all = 0, covered = 0, holding_more = 0, by_preview = 0;
  };
  Counts count_files(const std::vector<FilePresence>& presence, std::size_t folder) const {
    Counts out;
    for (const FilePresence& h : presence) {
      if (h.folder != folder) continue;
      ++out.by_presence[static_cast<std::size_t>(h.presence)];
      ++out.all;
      out.covered += is_counted(h.presence) ? 1 : 0;
      out.holding_more += h.missing.empty() ? 0 : 1;
      out.by_preview += h.by_preview ? 1 : 0;
    }
    return out;
  }

  std::string listing_of(const std::vector<FilePresence>& presence, std::size_t folder) const {
    std::string out;
    for (const FilePresence& h : presence) {
      if (h.folder != folder || is_counted(h.presence)) continue;
      out += fmt::format("{:<8}  {}{}{}{}\n", presence_word(h.presence), escape_unprintable(h.path),
                         h.nearest.empty() ? "" : ": " + escape_unprintable(h.nearest),
                         h.missing.empty() ? "" : fmt::format(", without {}", escape_unprintable(file_name(h.missing))),
                         h.by_preview ? ", compared only by a RAW file's preview" : "");
    }
    return out;
  }

  std::string summary_of(const std::vector<FilePresence>& presence, std::size_t folder) const {
    const Counts c = count_files(presence, folder);
    const std::string name = escape_unprintable(options_.folders[folder]),
                      other = escape_unprintable(options_.folders[1 - folder]);
    if (c.all == 0) return fmt::format("{}: no pictures found", name);
    // The share is rounded down, so that it never reaches all.
    const double share = static_cast<double>(c.covered) / static_cast<double>(c.all);
    const std::string percent = c.covered == c.all ? "100" : fmt::format("{:.1f}", std::floor(1000 * share) / 10);
    std::string out = fmt::format("{}: {} of {} pictures ({} %) are in {}", name, group_digits(c.covered),
                                  group_digits(c.all), percent, other);
    std::vector<std::string> parts;
    const auto part = [&](FolderPresence h, const char* description) {
      if (const auto n = c.by_presence[static_cast<std::size_t>(h)]; n > 0)
        parts.push_back(fmt::format("{} {}", group_digits(n), description));
    };
    part(FolderPresence::bytes, "with the same bytes");
    part(FolderPresence::pixels, "with the same pixels");
    part(FolderPresence::interchangeable, "equal by the detailed check");
    part(FolderPresence::less, "only smaller, cropped, damaged, or without a RAW, video or other content");
    part(FolderPresence::alike, "only similar (altered, recoloured, another shot, or not checked)");
    part(FolderPresence::absent, "missing");
    out += fmt::format("\n  {}", fmt::join(parts, ", "));
    if (c.holding_more > 0)
      out += fmt::format("\n  {} of them hold content that the other folder lacks", group_digits(c.holding_more));
    if (c.by_preview > 0)
      out += fmt::format("\n  {} of them compared only by the preview of a RAW file", group_digits(c.by_preview));
    return out;
  }

  Json json_of(const std::vector<FilePresence>& presence) const {
    Json out{{"millrace", "compare"}, {"folders", Json::array()}, {"files", Json::array()}};
    for (const std::size_t folder : {0U, 1U}) {
      const Counts c = count_files(presence, folder);
      Json entry;
      add_path(entry, folders_[folder]);
      entry["pictures"] = c.all;
      entry["in_the_other"] = c.covered;
      entry["holding_more"] = c.holding_more;
      entry["by_preview"] = c.by_preview;
      for (const FolderPresence h : kFolderPresences) entry[name_of(h)] = c.by_presence[static_cast<std::size_t>(h)];
      out["folders"].push_back(std::move(entry));
    }
    for (const FilePresence& h : presence) {
      Json entry;
      add_path(entry, h.path);
      entry["held"] = name_of(h.presence);
      if (!h.nearest.empty()) {
        Json nearest;
        add_path(nearest, h.nearest);
        entry["by"] = std::move(nearest);
      }
      if (!h.missing.empty()) entry["missing"] = replace_invalid_utf8(h.missing);
      if (h.by_preview) entry["by_preview"] = true;
      out["files"].push_back(std::move(entry));
    }
    out["not_compared"] = Json::array();
    for (const UnreadableFile& file : found_.library.unreadable) {
      Json entry;
      add_path(entry, file.path);
      entry["reason"] = file.reason;
      out["not_compared"].push_back(std::move(entry));
    }
    out["not_read"] = not_read_json(found_.library.unsupported_files);
    return out;
  }

  DedupeOptions options_;
  bool bytes_ = false;
  std::array<std::string, 2> folders_;
  SearchResult found_;
};

}  // namespace

std::unique_ptr<Job> make_compare_job() { return std::make_unique<CompareJob>(); }

}  // namespace millrace::dedupe
