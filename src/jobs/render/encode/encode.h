// Enters: charts as pictures of ink, with what there is to say about each.
// Leaves: what a store keeps of each: a compressed chunk, a PNG, a JPEG, records of an archive, or pixels.
// Never: writes.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "src/jobs/render/encode/format.h"
#include "src/jobs/render/plan.h"
#include "src/kernels/rle_deflate/rle_deflate.h"

namespace millrace::render {

// One thread's. Holds what it needs from one chart to the next.
class ChartEncoder {
 public:
  virtual ~ChartEncoder() = default;
  virtual void append(const rle::Image& picture, const ChartRow& row, std::vector<std::uint8_t>& out) = 0;
};

// What all encoders of a run share: the format, and the Huffman code where there is one. The code is made from up to
// 256 charts, evenly spaced: it depends on the input and the options alone.
class Encoding {
 public:
  Encoding(const ChartPlan& plan, const Options& options);

  std::unique_ptr<ChartEncoder> make() const;
  const Format& format() const { return format_; }
  // Bytes of a chart at most, about.
  std::uint64_t most_bytes() const;

 private:
  rle_deflate::Code make_code() const;

  const ChartPlan& plan_;
  const Options& options_;
  const Format format_;
  rle_deflate::Layout layout_;
  std::unique_ptr<const rle_deflate::Code> code_;
};

}  // namespace millrace::render
