// What a file's tensors are. For tests.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "src/base/text.h"
#include "src/io/file/place.h"
#include "src/io/tensor/made_for_test.h"
#include "src/io/tensor/tensor_file.h"

namespace millrace::for_test {

class TensorFiles : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& contents) {
    std::ofstream(folder_ / name, std::ios::binary) << contents;
    return folder_ / name;
  }

  // What the file holds, or the error.
  Outcome<std::vector<tensor_file::Tensor>> list(const std::string& path) {
    return tensor_file::list(path, *tensor_file::format_of(path));
  }
  Error list_error(const std::string& name, const std::string& contents) {
    const auto listed = list(write(name, contents));
    return listed ? Error{ErrorCode::internal, "it was taken", {}, {}} : listed.error();
  }

  Outcome<std::string> read(const std::string& path, const tensor_file::Tensor& tensor) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::string out(tensor.bytes(), '?');
    const auto done = reader_.read(file.get(), state_of_descriptor(file.get())->size, path, tensor,
                                   std::as_writable_bytes(std::span(out)));
    if (!done.ok()) return done.error();
    return out;
  }

  // A line a tensor, as tests/support/torch_files.py has it; or the error.
  std::string lines_of(const std::string& path) {
    const auto tensors = list(path);
    if (!tensors) return tensors.error().message();
    std::string out;
    for (const tensor_file::Tensor& tensor : *tensors) {
      const auto bytes = read(path, tensor);
      if (!bytes) return bytes.error().message();
      out += fmt::format("{}|{}|{}|{}\n", tensor.name, name_of(tensor.type), fmt::join(tensor.shape, ","),
                         hex_of_bytes({reinterpret_cast<const std::uint8_t*>(bytes->data()), bytes->size()}));
    }
    return out;
  }

  // Cut after every byte, it is refused, or lists what the whole does and then either cannot be read or reads the same.
  void cut_everywhere(const std::string& name, const std::string& contents) {
    const std::string whole = lines_of(write(name, contents));
    ASSERT_TRUE(whole.find('|') != std::string::npos) << whole;
    for (std::size_t length = 0; length < contents.size(); ++length) {
      const std::string cut = lines_of(write(name, contents.substr(0, length)));
      EXPECT_TRUE(cut == whole || cut.find(name + ": ") != std::string::npos) << length << " " << cut;
    }
  }

  TemporaryFolder folder_{"tensor_files"};
  tensor_file::Reader reader_;
};

}  // namespace millrace::for_test
