// Input: the shape, type and codecs of an array.
// Output: what a Zarr 3 array or group says of itself in its zarr.json.
// Never: writes a chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/base/json.h"
#include "src/io/file/file_digest.h"

namespace millrace::zarr {

// The codec of elements of so many bytes, which are little-endian where they have more than one.
Json bytes_codec(std::size_t element_bytes);
Json gzip_codec(int level);
Json array_json(const std::vector<std::uint64_t>& shape, const std::vector<std::uint64_t>& chunk,
                const std::string& type, Json fill, Json codecs);
Json group_json();
// Writes zarr.json in the folder, which is made. Until it is whole it lies in the work folder, where one is named.
// Gives its digest; the name in it is zarr.json.
FileDigest write_json(const std::string& folder, const Json& json, const std::string& work_folder = "");

}  // namespace millrace::zarr
