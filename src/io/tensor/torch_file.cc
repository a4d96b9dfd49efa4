#include "src/io/tensor/torch_file.h"

#include <algorithm>
#include <unordered_map>

#include "src/io/tensor/torch_names.h"
#include "src/io/tensor/torch_tensors.h"
#include "src/io/tensor/zip.h"

namespace millrace::torch_file {
namespace {

using pickle::Document;
using pickle::ValueKind;
using tensor_file::Block;
using tensor_file::Tensor;

constexpr std::string_view kPickle = "/data.pkl";

[[noreturn]] void big_endian() {
  unsupported("its numbers are big-endian", "load it with PyTorch on a little-endian machine and save it again");
}

[[noreturn]] void lacks(const std::string& key) {
  throw_bad_data(fmt::format("it lacks the storage '{}'", printable_name(key)));
}

// A file of torch.save() has one folder in its archive.
std::string folder_in(const std::vector<zip::ZipEntry>& members) {
  const std::string* found = nullptr;
  for (const zip::ZipEntry& member : members) {
    if (!member.name.ends_with(kPickle) || member.name.find('/') != member.name.size() - kPickle.size()) continue;
    if (found != nullptr) throw_bad_data("it is a zip archive with two files data.pkl");
    found = &member.name;
  }
  if (found == nullptr) {
    throw_bad_data("it is a zip archive without data.pkl, which torch.save() writes");
  }
  return found->substr(0, found->size() - kPickle.size());
}

std::vector<Tensor> list_archive(RandomAccessSource& file) {
  std::vector<zip::ZipEntry> members = zip::members(file);
  const std::string folder = folder_in(members);
  std::unordered_map<std::string_view, const zip::ZipEntry*> by_name;
  for (zip::ZipEntry& member : members) {
    // PyTorch checks no CRC-32, and writes 0 if it is set not to compute it.
    if (member.block.crc == 0U) member.block.crc.reset();
    by_name[member.name] = &member;
    if (member.name == folder + "/constants.pkl" || member.name.starts_with(folder + "/code/")) {
      unsupported("it is a TorchScript program", "save its tensors with torch.save(module.state_dict())");
    }
  }
  Inflater inflater;
  if (const auto order = by_name.find(folder + "/byteorder"); order != by_name.end()) {
    const std::string text = zip::contents(file, *order->second, 64, inflater);
    if (text == "big") big_endian();
    if (text != "little") throw_bad_data(fmt::format("its byte order is '{}'", printable_name(text)));
  }
  const std::string bytes =
      zip::contents(file, *by_name.at(folder + std::string(kPickle)), pickle::kMaxBytes, inflater);
  const auto document = pickle::load(std::as_bytes(std::span(bytes)), vocabulary());
  if (!document) throw_bad_data("its pickle is truncated");
  std::vector<Tensor> out;
  for (TorchTensor& found : tensors_of(*document)) {
    const auto member = by_name.find(folder + "/data/" + found.storage.key);
    if (member == by_name.end()) lacks(found.storage.key);
    found.tensor.block = member->second->block;
    if (found.tensor.block.bytes != found.storage.bytes()) {
      throw_bad_data(
          fmt::format("the size of its storage '{}' does not match its pickle", printable_name(found.storage.key)));
    }
    out.push_back(std::move(found.tensor));
  }
  return out;
}

// Reads one pickle after the other, from the beginning of a file.
class Pickles {
 public:
  explicit Pickles(RandomAccessSource& file) : file_(file), size_(file.size()) {}

  // The bytes that the document refers to are valid until the next call.
  Document next(std::uint64_t enough = 64 << 10) {
    while (true) {
      if (enough > bytes_.size()) grow(enough);
      const std::span<const std::byte> rest = std::as_bytes(std::span(bytes_)).subspan(at_);
      if (auto document = pickle::load(rest, vocabulary())) {
        at_ += document->size();
        return *std::move(document);
      }
      if (bytes_.size() == size_) throw_bad_data("its pickle is truncated");
      enough = 2 * bytes_.size();
    }
  }
  // Returns where the last pickle ended.
  std::uint64_t at() const { return at_; }

 private:
  // Memory is limited, because load() refuses long pickles.
  void grow(std::uint64_t enough) {
    const auto before = bytes_.size();
    bytes_.resize(static_cast<std::size_t>(std::min(size_, enough)));
    file_.read(before, std::as_writable_bytes(std::span(bytes_)).subspan(before));
  }

