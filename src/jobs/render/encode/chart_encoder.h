// Input: charts as run-length images, with the data of each.
// Output: the bytes that a store keeps of each: a compressed chunk, a PNG, a JPEG, records of an archive, or pixels.
// Never: writes a file.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "src/jobs/render/encode/format.h"
#include "src/jobs/render/plan.h"
#include "src/kernels/rle_deflate/rle_deflate.h"

namespace millrace::render {

// Encodes an image as a stream or as pixels. For one thread; keeps its buffers from one chart to the next.
class BodyEncoder {
 public:
  virtual ~BodyEncoder() = default;
  virtual void append(const rle::Image& picture, std::vector<std::uint8_t>& out) = 0;
};
// Adds the file format of a store around such a body.
class ChartWrapper {
 public:
  virtual ~ChartWrapper() = default;
  virtual void append(std::span<const std::uint8_t> body, const ChartRow& row, std::vector<std::uint8_t>& out) = 0;
};

// Encodes charts for a store. For one thread.
class ChartEncoder {
 public:
  // Without a wrapping, the store keeps the body as it is.
  ChartEncoder(std::unique_ptr<BodyEncoder> body, std::unique_ptr<ChartWrapper> wrapper)
      : body_(std::move(body)), wrapper_(std::move(wrapper)) {}
  void append(const rle::Image& picture, const ChartRow& row, std::vector<std::uint8_t>& out);
  // Appends a chart in the same way, with a body that was made elsewhere.
  void append(std::span<const std::uint8_t> body, const ChartRow& row, std::vector<std::uint8_t>& out);

 private:
  std::unique_ptr<BodyEncoder> body_;
  std::unique_ptr<ChartWrapper> wrapper_;
  std::vector<std::uint8_t> made_;
};

// State that all encoders of a run share: the format, and the Huffman code if there is one. The code is made from up to
// 256 charts, evenly spaced: it depends on the input and the options alone.
class ChartEncoding {
 public:
  ChartEncoding(const ChartPlan& plan, const RenderOptions& options);

  ChartEncoder make() const;
  std::unique_ptr<BodyEncoder> make_body_encoder() const;
  const Format& format() const { return format_; }
  // Returns the code of bodies that are streams; null if bodies are pixels.
  const rle_deflate::DeflateCode* code() const { return code_.get(); }
  // Returns about the maximum of the bytes of a chart.
  std::uint64_t max_bytes() const;

 private:
  rle_deflate::DeflateCode make_code() const;
  std::unique_ptr<ChartWrapper> make_wrapper() const;

  const ChartPlan& plan_;
  const RenderOptions& options_;
  const Format format_;
  rle_deflate::StreamLayout layout_;
  std::unique_ptr<const rle_deflate::DeflateCode> code_;
};

}  // namespace millrace::render
