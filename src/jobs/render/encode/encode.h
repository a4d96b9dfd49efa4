// Input: charts as pictures of ink, with what there is to say about each.
// Output: what a store keeps of each: a compressed chunk, a PNG, a JPEG, records of an archive, or pixels.
// Never: writes.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "src/jobs/render/encode/format.h"
#include "src/jobs/render/plan.h"
#include "src/kernels/rle_deflate/rle_deflate.h"

namespace millrace::render {

// What is made of a picture: a stream, or pixels. One thread's; holds what it needs from one chart to the next.
class PictureBody {
 public:
  virtual ~PictureBody() = default;
  virtual void append(const rle::Image& picture, std::vector<std::uint8_t>& out) = 0;
};
// What a store has around that.
class ChartWrapping {
 public:
  virtual ~ChartWrapping() = default;
  virtual void append(std::span<const std::uint8_t> body, const ChartRow& row, std::vector<std::uint8_t>& out) = 0;
};

// One thread's.
class ChartEncoder {
 public:
  // Without a wrapping the store keeps the body as it is.
  ChartEncoder(std::unique_ptr<PictureBody> body, std::unique_ptr<ChartWrapping> wrapping)
      : body_(std::move(body)), wrapping_(std::move(wrapping)) {}
  void append(const rle::Image& picture, const ChartRow& row, std::vector<std::uint8_t>& out);
  // The same of a body that was made elsewhere.
  void append(std::span<const std::uint8_t> body, const ChartRow& row, std::vector<std::uint8_t>& out);

 private:
  std::unique_ptr<PictureBody> body_;
  std::unique_ptr<ChartWrapping> wrapping_;
  std::vector<std::uint8_t> made_;
};

// What all encoders of a run share: the format, and the Huffman code where there is one. The code is made from up to
// 256 charts, evenly spaced: it depends on the input and the options alone.
class Encoding {
 public:
  Encoding(const ChartPlan& plan, const Options& options);

  ChartEncoder make() const;
  std::unique_ptr<PictureBody> make_body() const;
  const Format& format() const { return format_; }
  // Of the streams that bodies are; none where they are pixels.
  const rle_deflate::Code* code() const { return code_.get(); }
  // Bytes of a chart at most, about.
  std::uint64_t most_bytes() const;

 private:
  rle_deflate::Code make_code() const;
  std::unique_ptr<ChartWrapping> make_wrapping() const;

  const ChartPlan& plan_;
  const Options& options_;
  const Format format_;
  rle_deflate::Layout layout_;
  std::unique_ptr<const rle_deflate::Code> code_;
};

}  // namespace millrace::render
