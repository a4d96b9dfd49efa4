// Any bytes as what a run, or somebody else, left of an unfinished output: refused, or what a run could have written.
//
// The first byte says what they are. Where its highest bit is set, the hash that they end with is made right: what lies
// before it would be refused unseen.
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/io/store/pair_lists.h"
#include "src/io/store/shard_log.h"
#include "src/io/video/packet_file.h"
#include "src/pipeline/checkpoint/run_record.h"
#include "src/pipeline/checkpoint/shard_record.h"

namespace {

using namespace millrace;

const std::string& path_of(const std::string& bytes) {
  static const std::string folder = [] {
    std::string out = "/dev/shm/millrace-fuzz-" + std::to_string(::getpid());
    ::mkdir(out.c_str(), 0700);
    std::atexit([] {
      const std::string left = "/dev/shm/millrace-fuzz-" + std::to_string(::getpid());
      for (const char* name : {"/input", "/out"}) ::unlink((left + name).c_str());
      ::rmdir(left.c_str());
    });
    return out;
  }();
  static const std::string path = folder + "/input";
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  return path;
}

DatasetSpec arrays() {
  DatasetSpec out;
  out.rows = 4;
  ArraySpec numbers, texts, streams;
  numbers.name = "numbers";
  numbers.type = kUint8;
  numbers.shape = {2};
  texts.name = "texts";
  texts.rows = ArraySpec::Rows::texts;
  texts.text_bytes = 9;
  streams.name = "streams";
  streams.rows = ArraySpec::Rows::compressed;
  streams.type = kUint8;
  streams.shape = {3, 2};
  out.arrays = {numbers, texts, streams};
  return out;
}

void read_log(const std::string& path, ShardLog::Chunks chunks) {
  auto log = ShardLogReader::open(path, "0 to 4", arrays(), chunks);
  if (!log) return;
  RowBlock block;
  std::uint64_t rows = 0;
  while (log->next(block)) {
    rows += block.rows;
    if (block.arrays.size() != 3) std::abort();
    if (block.arrays[1].lengths.size() != block.rows) std::abort();
  }
  if (rows > log->rows()) std::abort();
}

void read_packets(const std::string& path) {
  auto file = video_file::PacketFileReader::open(path);
  if (!file) return;
  for (std::size_t k = 0; k < file->entries().size(); ++k) {
    try {
      if (file->read(k).data.size() > file->bytes()) std::abort();
    } catch (const Failure&) {
      return;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const unsigned kind = data[0] & 0x7F;
  std::string bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  if ((data[0] & 0x80) != 0 && bytes.size() >= 8) {
    const std::uint64_t hash = XXH3_64bits(bytes.data(), bytes.size() - 8);
    std::memcpy(bytes.data() + bytes.size() - 8, &hash, 8);
  }
  const std::string& path = path_of(bytes);
  try {
    switch (kind % 8) {
      case 0:
        if (const auto file = read_shards_file(path)) {
          if (file->parts.each == 0 || file->spec.arrays.empty() || file->parts.count() > kMaxShards) std::abort();
          for (const ArraySpec& array : file->spec.arrays)
            if (array.name.empty() || array.name.find("..") != std::string::npos) std::abort();
        }
        break;
      case 1:
        read_json_attributes(path).ok();
        break;
      case 2:
        read_runs_file(path).ok();
        break;
      case 3:
        if (const auto record = read_shard_record(path, 3); record && record->part != 3) std::abort();
        break;
      case 4:
        read_log(path, ShardLog::Chunks::whole);
        break;
      case 5:
        read_log(path, ShardLog::Chunks::digests_only);
        break;
      case 6:
        if (is_pair_list(path)) merge_pair_lists({path}, path.substr(0, path.rfind('/')) + "/out", [] {});
        break;
      default:
        read_packets(path);
    }
  } catch (const Failure& failure) {
    if (failure.error().what.empty()) std::abort();
  }
  return 0;
}
