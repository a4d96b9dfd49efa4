// Input: metadata that a test wants in a picture file.
// Output: the bytes of TIFF structures, XMP packets, IPTC and files with these metadata, composed by hand.
// Never: a decodable picture; a part of the program.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/io/image/metadata/tiff_fields.h"

namespace millrace {

inline constexpr auto kMain = TiffDirectory::main, kExif = TiffDirectory::exif, kGps = TiffDirectory::gps;

inline std::string number_bytes(std::uint64_t value, std::size_t bytes, ByteOrder order = ByteOrder::big) {
  std::string out(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) {
    out[order == ByteOrder::big ? bytes - 1 - i : i] = static_cast<char>(value >> 8 * i & 255);
  }
  return out;
}

class TestTiff {
 public:
  using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

  explicit TestTiff(ByteOrder order, bool wide = false) : order_(order), wide_(wide) {}

  TestTiff& ascii(TiffDirectory directory, std::uint16_t tag, std::string_view text) {
    return field(directory, tag, 2, text.size() + 1, std::string(text) + '\0');
  }
  TestTiff& bytes(TiffDirectory directory, std::uint16_t tag, std::string_view value, std::uint16_t type = 7) {
    return field(directory, tag, type, value.size(), std::string(value));
  }
  TestTiff& whole(TiffDirectory directory, std::uint16_t tag, std::uint64_t value, std::uint16_t type = 3) {
    return field(directory, tag, type, 1,
                 number_bytes(value,
                              type == 1    ? 1
                              : type == 3  ? 2
                              : type == 16 ? 8
                                           : 4,
                              order_));
  }
  TestTiff& rational(TiffDirectory directory, std::uint16_t tag, const Pairs& pairs, std::uint16_t type = 5) {
    std::string value;
    for (const auto& [numerator, denominator] : pairs) {
      value += number_bytes(static_cast<std::uint64_t>(numerator), 4, order_);
      value += number_bytes(static_cast<std::uint64_t>(denominator), 4, order_);
    }
    return field(directory, tag, type, pairs.size(), value);
  }
  TestTiff& field(TiffDirectory directory, std::uint16_t tag, std::uint16_t type, std::uint64_t count,
                  std::string value) {
    fields(directory).push_back({tag, type, count, std::move(value)});
    return *this;
  }

  // Returns the structure: the main directory, then the directories that others point to.
  std::string build() const {
    std::string out = order_ == ByteOrder::big ? "MM" : "II";
    out += number_bytes(wide_ ? 43 : 42, 2, order_);
    if (wide_) out += number_bytes(8, 2, order_) + number_bytes(0, 2, order_);
    out += number_bytes(out.size() + offset_bytes(), offset_bytes(), order_);
    std::vector<Field> main = fields_[0], exif = fields_[2];
    const auto pointer = [&](std::uint16_t tag, std::uint64_t at) {
      return Field{tag, static_cast<std::uint16_t>(wide_ ? 16 : 4), 1, number_bytes(at, offset_bytes(), order_)};
    };
    // The sizes of directories, and so their offsets, do not depend on the values of the pointers.
    std::uint64_t at = out.size() + size_of(main, (fields_[2].empty() ? 0U : 1U) + (fields_[3].empty() ? 0U : 1U));
    const std::uint64_t exif_at = at;
    at += size_of(exif, fields_[4].empty() ? 0 : 1);
    const std::uint64_t gps_at = at;
    at += size_of(fields_[3], 0);
    const std::uint64_t interop_at = at;
    at += size_of(fields_[4], 0);
    if (!fields_[2].empty()) main.push_back(pointer(0x8769, exif_at));
    if (!fields_[3].empty()) main.push_back(pointer(0x8825, gps_at));
    if (!fields_[4].empty()) exif.push_back(pointer(0xA005, interop_at));
    append(out, main, fields_[1].empty() ? 0 : at);
    append(out, exif, 0);
    append(out, fields_[3], 0);
    append(out, fields_[4], 0);
    append(out, fields_[1], 0);
    return out;
  }

 private:
  struct Field {
    std::uint16_t tag, type;
    std::uint64_t count;
    std::string value;
  };

  std::vector<Field>& fields(TiffDirectory directory) { return fields_[static_cast<std::size_t>(directory)]; }
  std::size_t offset_bytes() const { return wide_ ? 8 : 4; }

  std::uint64_t size_of(const std::vector<Field>& fields, std::uint64_t pointers) const {
    if (fields.empty() && pointers == 0) return 0;
    std::uint64_t size = (wide_ ? 8 : 2) + (fields.size() + pointers) * (4 + 2 * offset_bytes()) + offset_bytes();
    for (const Field& field : fields) size += field.value.size() > offset_bytes() ? field.value.size() : 0;
    return size;
  }

