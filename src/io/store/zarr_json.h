// Input: the shape, type and codecs of an array.
// Output: the metadata of a Zarr 3 array or group, for its zarr.json.
// Never: writes a chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/base/json.h"
#include "src/io/file/file_digest.h"

namespace millrace::zarr {

// Returns the codec of elements of this size; elements of more than one byte are little-endian.
Json bytes_codec(std::size_t element_bytes);
Json gzip_codec(int level);
Json array_json(const std::vector<std::uint64_t>& shape, const std::vector<std::uint64_t>& chunk,
                const std::string& type, Json fill, Json codecs);
Json group_json();
// Writes zarr.json into the folder, which is created, and returns its digest, whose name is zarr.json. If a work folder
// is given, the temporary file is there.
FileDigest write_json(const std::string& folder, const Json& json, const std::string& work_folder = "");

}  // namespace millrace::zarr
