#include "src/jobs/dedupe/stages/take.h"

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
#include "src/io/file/own.h"
#include "src/io/file/relocate.h"
#include "src/jobs/dedupe/match/joined_parts.h"
#include "src/jobs/dedupe/stages/compared_lines.h"
#include "src/jobs/dedupe/stages/records.h"
#include "src/pipeline/checkpoint/run_folder.h"
#include "src/pipeline/checkpoint/run_record.h"

namespace millrace::dedupe {
namespace {

[[noreturn]] void refuse(const std::string& folder, ErrorCode code, const std::string& what) {
  throw Failure(code, what, printable(folder),
                "name the folder that millrace dedupe --stage has made with this version, whole and unchanged");
}

std::string value_of(const Attributes& attributes, const char* name) {
  const auto at = std::find_if(attributes.begin(), attributes.end(), [&](const auto& a) { return a.first == name; });
  return at == attributes.end() ? std::string() : at->second;
}

// Opens a file of the folder, if nobody else can have written it.
std::unique_ptr<FileReader> open_lines(const std::string& folder, const char* name, Trust trust) {
  const std::string path = path_in(folder, name);
  return FileReader::of(open_own_file(path, trust, false, false), path, FileReader::Hashing::off).or_throw();
}

class Taking {
 public:
  Taking(const std::vector<File>& files, Catalog& catalog) : files_(files), catalog_(catalog) {}

  bool take_file(const std::string& line) {
    auto record = file_record(line);
    if (!record) return false;
    if (!is_wanted(record->entry)) return true;
    // Decoders depend on names too, so a content that failed under one name may decode under another.
    if (record->read.has_picture && record->read.picture.failed) {
      failed_.push_back(*std::move(record));
    } else {
      keep_unknown(*std::move(record));
    }
    return true;
  }
  bool take_look(const std::string& line) {
    auto look = look_record(line);
    if (!look) return false;
    catalog_.put(*std::move(look));
    catalog_.flush_now_and_then();
    return true;
  }
  bool take_compared(const std::string& line) {
    if (!compared_.add(line)) return false;
    for (ComparedPart& part : compared_.whole()) {
      catalog_.put(part.scores);
      if (!part.joined.empty()) put_joined(of_known(std::move(part)));
    }
    compared_.whole().clear();
    catalog_.flush_now_and_then();
    return true;
  }
  std::uint64_t shards() const { return compared_.at_end() ? compared_.shards() : 0; }
  void end() {
    compared_ = {};
    joins_.clear();
    catalog_.flush();
    for (FileRecord& record : failed_) keep_unknown(std::move(record));
    failed_.clear();
    catalog_.flush();
  }

 private:
  // Batches that the catalog has under a rule, and the number of them that were matched so far.
  struct Join {
    std::vector<std::vector<std::uint8_t>> there;
    std::size_t next = 0;
    bool goes_on = true;
  };

  // Leaves out the appearances whose thumbnail the catalog lacks: later runs could not compare them with others, and
  // would not notice.
  ComparedPart of_known(ComparedPart part) const {
    const std::size_t rows =
        part.codes.empty() ? part.joined.size() / sizeof(PackedCodes) : part.joined.size() / sizeof(std::uint64_t);
    const std::size_t row = part.joined.size() / rows, code = part.codes.size() / rows;
    ComparedPart out;
    out.rule = part.rule;
    bool all = true;
    for (std::size_t i = 0; i < rows; ++i) {
      std::uint64_t appearance = 0;
      std::memcpy(&appearance, part.joined.data() + i * row, sizeof appearance);
      if (!catalog_.thumbnail(appearance)) {
        all = false;
        continue;
      }
      const auto add = [&](std::vector<std::uint8_t>& to, const std::vector<std::uint8_t>& from, std::size_t bytes) {
        const auto at = from.begin() + static_cast<std::ptrdiff_t>(i * bytes);
        to.insert(to.end(), at, at + static_cast<std::ptrdiff_t>(bytes));
      };
      add(out.joined, part.joined, row);
      add(out.codes, part.codes, code);
    }
    if (all) return part;
    // Links to these appearances, in this batch or in later ones, then match no picture of the catalog.
    out.links = std::move(part.links);
    return out;
  }

  // Appends a batch after those that an earlier run imported from the same folder. If the catalog has other batches,
  // these were not compared with them, and are left out.
  void put_joined(const ComparedPart& part) {
    const auto [at, first] = joins_.try_emplace(part.rule);
    Join& join = at->second;
    if (first) join.there = catalog_.joined(part.rule).parts;
    if (!join.goes_on || part.joined.empty()) return;
    const std::size_t number = join.next++;
    join.goes_on = number < join.there.size()
                       ? join.there[number] == part.joined
                       : catalog_.put_joined(part.rule, number, part.joined, part.links, part.codes);
    if (!join.goes_on) spdlog::info("the catalogue knows other pictures that were compared: these are compared again");
  }
  // Keeps the result that the catalog has of a content, whatever name a line gives it. For a new content the first line
  // counts.
  void keep_unknown(FileRecord record) {
    if (record.read.has_picture) {
      const auto known = catalog_.picture(record.read.content);
      const bool first = taken_.insert(record.read.content).second;
      if (!first || (known && !known->failed)) record.read.has_picture = false;
    }
    keep(catalog_, record.entry, std::move(record.read));
  }
  bool is_wanted(const FileEntry& entry) {
    const auto at = std::lower_bound(files_.begin(), files_.end(), entry.path,
                                     [](const File& file, const std::string& path) { return file.entry.path < path; });
    if (at == files_.end() || at->entry.path != entry.path || at->entry.size != entry.size ||
        at->entry.mtime_ns != entry.mtime_ns)
      return false;
    const auto known = catalog_.file(entry.path);
    return !known || !is_unchanged(at->entry, *known);
  }

