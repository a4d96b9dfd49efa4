#include "src/io/image/metadata/tiff_fields.h"

#include "src/base/text.h"

namespace millrace {
namespace {

constexpr std::uint16_t kExifDirectory = 0x8769, kGpsDirectory = 0x8825, kInteropDirectory = 0xA005;
constexpr std::uint16_t kThumbnailAt = 0x0201, kThumbnailBytes = 0x0202;

// Field types by the numbers of TIFF and BigTIFF; 129 is EXIF 3.0's UTF-8.
enum : std::uint16_t {
  kByte = 1,
  kAscii = 2,
  kShort = 3,
  kLong = 4,
  kRational = 5,
  kSignedRational = 10,
  kDirectory = 13,
  kLong8 = 16,
  kDirectory8 = 18,
  kUtf8 = 129
};

std::uint64_t bytes_of_field_type(std::uint64_t type) {
  constexpr std::array<std::uint8_t, 19> kBytes = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
  return type == kUtf8 ? 1 : type < kBytes.size() ? kBytes[type] : 0;
}

bool is_offset_tag(std::uint16_t tag) {
  return tag == kExifDirectory || tag == kGpsDirectory || tag == kInteropDirectory || tag == kThumbnailAt ||
         tag == kThumbnailBytes;
}

std::int64_t signed_32(std::uint64_t value) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(value)); }

}  // namespace

TiffFields::TiffFields(ByteRange structure, TiffDirectory first) : in_(structure) {
  using namespace std::string_view_literals;
  if (in_.starts_with("Exif\0\0"sv)) in_ = in_.part(6);
  const bool little = in_.starts_with("II");
  if (!little && !in_.starts_with("MM")) return;
  order_ = little ? ByteOrder::little : ByteOrder::big;
  // The number is 42, or another that some makers of RAW files write instead; 43 means BigTIFF.
  wide_ = in_.number(2, 2, order_) == 43;
  const std::uint64_t at = wide_ ? in_.number(8, 8, order_) : in_.number(4, 4, order_);
  const std::uint64_t next = load(first, at);
  if (first != TiffDirectory::main) return;
  if (next != 0) load(TiffDirectory::thumbnail, next);
  if (const auto exif = number(TiffDirectory::main, kExifDirectory)) load(TiffDirectory::exif, *exif);
  if (const auto gps = number(TiffDirectory::main, kGpsDirectory)) load(TiffDirectory::gps, *gps);
  if (const auto interop = number(TiffDirectory::exif, kInteropDirectory)) load(TiffDirectory::interop, *interop);
}

// Reads a directory. Returns the offset of the next one; 0 when there is none.
std::uint64_t TiffFields::load(TiffDirectory directory, std::uint64_t at) {
  const std::uint64_t count_bytes = wide_ ? 8 : 2, entry_bytes = wide_ ? 20 : 12, offset_bytes = wide_ ? 8 : 4;
  const std::uint64_t inline_bytes = offset_bytes;
  if (at == 0 || at > in_.size() || in_.size() - at < count_bytes) return 0;
  const std::uint64_t claimed = in_.number(at, count_bytes, order_);
  at += count_bytes;
  const std::uint64_t count = std::min({claimed, kMaxFields, (in_.size() - at) / entry_bytes});
  const auto table = in_.read(at, count * entry_bytes);
  std::vector<Field>& fields = directories_[static_cast<std::size_t>(directory)];
  for (std::uint64_t i = 0; i < count && !table.empty(); ++i) {
    const auto entry = table.subspan(i * entry_bytes, entry_bytes);
    Field field;
    field.tag = static_cast<std::uint16_t>(number_of(entry.first(2), order_));
    field.type = static_cast<std::uint16_t>(number_of(entry.subspan(2, 2), order_));
    field.count = number_of(entry.subspan(4, offset_bytes), order_);
    const std::uint64_t each = bytes_of_field_type(field.type);
    if (each == 0 || field.count > in_.size() / each) continue;
    const std::uint64_t bytes = field.count * each;
    const std::uint64_t value = 4 + offset_bytes;
    field.at =
        bytes <= inline_bytes ? at + i * entry_bytes + value : number_of(entry.subspan(value, offset_bytes), order_);
    if (field.at > in_.size() || bytes > in_.size() - field.at) continue;
    fields.push_back(field);
  }
  return count == claimed ? in_.number(at + count * entry_bytes, offset_bytes, order_) : 0;
}

const TiffFields::Field* TiffFields::find(TiffDirectory directory, std::uint16_t tag) const {
  const std::vector<Field>& fields = directories_[static_cast<std::size_t>(directory)];
  const auto at = std::find_if(fields.begin(), fields.end(), [tag](const Field& f) { return f.tag == tag; });
  return at == fields.end() ? nullptr : &*at;
}

ByteRange TiffFields::value(TiffDirectory directory, std::uint16_t tag) const {
  const Field* field = find(directory, tag);
  return field == nullptr ? ByteRange() : in_.part(field->at, field->count * bytes_of_field_type(field->type));
}

std::string TiffFields::text(TiffDirectory directory, std::uint16_t tag, std::uint64_t max_bytes) const {
  const Field* field = find(directory, tag);
  if (field == nullptr || (field->type != kAscii && field->type != kUtf8)) return {};
  std::string_view text = as_text(in_.read(field->at, std::min(field->count, max_bytes)));
  return std::string(trim(text.substr(0, text.find('\0'))));
}

std::optional<std::uint64_t> TiffFields::number(TiffDirectory directory, std::uint16_t tag) const {
  const Field* field = find(directory, tag);
  if (field == nullptr || field->count == 0) return std::nullopt;
  switch (field->type) {
    case kByte:
    case kShort:
    case kLong:
    case kDirectory:
    case kLong8:
    case kDirectory8:
      return in_.number(field->at, bytes_of_field_type(field->type), order_);
    default:
      return std::nullopt;
  }
}

Rational TiffFields::rational(TiffDirectory directory, std::uint16_t tag, std::uint64_t index) const {
  const Field* field = find(directory, tag);
  if (field == nullptr || index >= field->count) return {};
  if (field->type != kRational && field->type != kSignedRational) return {};
  const std::uint64_t numerator = in_.number(field->at + 8 * index, 4, order_);
  const std::uint64_t denominator = in_.number(field->at + 8 * index + 4, 4, order_);
  if (field->type == kSignedRational) return {signed_32(numerator), signed_32(denominator)};
  return {static_cast<std::int64_t>(numerator), static_cast<std::int64_t>(denominator)};
}

int TiffFields::count_distinct_fields() const {
  std::size_t count = 0;
  std::vector<std::uint16_t> tags;
  for (const std::vector<Field>& fields : directories_) {
    tags.clear();
    for (const Field& field : fields) {
      if (!is_offset_tag(field.tag)) tags.push_back(field.tag);
    }
    std::sort(tags.begin(), tags.end());
    count += static_cast<std::size_t>(std::unique(tags.begin(), tags.end()) - tags.begin());
  }
  return static_cast<int>(count);
}

}  // namespace millrace
