// Fixture that lists and reads the tensors of files. For tests.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "src/base/text.h"
#include "src/io/file/directory_entry.h"
#include "src/io/tensor/tensor_bytes_for_test.h"
#include "src/io/tensor/tensor_file.h"

namespace millrace::for_test {

class TensorFiles : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& contents) {
    std::ofstream(folder_ / name, std::ios::binary) << contents;
    return folder_ / name;
  }

  // Returns the file's tensors, or the error.
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

  // Returns a line per tensor, in the format of tests/support/torch_files.py; or the error.
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

  // Cuts a file after every byte. Each cut file is refused, or it lists the same tensors as the whole file. In that
  // case it either cannot be read or has the same numbers.
  void cut_everywhere(const std::string& name, const std::string& contents) {
    const std::string whole = lines_of(write(name, contents));
    ASSERT_TRUE(whole.find('|') != std::string::npos) << whole;
    for (std::size_t length = 0; length < contents.size(); ++length) {
      const std::string cut = lines_of(write(name, contents.substr(0, length)));
      EXPECT_TRUE(cut == whole || cut.find(name + ": ") != std::string::npos) << length << " " << cut;
    }
  }

  TemporaryFolder folder_{"tensor_files"};
  tensor_file::TensorReader reader_;
};

}  // namespace millrace::for_test
