#include "src/jobs/dedupe/stages/import_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>

#include "src/base/json.h"
#include "src/base/log.h"
#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/lines.h"
#include "src/io/file/relocate.h"
#include "src/io/file/trusted_file.h"
#include "src/jobs/dedupe/match/packed_codes.h"
#include "src/jobs/dedupe/stages/compared_lines.h"
#include "src/jobs/dedupe/stages/stage_records.h"
#include "src/pipeline/checkpoint/run_folder.h"
#include "src/pipeline/checkpoint/run_record.h"

namespace millrace::dedupe {
namespace {

[[noreturn]] void refuse(const std::string& folder, ErrorCode code, const std::string& what) {
  throw Failure(code, what, escape_unprintable(folder),
                "name a complete and unchanged folder that this version wrote with millrace dedupe --stage");
}

std::string value_of(const Attributes& attributes, const char* name) {
  const auto at = std::find_if(attributes.begin(), attributes.end(), [&](const auto& a) { return a.first == name; });
  return at == attributes.end() ? std::string() : at->second;
}

// Opens a file of the folder, if nobody else can have written it.
std::unique_ptr<FileReader> open_lines(const std::string& folder, const char* name, Trust trust) {
  const std::string path = join_path(folder, name);
  return FileReader::make(open_trusted_file(path, trust, false, false), path, FileReader::Hashing::off).or_throw();
}

class StageImporter {
 public:
  StageImporter(const std::vector<LibraryFile>& files, Catalog& catalog) : files_(files), catalog_(catalog) {}

  bool import_file(const std::string& line) {
    auto record = parse_file_record(line);
    if (!record) return false;
    if (!is_wanted(record->entry)) return true;
    // Decoders depend on names too, so a content that failed under one name may decode under another.
    if (record->read.has_picture && record->read.picture.failed) {
      failed_.push_back(*std::move(record));
    } else {
      keep_new_record(*std::move(record));
    }
    return true;
  }
  bool import_check(const std::string& line) {
    auto comparison = parse_check_record(line);
    if (!comparison) return false;
    catalog_.put(*std::move(comparison));
    catalog_.flush_periodically();
    return true;
  }
  bool import_compared(const std::string& line) {
    if (!compared_.add(line)) return false;
    for (ComparedBatch& part : compared_.complete_parts()) {
      catalog_.put(part.scores);
      if (!part.compared_appearances.empty()) put_compared_appearances(drop_unknown_appearances(std::move(part)));
    }
    compared_.complete_parts().clear();
    catalog_.flush_periodically();
    return true;
  }
  std::uint64_t shards() const { return compared_.is_complete() ? compared_.shards() : 0; }
  void end() {
    compared_ = {};
    joins_.clear();
    catalog_.flush();
    for (FileRecord& record : failed_) keep_new_record(std::move(record));
    failed_.clear();
    catalog_.flush();
  }

 private:
  // Batches that the catalog has under a rule, and the number of them that were matched so far.
  struct Join {
    std::vector<std::vector<std::uint8_t>> there;
    std::size_t next = 0;
    bool is_continued = true;
  };

  // Leaves out the appearances whose thumbnail the catalog lacks: later runs could not compare them with others, and
  // would not notice.
  ComparedBatch drop_unknown_appearances(ComparedBatch part) const {
    const std::size_t rows = part.codes.empty() ? part.compared_appearances.size() / sizeof(PackedCodes)
                                                : part.compared_appearances.size() / sizeof(std::uint64_t);
    const std::size_t row = part.compared_appearances.size() / rows, code = part.codes.size() / rows;
    ComparedBatch out;
    out.rule = part.rule;
    bool all = true;
    for (std::size_t i = 0; i < rows; ++i) {
      std::uint64_t thumbnail_digest = 0;
      std::memcpy(&thumbnail_digest, part.compared_appearances.data() + i * row, sizeof thumbnail_digest);
      if (!catalog_.thumbnail(thumbnail_digest)) {
        all = false;
        continue;
      }
      const auto add = [&](std::vector<std::uint8_t>& to, const std::vector<std::uint8_t>& from, std::size_t bytes) {
        const auto at = from.begin() + static_cast<std::ptrdiff_t>(i * bytes);
        to.insert(to.end(), at, at + static_cast<std::ptrdiff_t>(bytes));
      };
      add(out.compared_appearances, part.compared_appearances, row);
      add(out.codes, part.codes, code);
    }
    if (all) return part;
    // Links to these appearances, in this batch or in later ones, then match no picture of the catalog.
    out.links = std::move(part.links);
    return out;
  }

