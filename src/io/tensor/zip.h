// Input: a zip archive.
// Output: what its directory says of its members, once that has proved possible; where a member's bytes begin.
// Never: believes two sizes at once, lets two members share bytes, or reads what is encrypted, split over files, or
// compressed in another way than DEFLATE.
//
// Source of the format: PKWARE's APPNOTE.TXT 6.3, with its zip64 extensions.
#pragma once

#include <string>
#include <vector>

#include "src/io/tensor/inflate.h"
#include "src/io/tensor/tensor_file.h"

namespace millrace::zip {

struct Member {
  std::string name;
  tensor_file::Block block;  // with its CRC-32
};

// In the order of the directory. Throws Refusal: bad_data, unsupported, too_large for a directory that is over its
// limits: 65,536 members, names of 4 KiB, 16 MiB in all.
std::vector<Member> members(Source& archive);

// Where the bytes of a member begin, behind the header that stands before them. Throws Refusal(bad_data) where they
// would reach beyond the room that it has.
std::uint64_t data_offset(Source& archive, const tensor_file::Block& member);

// A small member's bytes, which its CRC-32 is true of. Throws Refusal(too_large) above `most`, which stands in memory.
std::string contents(Source& archive, const Member& member, std::uint64_t most, Inflater& inflater);

}  // namespace millrace::zip
