#include "src/jobs/dedupe/stages/take.h"

#include <algorithm>
#include <array>
#include <functional>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/lines.h"
#include "src/io/file/own.h"
#include "src/jobs/dedupe/stages/records.h"
#include "src/pipeline/checkpoint/run_folder.h"
#include "src/pipeline/checkpoint/run_record.h"

namespace millrace::dedupe {
namespace {

// One has the looks of some hundred sets.
constexpr std::size_t kLongestLine = 256 << 20;

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

// Of one kind of stage: what is in its folder, and what becomes of a line; false where no run has written it.
struct Taken {
  const char *mark, *lines;
  std::function<bool(const std::string&, Catalog&)> line;
};

const std::array<Taken, 2>& kinds() {
  static const std::array<Taken, 2> out = {{{kReadMark, kReadLines,
                                             [](const std::string& line, Catalog& catalog) {
                                               auto record = file_record(line);
                                               if (record) keep(catalog, record->entry, std::move(record->read));
                                               return record.has_value();
                                             }},
                                            {kLookMark, kLookLines, [](const std::string& line, Catalog& catalog) {
                                               auto looks = look_records(line);
                                               if (!looks) return false;
                                               for (CatalogCloseLook& look : *looks) catalog.put(std::move(look));
                                               catalog.flush_now_and_then();
                                               return true;
                                             }}}};
  return out;
}

void take(const std::string& folder, const std::string& named, const Taken& kind, Trust trust, Catalog& catalog,
          RunContext& context) {
  const auto lines = open_lines(folder, kind.lines, trust);
  lines->stop_when([&context] { return context.cancel.cancelled(); });
  Progress progress(context.progress, "taking over", 0);
  const auto taken = each_line(*lines, kLongestLine, [&](const std::string& line) {
    progress.add(1);
    return kind.line(line, catalog);
  });
  catalog.flush();
  context.throw_if_cancelled();
  if (!taken) throw Failure(taken.error());
  if (!*taken) refuse(named, ErrorCode::bad_data, std::string(kind.lines) + " holds a line that no run writes");
}

}  // namespace

void take_stages(const std::vector<std::string>& folders, Trust trust, Catalog& catalog, RunContext& context) {
  for (const std::string& named : folders) {
    const std::string folder = real_path(named).value_or(named);
    check_own_file(path_in(folder, RunFolder::kRunFile), trust).or_throw();
    const auto made_of = attributes_in_json(path_in(folder, RunFolder::kRunFile));
    const auto kind = std::find_if(kinds().begin(), kinds().end(),
                                   [&](const Taken& one) { return made_of && !value_of(*made_of, one.mark).empty(); });
    if (kind == kinds().end()) refuse(named, ErrorCode::bad_data, "it is not what a stage of dedupe makes");
    if (value_of(*made_of, "pictures") != catalog_key().pictures)
      refuse(named, ErrorCode::conflict, "it was made by a version that decodes or hashes otherwise");
    take(folder, named, *kind, trust, catalog, context);
  }
}

}  // namespace millrace::dedupe