  // Appends a batch after those that an earlier run imported from the same folder. If the catalog has other batches,
  // these were not compared with them, and are left out.
  void put_compared_appearances(const ComparedBatch& part) {
    const auto [at, first] = joins_.try_emplace(part.rule);
    Join& join = at->second;
    if (first) join.there = catalog_.compared_appearances(part.rule).parts;
    if (!join.is_continued || part.compared_appearances.empty()) return;
    const std::size_t number = join.next++;
    join.is_continued =
        number < join.there.size()
            ? join.there[number] == part.compared_appearances
            : catalog_.put_compared_appearances(part.rule, number, part.compared_appearances, part.links, part.codes);
    if (!join.is_continued)
      spdlog::info("the catalog has comparisons of other pictures: the imported pictures are compared again");
  }
  // Keeps the result that the catalog has of a content, whatever name a line gives it. For a new content the first line
  // counts.
  void keep_new_record(FileRecord record) {
    if (record.read.has_picture) {
      const auto known = catalog_.picture(record.read.content);
      const bool first = taken_.insert(record.read.content).second;
      if (!first || (known && !known->failed)) record.read.has_picture = false;
    }
    store_read_result(catalog_, record.entry, std::move(record.read));
  }
  bool is_wanted(const FileEntry& entry) {
    const auto at =
        std::lower_bound(files_.begin(), files_.end(), entry.path,
                         [](const LibraryFile& file, const std::string& path) { return file.entry.path < path; });
    if (at == files_.end() || at->entry.path != entry.path || at->entry.size != entry.size ||
        at->entry.mtime_ns != entry.mtime_ns)
      return false;
    const auto known = catalog_.file(entry.path);
    return !known || !is_unchanged(at->entry, *known);
  }

