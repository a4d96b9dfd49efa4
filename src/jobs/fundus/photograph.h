// Input: an open photograph.
// Output: its field of view, and its result files.
// Never: replaces a file that this program did not write.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/base/json.h"
#include "src/io/file/file_digest.h"
#include "src/io/file/walk.h"
#include "src/io/image/picture_rows.h"
#include "src/jobs/field_of_view.h"
#include "src/jobs/fundus/options.h"
#include "src/pipeline/run_context.h"

namespace millrace::fundus {

// Photograph in the pipeline.
struct PhotographItem {
  FileEntry file;
  std::string name;  // of its results, relative to the results folder
  std::unique_ptr<PictureRows> rows;
  std::optional<Error> failed;
};

struct PhotographResult {
  std::string path, name;
  FieldOfView field;
  std::string damage;
  std::vector<FileDigest> files;  // result files that were written, by their names in the results folder
};

// Returns the path of a photograph's result file.
std::string crop_path(const FundusOptions& options, const std::string& name);
std::string enhanced_path(const FundusOptions& options, const std::string& name);

// Returns the upper bound of the memory for one photograph, decoded.
Bytes memory_cost_of(const FundusOptions& options, const PictureInfo& info);
PhotographResult process_photograph(const FundusOptions& options, PhotographItem item);

// Returns the table's header, "path,width,height,...", a photograph's line in it, and its member of the JSON file.
std::string table_header();
std::string table_line(const PhotographResult& found);
Json json_of(const PhotographResult& found);

}  // namespace millrace::fundus
