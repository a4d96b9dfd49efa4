#include "src/io/tensor/zip.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "src/base/sizes.h"

namespace millrace::zip {
namespace {

using tensor_file::Block;

constexpr std::uint32_t kLocal = 0x04034b50, kEntry = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                        kLocator64 = 0x07064b50;
constexpr std::size_t kLocalBytes = 30, kEntryBytes = 46, kEndBytes = 22, kEnd64Bytes = 56, kLocator64Bytes = 20;
constexpr std::uint16_t kEncrypted = 1 << 0 | 1 << 6 | 1 << 13, kPatch = 1 << 5;
constexpr std::uint16_t kStored = 0, kDeflated = 8;
constexpr std::uint32_t kElsewhere = 0xFFFFFFFF;  // the number is in an extension

struct Directory {
  std::uint64_t entries = 0, bytes = 0, offset = 0;
  std::uint64_t behind = 0;  // limit that it must not exceed
};

Directory find_directory(RandomAccessSource& archive) {
  const std::uint64_t size = archive.size();
  if (size < kEndBytes) throw_bad_data("not a zip archive: it is too short");
  // A comment of up to 64 KiB may follow.
  const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(size, kEndBytes + 0xFFFF));
  Buffer<std::byte> buffer(part);
  archive.read(size - part, buffer.span());
  const std::span<const std::byte> tail = buffer.span();
  std::optional<std::size_t> found;
  for (std::size_t at = part - kEndBytes + 1; at-- > 0 && !found;) {
    if (number_at<std::uint32_t>(tail, at) == kEnd &&
        at + kEndBytes + number_at<std::uint16_t>(tail, at + 20) == part) {
      found = at;
    }
  }
  if (!found) throw_bad_data("not a complete zip archive: it has no directory at its end");
  const auto end = tail.subspan(*found);
  Directory out{number_at<std::uint16_t>(end, 10), number_at<std::uint32_t>(end, 12), number_at<std::uint32_t>(end, 16),
                size - part + *found};
  const bool split = number_at<std::uint16_t>(end, 4) != 0 || number_at<std::uint16_t>(end, 6) != 0 ||
                     number_at<std::uint16_t>(end, 8) != out.entries;
  const bool wide = out.entries == 0xFFFF || out.bytes == kElsewhere || out.offset == kElsewhere;
  if (wide && out.behind >= kLocator64Bytes) {
    std::byte locator[kLocator64Bytes];
    archive.read(out.behind - kLocator64Bytes, locator);
    if (number_at<std::uint32_t>(locator, 0) == kLocator64) {
      const auto at = number_at<std::uint64_t>(locator, 8);
      if (out.behind < kEnd64Bytes + kLocator64Bytes || at > out.behind - kEnd64Bytes - kLocator64Bytes) {
        throw_bad_data("the end record of its directory lies outside the file");
      }
      std::byte end64[kEnd64Bytes];
      archive.read(at, end64);
      if (number_at<std::uint32_t>(end64, 0) != kEnd64)
        throw_bad_data("the end record of its directory is not where the file states");
      if (number_at<std::uint64_t>(end64, 24) != number_at<std::uint64_t>(end64, 32)) {
        unsupported("a zip archive in several files is not supported");
      }
      return {number_at<std::uint64_t>(end64, 32), number_at<std::uint64_t>(end64, 40),
              number_at<std::uint64_t>(end64, 48), at};
    }
  }
  if (split) unsupported("a zip archive in several files is not supported");
  return out;
}

// Reads numbers that are too wide for an entry, in the order in which they are missing there.
void read_wide(std::span<const std::byte> extra, std::span<std::uint64_t* const> missing, const std::string& name) {
  if (missing.empty()) return;
  while (extra.size() >= 4) {
    const std::size_t length = number_at<std::uint16_t>(extra, 2);
    if (length > extra.size() - 4) break;
    if (number_at<std::uint16_t>(extra, 0) == 1) {
      if (length < 8 * missing.size()) break;
      for (std::size_t i = 0; i < missing.size(); ++i) *missing[i] = number_at<std::uint64_t>(extra, 4 + 8 * i);
      return;
    }
    extra = extra.subspan(4 + length);
  }
  throw_bad_data(fmt::format("its directory does not give the size of '{}'", printable_name(name)));
}

ZipEntry read_entry(std::span<const std::byte> entry, std::string name, std::span<const std::byte> extra) {
  const auto flags = number_at<std::uint16_t>(entry, 8), method = number_at<std::uint16_t>(entry, 10);
  const std::string words = printable_name(name);
  if ((flags & kEncrypted) != 0) {
    unsupported(fmt::format("its member '{}' is encrypted", words), "write it again without a password");
  }
  if ((flags & kPatch) != 0 || (method != kStored && method != kDeflated)) {
    unsupported(fmt::format("its member '{}' is compressed by method {}, which is not supported", words, method),
                "write it again, stored or deflated");
  }
  ZipEntry out{std::move(name), {}};
  Block& block = out.block;
  block.member = true;
  block.deflated = method == kDeflated;
  block.crc = number_at<std::uint32_t>(entry, 16);
  block.stored = number_at<std::uint32_t>(entry, 20);
  block.bytes = number_at<std::uint32_t>(entry, 24);
  block.offset = number_at<std::uint32_t>(entry, 42);
  std::vector<std::uint64_t*> missing;
  for (std::uint64_t* number : {&block.bytes, &block.stored, &block.offset}) {
    if (*number == kElsewhere) missing.push_back(number);
  }
  read_wide(extra, missing, out.name);
  if (!block.deflated && block.stored != block.bytes)
    throw_bad_data(fmt::format("its member '{}' has two sizes", words));
  if (block.deflated && block.bytes > max_inflated_bytes(block.stored)) {
    throw_bad_data(fmt::format("its member '{}' cannot inflate to {} from {}", words, format_bytes(Bytes{block.bytes}),
                               format_bytes(Bytes{block.stored})));
  }
  return out;
}

// Gives each member the room up to where the next begins, and checks that it fits.
void share_out(std::vector<ZipEntry>& members, std::uint64_t end) {
  std::vector<ZipEntry*> order;
  order.reserve(members.size());
  for (ZipEntry& member : members) order.push_back(&member);
  std::sort(order.begin(), order.end(),
            [](const ZipEntry* a, const ZipEntry* b) { return a->block.offset < b->block.offset; });
  for (std::size_t i = order.size(); i-- > 0;) {
    Block& block = order[i]->block;
    const std::uint64_t header = kLocalBytes + order[i]->name.size();
    if (block.offset > end || block.stored > end - block.offset || end - block.offset - block.stored < header) {
      throw_bad_data(fmt::format("its member '{}' overlaps another one, or extends beyond the file",
                                 printable_name(order[i]->name)));
    }
    block.end = end;
    end = block.offset;
  }
}

}  // namespace

