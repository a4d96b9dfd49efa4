// Zip archives, arrays and pickles made by hand, also such as no library would write. For tests.
#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "src/io/store/dataset_for_test.h"
#include "src/io/tensor/inflate.h"

namespace millrace::for_test {

template <typename Number>
std::string number(Number value) {
  std::string out(sizeof(value), '\0');
  std::memcpy(out.data(), &value, sizeof(value));
  return out;
}
inline std::string u16(std::uint64_t value) { return number(static_cast<std::uint16_t>(value)); }
inline std::string u32(std::uint64_t value) { return number(static_cast<std::uint32_t>(value)); }
inline std::string u64(std::uint64_t value) { return number(value); }

constexpr int kRaw = -15;
inline std::string deflated(const std::string& text, int window_bits) {
  const std::vector<std::uint8_t> out = compressed({text.begin(), text.end()}, window_bits);
  return {out.begin(), out.end()};
}

// A member as it is in the file; the optional numbers replace those of the directory by untrue ones.
struct ZipMember {
  std::string name, stored;
  std::uint64_t method = 0, flags = 0;
  std::optional<std::uint64_t> bytes = {}, directory_stored = {}, offset = {};
  std::optional<std::uint32_t> crc = {};
  bool wide = false;  // its sizes are in a zip64 extension
};
inline ZipMember stored(std::string name, std::string text) { return {std::move(name), std::move(text)}; }
inline ZipMember deflated_member(std::string name, const std::string& text) {
  ZipMember out{std::move(name), deflated(text, kRaw), 8};
  out.bytes = text.size();
  out.crc = crc32_of(0, std::as_bytes(std::span(text)));
  return out;
}

inline std::string zip_of(const std::vector<ZipMember>& members, std::optional<std::uint64_t> entries = {}) {
  std::string out, directory;
  for (const ZipMember& member : members) {
    const std::uint64_t at = member.offset.value_or(out.size()), bytes = member.bytes.value_or(member.stored.size()),
                        size = member.directory_stored.value_or(member.stored.size());
    const std::uint32_t crc = member.crc.value_or(crc32_of(0, std::as_bytes(std::span(member.stored))));
    // Sizes are 0 here, as in files of writers that learn them later.
    out += "PK\3\4" + u16(20) + u16(member.flags | 8) + u16(member.method) + u32(0) + u32(0) + u32(0) + u32(0) +
           u16(member.name.size()) + u16(0) + member.name + member.stored;
    const std::string extra = member.wide ? u16(1) + u16(24) + u64(bytes) + u64(size) + u64(at) : "";
    const auto narrow = [&](std::uint64_t value) { return u32(member.wide ? 0xFFFFFFFF : value); };
    directory += "PK\1\2" + u16(20) + u16(20) + u16(member.flags | 8) + u16(member.method) + u32(0) + u32(crc) +
                 narrow(size) + narrow(bytes) + u16(member.name.size()) + u16(extra.size()) + u16(0) + u16(0) + u16(0) +
                 u32(0) + narrow(at) + member.name + extra;
  }
  const std::uint64_t count = entries.value_or(members.size());
  return out + directory + "PK\5\6" + u16(0) + u16(0) + u16(count) + u16(count) + u32(directory.size()) +
         u32(out.size()) + u16(0);
}

inline std::string npy_of(const std::string& type, const std::string& shape, const std::string& data,
                          const std::string& fortran = "False") {
  const std::string text = "{'descr': " + type + ", 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
  return std::string("\x93NUMPY\1\0", 8) + u16(text.size()) + text + data;
}

// Pickles of protocol 2.
inline std::string text(const std::string& words) { return "X" + u32(words.size()) + words; }
inline std::string integer(std::int64_t value) { return std::string("\x8a\x08", 2) + number(value); }
inline std::string tuple(const std::vector<std::string>& items) {
  std::string out = "(";
  for (const std::string& item : items) out += item;
  return out + "t";
}
inline std::string numbers(const std::vector<std::int64_t>& values) {
  std::vector<std::string> items;
  for (const std::int64_t value : values) items.push_back(integer(value));
  return tuple(items);
}
inline std::string name(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}
inline std::string pickle_of(const std::string& value) { return "\x80\x02" + value + "."; }

struct TensorPickle {
  std::string storage = "FloatStorage", key = "0";
  std::int64_t elements = 6, first = 0;
  std::vector<std::int64_t> shape = {2, 3}, strides = {3, 1};
  std::string more = {};  // arguments after the usual ones

  std::string value() const {
    const std::string id =
        tuple({text("storage"), name("torch", storage), text(key), text("cpu"), integer(elements)}) + "Q";
    return name("torch._utils", "_rebuild_tensor_v2") +
           tuple({id, integer(first), numbers(shape), numbers(strides), "\x89",
                  name("collections", "OrderedDict") + ")R", more}) +
           "R";
  }
};

inline std::string torch_zip(const std::string& pickle, const std::string& data) {
  return zip_of({stored("a/data.pkl", pickle), stored("a/byteorder", "little"), stored("a/data/0", data),
                 stored("a/version", "3\n")});
}

}  // namespace millrace::for_test
