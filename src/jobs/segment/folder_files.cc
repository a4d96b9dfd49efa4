#include "src/jobs/segment/folder_files.h"

#include <filesystem>

#include "src/base/paths.h"
#include "src/jobs/segment/tables.h"
#include "src/jobs/segment/work_folder.h"
#include "src/pipeline/checkpoint/run_folder.h"

namespace millrace::segment {
namespace {

OutputTarget file_of(const Options& options, const std::string& name, const OutputKind& kind) {
  OutputRegistry outputs({.overwrite = false, .check_writable = false});
  return outputs.add("--output", join_path(options.output, name), kind);
}

// Identifies a table by its first columns, as later versions may have added columns after them.
OutputKind table_kind(const RecordTable& table) {
  constexpr std::size_t kAlways = 3;
  std::string beginning;
  for (std::size_t k = 0; k < kAlways; ++k) beginning += table.columns[k] + ",";
  return {"a table of millrace segment", ReadAccess::everyone, [beginning](FileReader& file) {
            const auto front = file.peek();
            return std::string_view(reinterpret_cast<const char*>(front.data()), front.size()).starts_with(beginning);
          }};
}

struct TableFile {
  const char* name;
  RecordTable (*rows)(const std::vector<PictureResult>& pictures, const Setup& setup);
};
std::vector<TableFile> tables_for(const Setup& setup) {
  std::vector<TableFile> out = {{kTableFile, make_class_table}};
  if (setup.has(model::ModelTask::keypoints)) out.push_back({kPointsFile, make_keypoint_table});
  if (setup.has_numbers()) out.push_back({kValuesFile, make_value_table});
  return out;
}

}  // namespace

void check_folder_files(const Options& options, const Setup& setup) {
  for (const TableFile& each : tables_for(setup)) file_of(options, each.name, table_kind(each.rows({}, setup)));
  if (options.report) file_of(options, kReportFile, page_kind());
}

std::string write_folder_files(const Options& options, const PageView& view, RunContext& context) {
  for (const TableFile& each : tables_for(view.setup)) {
    const RecordTable table = each.rows(view.pictures, view.setup);
    file_of(options, each.name, table_kind(table)).write(csv_of(table));
  }
  std::string page = join_path(options.output, kReportFile);
  if (!options.report &&
      !OutputRegistry({.overwrite = false, .check_writable = false}).is_own_output(page, page_kind()))
    return "";
  file_of(options, kReportFile, page_kind()).write(make_page(view, context));
  return page;
}

bool remove_run_record_if_empty(const std::string& output) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(output, error)) {
    const std::string name = entry.path().filename().string();
    if (name != RunFolder::kRunFile && name != kWorkFolderName) return false;
  }
  return !error && std::filesystem::remove(join_path(output, RunFolder::kRunFile), error);
}

}  // namespace millrace::segment