  const std::vector<File>& files_;
  Catalog& catalog_;
  std::vector<FileRecord> failed_;
  std::set<ContentHash> taken_;
  ComparedLines compared_;
  std::map<std::uint64_t, Join> joins_;  // by rule
};

// Kind of stage: the mark and the file of lines of its folder, and the import function, which returns false for a line
// that no run writes.
struct Kind {
  const char *mark, *lines;
  const char* count;  // name of the number of items in the folder's attributes
  bool (Taking::*take)(const std::string&);
};
constexpr std::array<Kind, 3> kKinds = {{{kReadMark, kReadLines, "files", &Taking::take_file},
                                         {kCompareMark, kCompareLines, "shards", &Taking::take_compared},
                                         {kLookMark, kLookLines, "sets", &Taking::take_look}}};

std::optional<std::uint64_t> count_of(const Kind& kind, const Attributes& made_of) {
  const auto inputs = Json::parse_or_null(value_of(made_of, "inputs"));
  if (!inputs.is_array() || inputs.size() != 1 || !inputs[0].is_object()) return std::nullopt;
  const auto number = inputs[0].find(kind.count);
  return number && number->is_number_unsigned() ? std::optional(number->get<std::uint64_t>()) : std::nullopt;
}

// Output folder of a stage, with its attributes.
struct StageFolder {
  std::string named, folder;
  const Kind* kind = nullptr;
  std::uint64_t count = 0;
};

void take(const StageFolder& stage, Trust trust, Taking& taking, RunContext& context) {
  const Kind& kind = *stage.kind;
  const auto lines = open_lines(stage.folder, kind.lines, trust);
  lines->stop_when([&context] { return context.cancel.cancelled(); });
  const bool files = kind.take == &Taking::take_file, compared = kind.take == &Taking::take_compared;
  Progress progress(context.progress, "taking over", files ? stage.count : 0);
  std::uint64_t count = 0;
  const auto taken = each_line(*lines, kLongestLine, [&](const std::string& line) {
    ++count;
    progress.add(1);
    return (taking.*kind.take)(line);
  });
  if (compared) count = taking.shards();
  taking.end();
  context.throw_if_cancelled();
  if (!taken) throw Failure(taken.error());
  if (!*taken) refuse(stage.named, ErrorCode::bad_data, std::string(kind.lines) + " holds a line that no run writes");
  if ((files || compared) && count != stage.count) {
    refuse(stage.named, ErrorCode::bad_data,
           fmt::format("{} has lines for {} {} of {}", kind.lines, grouped(count), kind.count, grouped(stage.count)));
  }
}

// Reports an output that is missing, or of which only the unmerged shards of a run exist.
void refuse_unfinished(const std::string& named) {
  if (exists(named)) return;
  if (exists(RunFolder(named).name())) {
    throw Failure(ErrorCode::conflict, "it is not finished", printable(named),
                  "run its parts; millrace finish names those that are missing");
  }
  throw Failure(ErrorCode::not_found, "it is not there", printable(named),
                "name the folder that millrace dedupe --stage has made");
}

StageFolder open_stage(const std::string& named, Trust trust) {
  refuse_unfinished(named);
  const std::string folder = real_path(named).value_or(named);
  check_own_file(path_in(folder, RunFolder::kRunFile), trust).or_throw();
  const auto made_of = attributes_in_json(path_in(folder, RunFolder::kRunFile));
  const auto kind = std::find_if(kKinds.begin(), kKinds.end(),
                                 [&](const Kind& one) { return made_of && !value_of(*made_of, one.mark).empty(); });
  if (kind == kKinds.end() || folder.ends_with(".shards"))
    refuse(named, ErrorCode::bad_data, "it is not what a stage of dedupe makes");
  if (value_of(*made_of, "pictures") != catalog_key().pictures)
    refuse(named, ErrorCode::conflict, "it was made by a version that decodes or hashes otherwise");
  if (kind->mark == kCompareMark && value_of(*made_of, "verdicts") != catalog_key().verdicts)
    refuse(named, ErrorCode::conflict, "it was made by a version that compares otherwise");
  const auto count = count_of(*kind, *made_of);
  if (!count) refuse(named, ErrorCode::bad_data, fmt::format("it does not say of how many {} it is", kind->count));
  return {named, folder, kind, *count};
}

}  // namespace

std::uint64_t files_of_stages(const std::vector<std::string>& folders, Trust trust) {
  std::uint64_t out = 0;
  for (const std::string& named : folders) {
    const StageFolder stage = open_stage(named, trust);
    if (stage.kind->take == &Taking::take_file) out += stage.count;
  }
  return out;
}

void take_stages(const std::vector<std::string>& folders, Trust trust, const std::vector<File>& files, Catalog& catalog,
                 RunContext& context) {
  if (folders.empty()) return;
  std::vector<StageFolder> stages;
  for (const std::string& named : folders) stages.push_back(open_stage(named, trust));
  // Comparisons are imported only for known pictures, so the read stages come first.
  std::stable_sort(stages.begin(), stages.end(), [](const auto& a, const auto& b) { return a.kind < b.kind; });
  catalog.put_copies_unconfirmed(true);
  Taking taking(files, catalog);
  for (const StageFolder& stage : stages) take(stage, trust, taking, context);
}

}  // namespace millrace::dedupe