std::vector<ZipEntry> members(RandomAccessSource& archive) {
  constexpr std::uint64_t kMaxMembers = 65'536, kMaxBytes = 16 << 20;
  constexpr std::size_t kMaxName = 4096;
  const Directory directory = find_directory(archive);
  if (directory.entries > kMaxMembers) {
    too_large(fmt::format("it has too many members ({}; the limit is {})", directory.entries, kMaxMembers));
  }
  if (directory.offset > directory.behind || directory.bytes > directory.behind - directory.offset) {
    throw_bad_data("its directory lies outside the file");
  }
  if (directory.bytes > kMaxBytes) too_large("its directory is larger than 16 MiB");
  if (directory.entries > directory.bytes / kEntryBytes)
    throw_bad_data("its directory is shorter than the file states");
  Buffer<std::byte> buffer(static_cast<std::size_t>(directory.bytes));
  archive.read(directory.offset, buffer.span());
  std::span<const std::byte> rest = buffer.span();

  std::vector<ZipEntry> out;
  out.reserve(static_cast<std::size_t>(directory.entries));
  while (out.size() < directory.entries) {
    if (rest.size() < kEntryBytes || number_at<std::uint32_t>(rest, 0) != kEntry)
      throw_bad_data("its directory is damaged");
    const std::size_t name = number_at<std::uint16_t>(rest, 28), extra = number_at<std::uint16_t>(rest, 30),
                      comment = number_at<std::uint16_t>(rest, 32);
    if (name > kMaxName) too_large("a name in it is longer than 4 KiB");
    if (rest.size() - kEntryBytes < name + extra + comment) throw_bad_data("its directory is damaged");
    out.push_back(read_entry(rest.first(kEntryBytes),
                             std::string(reinterpret_cast<const char*>(rest.data()) + kEntryBytes, name),
                             rest.subspan(kEntryBytes + name, extra)));
    rest = rest.subspan(kEntryBytes + name + extra + comment);
  }
  share_out(out, directory.offset);
  std::unordered_set<std::string_view> names;
  for (const ZipEntry& member : out) {
    if (!names.insert(member.name).second)
      throw_bad_data(fmt::format("it has two members '{}'", printable_name(member.name)));
  }
  return out;
}

std::uint64_t data_offset(RandomAccessSource& archive, const Block& member) {
  std::byte header[kLocalBytes];
  archive.read(member.offset, header);
  if (number_at<std::uint32_t>(header, 0) != kLocal)
    throw_bad_data("one of its members does not begin where its directory states");
  if ((number_at<std::uint16_t>(header, 6) & kEncrypted) != 0 ||
      number_at<std::uint16_t>(header, 8) != (member.deflated ? kDeflated : kStored)) {
    throw_bad_data("one of its members contradicts its directory");
  }
  const std::uint64_t skipped =
      kLocalBytes + number_at<std::uint16_t>(header, 26) + number_at<std::uint16_t>(header, 28);
  const std::uint64_t room = member.end - member.offset;
  if (skipped > room || member.stored > room - skipped) throw_bad_data("one of its members overlaps another one");
  return member.offset + skipped;
}

std::string contents(RandomAccessSource& archive, const ZipEntry& member, std::uint64_t most, Inflater& inflater) {
  const Block& block = member.block;
  if (block.bytes > most) {
    too_large(fmt::format("its member '{}' is too large ({}; the limit is {})", printable_name(member.name),
                          format_bytes(Bytes{block.bytes}), format_bytes(Bytes{most})));
  }
  const std::uint64_t offset = data_offset(archive, block);
  std::string out(static_cast<std::size_t>(block.bytes), '\0');
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(out));
  if (block.deflated) {
    // A member may be deflated to more bytes than it holds.
    if (block.stored > most)
      too_large(fmt::format("the compressed data of its member '{}' is too large", printable_name(member.name)));
    Buffer<std::byte> deflated(static_cast<std::size_t>(block.stored));
    archive.read(offset, deflated.span());
    inflater.raw(deflated.span(), bytes);
  } else {
    archive.read(offset, bytes);
  }
  if (block.crc && *block.crc != crc32_of(0, bytes)) {
    throw_bad_data(fmt::format("its member '{}' is damaged: its CRC-32 does not match", printable_name(member.name)));
  }
  return out;
}

}  // namespace millrace::zip