  const std::vector<LibraryFile>& files_;
  Catalog& catalog_;
  std::vector<FileRecord> failed_;
  std::set<ContentHash> taken_;
  ComparedLinesParser compared_;
  std::map<std::uint64_t, Join> joins_;  // by rule
};

// Kind of stage: the mark and the file of lines of its folder, and the import function, which returns false for a line
// that no run writes.
struct StageFormat {
  const char *mark, *lines;
  const char* count;  // name of the number of items in the folder's attributes
  bool (StageImporter::*import_lines)(const std::string&);
};
constexpr std::array<StageFormat, 3> kStageFormats = {
    {{kReadMark, kReadLines, "files", &StageImporter::import_file},
     {kCompareMark, kCompareLines, "shards", &StageImporter::import_compared},
     {kCheckMark, kCheckLines, "sets", &StageImporter::import_check}}};

std::optional<std::uint64_t> count_of(const StageFormat& kind, const Attributes& made_of) {
  const auto inputs = Json::parse_or_null(value_of(made_of, "inputs"));
  if (!inputs.is_array() || inputs.size() != 1 || !inputs[0].is_object()) return std::nullopt;
  const auto number = inputs[0].find(kind.count);
  return number && number->is_number_unsigned() ? std::optional(number->get<std::uint64_t>()) : std::nullopt;
}

// Output folder of a stage, with its attributes.
struct StageFolder {
  std::string named, folder;
  const StageFormat* kind = nullptr;
  std::uint64_t count = 0;
};

void import_lines(const StageFolder& stage, Trust trust, StageImporter& importer, RunContext& context) {
  const StageFormat& kind = *stage.kind;
  const auto lines = open_lines(stage.folder, kind.lines, trust);
  lines->set_cancelled([&context] { return context.cancel.cancelled(); });
  const bool files = kind.import_lines == &StageImporter::import_file,
             compared = kind.import_lines == &StageImporter::import_compared;
  Progress progress(context.progress, "importing", files ? stage.count : 0);
  std::uint64_t count = 0;
  const auto taken = for_each_line(*lines, kMaxLineBytes, [&](const std::string& line) {
    ++count;
    progress.add(1);
    return (importer.*kind.import_lines)(line);
  });
  if (compared) count = importer.shards();
  importer.end();
  context.throw_if_cancelled();
  if (!taken) throw Failure(taken.error());
  if (!*taken) refuse(stage.named, ErrorCode::bad_data, std::string(kind.lines) + " has an invalid line");
  if ((files || compared) && count != stage.count) {
    refuse(stage.named, ErrorCode::bad_data,
           fmt::format("{} has {} {}, expected {}", kind.lines, group_digits(count), kind.count,
                       group_digits(stage.count)));
  }
}

// Reports an output that is missing, or of which only the unmerged shards of a run exist.
void refuse_incomplete(const std::string& named) {
  if (exists(named)) return;
  if (exists(RunFolder(named).name())) {
    throw Failure(ErrorCode::conflict, "the stage is not complete", escape_unprintable(named),
                  "run the missing shards; millrace finish lists them");
  }
  throw Failure(ErrorCode::not_found, "the folder was not found", escape_unprintable(named),
                "name a folder that millrace dedupe --stage wrote");
}

StageFolder open_stage(const std::string& named, Trust trust) {
  refuse_incomplete(named);
  const std::string folder = real_path(named).value_or(named);
  verify_trusted_file(join_path(folder, RunFolder::kRunFile), trust).or_throw();
  const auto made_of = read_json_attributes(join_path(folder, RunFolder::kRunFile));
  const auto kind = std::find_if(kStageFormats.begin(), kStageFormats.end(), [&](const StageFormat& one) {
    return made_of && !value_of(*made_of, one.mark).empty();
  });
  if (kind == kStageFormats.end() || folder.ends_with(".shards"))
    refuse(named, ErrorCode::bad_data, "this is not the output of a dedupe stage");
  if (value_of(*made_of, "pictures") != catalog_key().pictures)
    refuse(named, ErrorCode::conflict, "it was made by a version that decodes or hashes differently");
  if (kind->mark == kCompareMark && value_of(*made_of, "verdicts") != catalog_key().verdicts)
    refuse(named, ErrorCode::conflict, "it was made by a version that compares differently");
  const auto count = count_of(*kind, *made_of);
  if (!count) refuse(named, ErrorCode::bad_data, fmt::format("its number of {} is missing", kind->count));
  return {named, folder, kind, *count};
}

}  // namespace

std::uint64_t count_stage_files(const std::vector<std::string>& folders, Trust trust) {
  std::uint64_t out = 0;
  for (const std::string& named : folders) {
    const StageFolder stage = open_stage(named, trust);
    if (stage.kind->import_lines == &StageImporter::import_file) out += stage.count;
  }
  return out;
}

void import_stages(const std::vector<std::string>& folders, Trust trust, const std::vector<LibraryFile>& files,
                   Catalog& catalog, RunContext& context) {
  if (folders.empty()) return;
  std::vector<StageFolder> stages;
  for (const std::string& named : folders) stages.push_back(open_stage(named, trust));
  // Comparisons are imported only for cataloged pictures, so the read stages come first.
  std::stable_sort(stages.begin(), stages.end(), [](const auto& a, const auto& b) { return a.kind < b.kind; });
  catalog.put_unconfirmed_copies(true);
  StageImporter importer(files, catalog);
  for (const StageFolder& stage : stages) import_lines(stage, trust, importer, context);
}

}  // namespace millrace::dedupe
