// Benchmark: a latent of a video, [16, 16, 60, 106] float16 (3.3 MB), read from a file of every format on one thread.
// Lower bounds for comparison: read() alone, and libdeflate alone on bytes in memory.
#include <benchmark/benchmark.h>
#include <fcntl.h>

#include <bit>
#include <random>

#include "src/io/file/directory_entry.h"
#include "src/io/file/positional_io.h"
#include "src/io/tensor/tensor_bytes_for_test.h"
#include "src/io/tensor/tensor_file.h"

namespace {

using namespace millrace;
using namespace millrace::for_test;

constexpr std::size_t kCount = std::size_t{16} * 16 * 60 * 106;

// Numbers of a normal distribution: DEFLATE saves a tenth of them.
const std::string& numbers_of_latent() {
  static const std::string out = [] {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::string bytes;
    for (std::size_t i = 0; i < kCount; ++i) {
      // Truncated to float16; numbers too small for it are 0.
      const auto bits = std::bit_cast<std::uint32_t>(normal(random));
      const std::uint32_t magnitude = bits & 0x7FFFFFFF, least = (127U - 14) << 23, bias = (127U - 15) << 10;
      bytes += u16((bits >> 16 & 0x8000) | (magnitude < least ? 0 : (magnitude >> 13) - bias));
    }
    return bytes;
  }();
  return out;
}

// NumPy and PyTorch let numbers begin at a multiple of 64: read() takes a quarter less time for it.
constexpr std::size_t kAlign = 64;

std::string array() {
  std::string shape = "(16, 16, 60, 106)";
  const std::size_t front = npy_of("'<f2'", shape, "").size();
  shape.append((kAlign - front % kAlign) % kAlign, ' ');
  return npy_of("'<f2'", shape, numbers_of_latent());
}
// Headers before an archive's array have any length, so a padding member aligns its numbers.
std::string archive_of(const std::string& first, const std::string& pickle) {
  ZipMember padding = stored("a/.pad", ""), data = stored("a/data/0", numbers_of_latent());
  std::vector<ZipMember> members = {stored(first, pickle), padding, data};
  constexpr std::size_t kHeader = 30;
  std::size_t front = pickle.size();
  for (const ZipMember& member : members) front += kHeader + member.name.size();
  members[1].stored.append((kAlign - front % kAlign) % kAlign, '.');
  return zip_of(members);
}

std::string contents_of(const std::string& name) {
  if (name == "a.npy") return array();
  if (name == "a.npy.gz") return deflated(array(), kGzip);
  if (name == "stored.npz") return zip_of({stored("a.npy", array())});
  if (name == "deflated.npz") return zip_of({deflated_member("a.npy", array())});
  const auto archive = [](std::vector<std::int64_t> strides) {
    return archive_of(
        "a/data.pkl",
        pickle_of(TensorPickle{"HalfStorage", "0", kCount, 0, {16, 16, 60, 106}, std::move(strides)}.value()));
  };
  if (name == "a.pt") return archive({16 * 60 * 106, 60 * 106, 106, 1});
  // Channels and frames exchanged.
  if (name == "view.pt") return archive({60 * 106, 16 * 60 * 106, 106, 1});
  // Channels last.
  if (name == "last.pt") return archive({16 * 60 * 106, 1, 106 * 16, 16});
  if (name == "a.pt.gz") return deflated(contents_of("a.pt"), kGzip);
  const std::string header = R"({"a":{"dtype":"F16","shape":[16,16,60,106],"data_offsets":[0,)" +
                             std::to_string(numbers_of_latent().size()) + "]}}";
  return u64(header.size()) + header + numbers_of_latent();
}

const TemporaryFolder& folder() {
  static const TemporaryFolder out("tensor_file_bench");
  return out;
}

struct File {
  std::string path, contents;
  Descriptor open;
  explicit File(const std::string& name) : path(folder() / name), contents(contents_of(name)) {
    std::ofstream(path, std::ios::binary) << contents;
    open = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  }
};

void count(benchmark::State& state) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * 2 * kCount));
}

void BM_Read(benchmark::State& state, const std::string& name) {
  const File file(name);
  const auto tensors = tensor_file::list(file.path, *tensor_file::format_of(name)).or_throw();
  tensor_file::TensorReader reader;
  Buffer<std::byte> out(tensors[0].bytes());
  // Two files take turns: a file that was inflated last is not inflated again.
  const std::string twin_path = folder() / ("twin_" + name);
  std::ofstream(twin_path, std::ios::binary) << file.contents;
  const Descriptor twin(::open(twin_path.c_str(), O_RDONLY | O_CLOEXEC));
  bool turn = false;
  for (auto _ : state) {
    turn = !turn;
    reader.read(turn ? file.open.get() : twin.get(), file.contents.size(), file.path, tensors[0], out.span())
        .or_throw();
  }
  if (name == "a.npy" && std::memcmp(out.data(), numbers_of_latent().data(), out.size()) != 0) std::abort();
  count(state);
}

void BM_List(benchmark::State& state, const std::string& name) {
  const File file(name);
  for (auto _ : state) {
    benchmark::DoNotOptimize(tensor_file::list(file.path, *tensor_file::format_of(name)).or_throw().size());
  }
}

void BM_ReadCallAlone(benchmark::State& state) {
  const File file("a.npy");
  Buffer<std::byte> out(file.contents.size());
  for (auto _ : state) benchmark::DoNotOptimize(read_at(file.open.get(), 0, out.span()));
  count(state);
}

void BM_LibdeflateAlone(benchmark::State& state) {
  const std::string gzipped = deflated(array(), kGzip);
  Buffer<std::byte> out(array().size());
  Inflater inflater;
  for (auto _ : state) inflater.gzip(std::as_bytes(std::span(gzipped)), out.span());
  count(state);
}

void BM_Crc32Alone(benchmark::State& state) {
  const auto bytes = std::as_bytes(std::span(numbers_of_latent()));
  for (auto _ : state) benchmark::DoNotOptimize(crc32_of(0, bytes));
  count(state);
}

const int registered = [] {
  for (const char* name :
       {"a.npy", "a.npy.gz", "stored.npz", "deflated.npz", "a.pt", "view.pt", "last.pt", "a.pt.gz", "a.safetensors"}) {
    benchmark::RegisterBenchmark((std::string("read/") + name).c_str(), BM_Read, name);
    benchmark::RegisterBenchmark((std::string("list/") + name).c_str(), BM_List, name);
  }
  return 0;
}();

}  // namespace

BENCHMARK(BM_ReadCallAlone);
BENCHMARK(BM_LibdeflateAlone);
BENCHMARK(BM_Crc32Alone);
BENCHMARK_MAIN();