  RandomAccessSource& file_;
  const std::uint64_t size_;
  std::string bytes_;
  std::size_t at_ = 0;
};

bool is_magic(const Document& document) {
  // The number as PyTorch writes it, little-endian.
  constexpr std::string_view kMagic = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
  const pickle::Value& value = document[document.root()];
  return value.kind == ValueKind::large_integer && document.text(value) == kMagic;
}

void check_system(const Document& document) {
  const pickle::Value& system = document[document.root()];
  if (system.kind != ValueKind::dictionary) throw_bad_data("it does not state the byte order of its numbers");
  const auto items = document.items(system);
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    const pickle::Value &key = document[items[i]], &value = document[items[i + 1]];
    if (key.kind != ValueKind::text || document.text(key) != "little_endian") continue;
    if (value.kind == ValueKind::boolean && value.integer == 0) big_endian();
  }
}

// Returns the block of each storage's numbers. The file has a count of elements, then the elements, for each key in
// turn.
std::unordered_map<std::string, Block> blocks_of(RandomAccessSource& file, std::uint64_t at,
                                                 const std::vector<std::string>& keys,
                                                 const std::unordered_map<std::string, Storage>& storages) {
  std::unordered_map<std::string, Block> out;
  const std::uint64_t size = file.size();
  for (const std::string& key : keys) {
    const auto storage = storages.find(key);
    if (storage == storages.end())
      throw_bad_data(fmt::format("it has a storage '{}' that no tensor uses", printable_name(key)));
    std::byte count[8];
    file.read(at, count);
    at += sizeof(count);
    const std::uint64_t bytes = storage->second.bytes();
    if (number_at<std::uint64_t>(count, 0) != storage->second.elements) {
      throw_bad_data(fmt::format("the size of its storage '{}' does not match its pickle", printable_name(key)));
    }
    if (bytes > size - at)
      throw_bad_data(fmt::format("it ends in the middle of its storage '{}'", printable_name(key)));
    Block block;
    block.offset = at;
    block.end = at + bytes;
    block.stored = block.bytes = bytes;
    if (!out.emplace(key, block).second) throw_bad_data(fmt::format("it has two storages '{}'", printable_name(key)));
    at += bytes;
  }
  return out;
}

// Order in the file: magic number, protocol, machine, values, keys of the storages, then the storages.
std::vector<Tensor> list_pickles(RandomAccessSource& file) {
  Pickles pickles(file);
  constexpr std::uint64_t kProtocol = 1001;
  const auto is_ours = [&] {
    try {
      return is_magic(pickles.next(64));
    } catch (const ParseError& parse_error) {
      // A failure to read the file does not answer the question.
      if (parse_error.code == ErrorCode::io || parse_error.code == ErrorCode::conflict) throw;
      return false;
    }
  };
  if (!is_ours()) throw_bad_data("it is neither a zip archive nor what torch.save() wrote before PyTorch 1.6");
  const Document protocol = pickles.next();
  const pickle::Value& version = protocol[protocol.root()];
  if (version.kind != ValueKind::integer || static_cast<std::uint64_t>(version.integer) != kProtocol) {
    unsupported("its version of torch.save() is not supported", "load it with PyTorch and save it again");
  }
  check_system(pickles.next());
  std::vector<TorchTensor> found = tensors_of(pickles.next());
  const Document last = pickles.next();
  const pickle::Value& list = last[last.root()];
  if (list.kind != ValueKind::list) throw_bad_data("it does not list its storages");
  std::vector<std::string> keys;
  for (const pickle::Index item : last.items(list)) {
    if (last[item].kind != ValueKind::text || last[item].a > 4096)
      throw_bad_data("it does not list its storages by name");
    keys.emplace_back(last.text(last[item]));
  }

  std::unordered_map<std::string, Storage> storages;
  for (const TorchTensor& each : found) {
    const auto [known, is_new] = storages.emplace(each.storage.key, each.storage);
    if (!is_new && (known->second.elements != each.storage.elements ||
                    known->second.element_bytes != each.storage.element_bytes)) {
      throw_bad_data(fmt::format("its storage '{}' has two sizes", printable_name(each.storage.key)));
    }
  }
  const auto blocks = blocks_of(file, pickles.at(), keys, storages);
  std::vector<Tensor> out;
  for (TorchTensor& each : found) {
    const auto block = blocks.find(each.storage.key);
    if (block == blocks.end()) lacks(each.storage.key);
    each.tensor.block = block->second;
    out.push_back(std::move(each.tensor));
  }
  return out;
}

}  // namespace

std::vector<Tensor> list(RandomAccessSource& file) {
  std::byte front[4] = {};
  if (file.size() >= sizeof(front)) file.read(0, front);
  return number_at<std::uint32_t>(front, 0) == 0x04034b50 ? list_archive(file) : list_pickles(file);
}

}  // namespace millrace::torch_file
