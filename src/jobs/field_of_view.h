// Input: a decoded photograph.
// Output: its square crop, the input of networks; the crop's position; and reasons to doubt the field of view.
// Never: excludes a photograph because of a doubt.
#pragma once

#include <string>
#include <vector>

#include "src/base/json.h"
#include "src/io/image/picture_rows.h"
#include "src/kernels/fundus/crop.h"
#include "src/kernels/fundus/enhance.h"

namespace millrace {

struct FieldOfView {
  std::int32_t width = 0, height = 0;  // of the photograph, in pixels
  fundus::FieldBounds bounds;
  fundus::FundusQuality quality;
  std::vector<std::string> doubts;  // reasons why a person should check the photograph
  fundus::FundusCrop crop;
};

// Returns the whole image as RGB. Throws Failure(unsupported) for gray values whose black and white points are unknown.
std::vector<std::uint8_t> read_whole_picture(PictureRows& rows, const std::string& path);
// Returns the memory for finding the field of view. It includes the decoded photograph and the decoder's own memory.
// Crop, enhanced image and surround are squares with sides of `side` pixels.
Bytes estimate_field_of_view_memory(const PictureInfo& info, std::int32_t side);

// Finds the field of view of a fundus photograph and sets `square` to its crop. Throws Failure(bad_data) if there is no
// circle, and Failure(unsupported) if the photograph is too small or too large to have one.
FieldOfView find_field_of_view(const fundus::Photograph& photograph, std::int32_t side, const std::string& path,
                               std::vector<std::uint8_t>& square);

// Converts a field of view to JSON and back. parse_field_of_view() throws if `json` is something else.
Json field_of_view_to_json(const FieldOfView& field);
FieldOfView parse_field_of_view(const Json& json);

}  // namespace millrace
