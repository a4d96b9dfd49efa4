// Measures how fast libjpeg-turbo alone decodes: the lower bound for everything that reads JPEGs. Usage:
//   decode_bench rgb|gray EIGHTHS THREADS FILE...
// It prints images per second. Files are in memory; the pixels go to one reused strip of rows and are not used.
#include <cstddef>
#include <cstdio>

#include <jpeglib.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

namespace {

void decode(const std::vector<char>& file, bool gray, unsigned eighths) {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(file.data()), static_cast<unsigned long>(file.size()));
  jpeg_read_header(&info, TRUE);
  info.out_color_space = gray ? JCS_GRAYSCALE : JCS_RGB;
  info.scale_num = eighths;
  info.scale_denom = 8;
  jpeg_start_decompress(&info);
  constexpr JDIMENSION kRows = 16;
  const std::size_t pitch = std::size_t{info.output_width} * static_cast<std::size_t>(info.output_components);
  std::vector<JSAMPLE> pixels(pitch * kRows);
  JSAMPROW rows[kRows];
  for (JDIMENSION r = 0; r < kRows; ++r) rows[r] = pixels.data() + r * pitch;
  while (info.output_scanline < info.output_height) jpeg_read_scanlines(&info, rows, kRows);
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const bool gray = std::strcmp(argv[1], "gray") == 0;
  const auto eighths = static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10));
  const auto threads = std::strtoul(argv[3], nullptr, 10);
  std::vector<std::vector<char>> files;
  for (int i = 4; i < argc; ++i) {
    std::ifstream in(argv[i], std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  const auto start = std::chrono::steady_clock::now();
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> workers;
  for (unsigned long t = 0; t < threads; ++t) {
    workers.emplace_back([&] {
      for (std::size_t i; (i = next.fetch_add(1)) < files.size();) decode(files[i], gray, eighths);
    });
  }
  for (std::thread& worker : workers) worker.join();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%.3f\n", static_cast<double>(files.size()) / seconds);
  return 0;
}