  void append(std::string& out, const std::vector<Field>& fields, std::uint64_t next) const {
    if (fields.empty()) return;
    std::uint64_t value_at = out.size() + size_of(fields, 0);
    for (const Field& field : fields) value_at -= field.value.size() > offset_bytes() ? field.value.size() : 0;
    out += number_bytes(fields.size(), wide_ ? 8 : 2, order_);
    std::string values;
    for (const Field& field : fields) {
      out += number_bytes(field.tag, 2, order_) + number_bytes(field.type, 2, order_) +
             number_bytes(field.count, offset_bytes(), order_);
      if (field.value.size() <= offset_bytes()) {
        out += field.value + std::string(offset_bytes() - field.value.size(), '\0');
      } else {
        out += number_bytes(value_at + values.size(), offset_bytes(), order_);
        values += field.value;
      }
    }
    out += number_bytes(next, offset_bytes(), order_) + values;
  }

  ByteOrder order_;
  bool wide_;
  std::array<std::vector<Field>, 5> fields_;
};

// Makes an XMP packet. `properties` are attributes of rdf:Description, `elements` are inside it.
inline std::string test_xmp(std::string_view properties, std::string_view elements) {
  std::string out =
      "<?xpacket begin=\"\xEF\xBB\xBF\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">";
  out += "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\n <rdf:Description rdf:about=\"\" ";
  return out.append(properties).append(">\n").append(elements) + "</rdf:Description></rdf:RDF></x:xmpmeta>";
}

inline std::string iptc_dataset(std::uint8_t number, std::string_view text, std::uint8_t record = 2) {
  return std::string{'\x1C', static_cast<char>(record), static_cast<char>(number)} + number_bytes(text.size(), 2) +
         std::string(text);
}

inline std::string image_resource(std::uint16_t number, std::string_view data, std::string_view name = "") {
  std::string out = "8BIM" + number_bytes(number, 2) + static_cast<char>(name.size()) + std::string(name);
  if (name.size() % 2 == 0) out += '\0';
  out += number_bytes(data.size(), 4) + std::string(data);
  return data.size() % 2 == 0 ? out : out + '\0';
}

inline std::string jpeg_segment(std::uint8_t marker, std::string_view data) {
  return std::string{'\xFF', static_cast<char>(marker)} + number_bytes(data.size() + 2, 2) + std::string(data);
}

inline std::string jpeg_file(const std::string& segments) {
  return "\xFF\xD8" + segments + jpeg_segment(0xDA, "scan") + "pixels\xFF\xD9";
}

inline std::string png_chunk(std::string_view type, std::string_view data) {
  return number_bytes(data.size(), 4) + std::string(type) + std::string(data) + "CRC.";
}

inline std::string png_file(const std::string& chunks) {
  return "\x89PNG\r\n\x1A\n" + png_chunk("IHDR", std::string(13, '\1')) + chunks + png_chunk("IDAT", "pixels") +
         png_chunk("IEND", "");
}

inline std::string webp_chunk(std::string_view type, std::string_view data) {
  const std::string out = std::string(type) + number_bytes(data.size(), 4, ByteOrder::little) + std::string(data);
  return data.size() % 2 == 0 ? out : out + '\0';
}

inline std::string webp_file(const std::string& chunks) {
  const std::string body = "WEBP" + webp_chunk("VP8 ", "pixels!") + chunks;
  return "RIFF" + number_bytes(body.size(), 4, ByteOrder::little) + body;
}

inline std::string box(std::string_view type, std::string_view contents) {
  return number_bytes(contents.size() + 8, 4) + std::string(type) + std::string(contents);
}

// These two make the picture and the video of a Live Photo, with nothing but their identifier.
inline std::string live_photo_picture(std::string_view identifier) {
  std::string note("Apple iOS\0\0\1MM", 14);
  constexpr std::uint64_t kFields = 2, kBehind = 14 + 2 + 12 * kFields;
  note += number_bytes(kFields, 2) + number_bytes(1, 2) + number_bytes(9, 2) + number_bytes(1, 4) + number_bytes(14, 4);
  note += number_bytes(17, 2) + number_bytes(2, 2) + number_bytes(identifier.size() + 1, 4) + number_bytes(kBehind, 4);
  note.append(identifier).push_back('\0');
  TestTiff tiff(ByteOrder::big);
  tiff.bytes(TiffDirectory::exif, 0x927C, note);
  return jpeg_file(jpeg_segment(0xE1, std::string("Exif\0\0", 6) + tiff.build()));
}
inline std::string live_photo_video(std::string_view identifier) {
  const auto key = [](std::string_view name) { return box("mdta", name); };
  const auto value = [](std::uint64_t number, std::string_view text) {
    return box(number_bytes(number, 4), box("data", number_bytes(1, 4) + number_bytes(0, 4) + std::string(text)));
  };
  const std::string keys = number_bytes(0, 4) + number_bytes(2, 4) + key("com.apple.quicktime.make") +
                           key("com.apple.quicktime.content.identifier");
  const std::string meta = box("keys", keys) + box("ilst", value(1, "Apple") + value(2, identifier));
  return box("ftyp", "qt  ") + box("mdat", "frames") + box("moov", box("trak", "a track") + box("meta", meta));
}

}  // namespace millrace
