#include "src/jobs/dedupe/stages/take.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/lines.h"
#include "src/io/file/own.h"
#include "src/io/file/relocate.h"
#include "src/io/file/shallow_json.h"
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

// What is in the folder, opened where nobody else can have written it.
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
    // What one name of a content failed with, another may not: decoders go by names, too.
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
  void end() {
    catalog_.flush();
    for (FileRecord& record : failed_) keep_unknown(std::move(record));
    failed_.clear();
    catalog_.flush();
  }

 private:
  // What is known of a content stays, under whatever name a line tells of it.
  void keep_unknown(FileRecord record) {
    if (record.read.has_picture) {
      const auto known = catalog_.picture(record.read.content);
      if (known && !known->failed) record.read.has_picture = false;
    }
    keep(catalog_, record.entry, std::move(record.read));
  }
  bool is_wanted(const FileEntry& entry) {
    const auto at = std::lower_bound(files_.begin(), files_.end(), entry.path,
                                     [](const File& file, const std::string& path) { return file.entry.path < path; });
    const auto agrees = [&](const auto& file) { return file.size == entry.size && file.mtime_ns == entry.mtime_ns; };
    if (at == files_.end() || at->entry.path != entry.path || !agrees(at->entry)) return false;
    const auto known = catalog_.file(entry.path);
    return !known || !agrees(*known);
  }

  const std::vector<File>& files_;
  Catalog& catalog_;
  std::vector<FileRecord> failed_;
};

// Of one kind of stage: what is in its folder, and what becomes of a line; false where no run has written it.
struct Kind {
  const char *mark, *lines;
  bool (Taking::*take)(const std::string&);
};
constexpr std::array<Kind, 2> kKinds = {
    {{kReadMark, kReadLines, &Taking::take_file}, {kLookMark, kLookLines, &Taking::take_look}}};

// How many lines there are, where the folder says so.
std::optional<std::uint64_t> lines_of(const Attributes& made_of) {
  const auto inputs = shallow_json(value_of(made_of, "inputs"));
  if (!inputs.is_array() || inputs.size() != 1 || !inputs[0].is_object()) return std::nullopt;
  const auto files = inputs[0].find("files");
  return files != inputs[0].end() && files->is_number_unsigned() ? std::optional(files->get<std::uint64_t>())
                                                                 : std::nullopt;
}

void take(const std::string& folder, const std::string& named, const Kind& kind, Trust trust, const Attributes& made_of,
          Taking& taking, RunContext& context) {
  const auto lines = open_lines(folder, kind.lines, trust);
  lines->stop_when([&context] { return context.cancel.cancelled(); });
  const auto all = lines_of(made_of);
  Progress progress(context.progress, "taking over", all.value_or(0));
  std::uint64_t count = 0;
  const auto taken = each_line(*lines, kLongestLine, [&](const std::string& line) {
    ++count;
    progress.add(1);
    return (taking.*kind.take)(line);
  });
  taking.end();
  context.throw_if_cancelled();
  if (!taken) throw Failure(taken.error());
  if (!*taken) refuse(named, ErrorCode::bad_data, std::string(kind.lines) + " holds a line that no run writes");
  if (all && *all != count) {
    refuse(named, ErrorCode::bad_data,
           fmt::format("{} has {} lines for {} files", kind.lines, grouped(count), grouped(*all)));
  }
}

// What a run has left of it that is not put together yet.
void refuse_unfinished(const std::string& named) {
  if (exists(named)) return;
  if (exists(RunFolder(named).name())) {
    throw Failure(ErrorCode::conflict, "it is not finished", printable(named),
                  "run its parts; millrace finish names those that are missing");
  }
  throw Failure(ErrorCode::not_found, "it is not there", printable(named),
                "name the folder that millrace dedupe --stage has made");
}

}  // namespace

void take_stages(const std::vector<std::string>& folders, Trust trust, const std::vector<File>& files, Catalog& catalog,
                 RunContext& context) {
  if (folders.empty()) return;
  catalog.put_copies_unconfirmed(true);
  Taking taking(files, catalog);
  for (const std::string& named : folders) {
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
    take(folder, named, *kind, trust, *made_of, taking, context);
  }
}

}  // namespace millrace::dedupe
