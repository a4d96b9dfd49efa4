// Input: a photograph that is open.
// Output: what was found in it, and its results under their names.
// Never: replaces what this program did not write.
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

// On its way.
struct Item {
  FileEntry file;
  std::string name;  // of its results, below the folder
  std::unique_ptr<PictureRows> rows;
  std::optional<Error> failed;
};

struct Found {
  std::string path, name;
  FieldOfView field;
  std::string damage;
  std::vector<FileDigest> files;  // what was written of it, by their names in the folder of results
};

// The names of what is written of it.
std::string crop_path(const Options& options, const std::string& name);
std::string enhanced_path(const Options& options, const std::string& name);

// What it takes at the most, decoded.
Bytes price_of(const Options& options, const PictureInfo& info);
Found process(const Options& options, Item item);

// "name,width,height,...", and a line of it; a member of the JSON file.
std::string table_header();
std::string table_line(const Found& found);
Json json_of(const Found& found);

}  // namespace millrace::fundus
