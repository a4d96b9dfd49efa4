// Input: a zip archive.
// Output: the members that its directory lists, once they were checked; where a member's bytes begin.
// Never: accepts members with two sizes or shared bytes; reads encrypted or split ones, or methods but DEFLATE.
//
// Source of the format: PKWARE's APPNOTE.TXT 6.3, with its zip64 extensions.
#pragma once

#include <string>
#include <vector>

#include "src/io/tensor/inflate.h"
#include "src/io/tensor/tensor_file.h"

namespace millrace::zip {

struct ZipEntry {
  std::string name;
  tensor_file::Block block;  // including its CRC-32
};

// Lists the members in the order of the directory. Throws ParseError: bad_data, unsupported, too_large for a directory
// over its limits: 65,536 members, names of 4 KiB, 16 MiB in all.
std::vector<ZipEntry> members(RandomAccessSource& archive);

// Returns where the bytes of a member begin, after its local header. Throws ParseError(bad_data) if they would reach
// beyond the member's room.
std::uint64_t data_offset(RandomAccessSource& archive, const tensor_file::Block& member);

// Returns a small member's bytes, whose CRC-32 was checked; in memory. Throws ParseError(too_large) above `most`.
std::string contents(RandomAccessSource& archive, const ZipEntry& member, std::uint64_t most, Inflater& inflater);

}  // namespace millrace::zip
