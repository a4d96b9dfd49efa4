// Input: open HDF5 files that may come from anybody.
// Output: their datasets, with shapes and numbers; for a file that this program wrote, its attributes and rows.
// Never: lets the HDF5 library read such a file in this process.
//
// The library crashes on some damaged files. It also keeps global state, which a writer in another thread would share.
// A helper process, millrace-hdf5, gets the descriptors and reads the files; its death is an error.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/base/mutex.h"
#include "src/base/sizes.h"
#include "src/io/file/directory_entry.h"
#include "src/io/file/file_reader.h"
#include "src/io/process/child_process.h"
#include "src/io/store/dataset.h"
#include "src/io/store/helper/protocol.h"

namespace millrace::hdf5 {

// Identity of a file: its path, and its state when it was opened.
struct OpenedFile {
  std::string path;
  FileState state;
};

// Description of a dataset.
struct DatasetInfo {
  OpenedFile file;
  std::string name;
  std::vector<std::uint64_t> shape;  // one to three dimensions, none of them 0
  std::string words;                 // "float32 [300, 4]"
  Bytes memory;                      // memory that the helper needs to read it
};

// A dataset as a run of this program writes it: contiguous, in the file itself.
struct StoredDataset {
  std::string name;
  std::string type;  // result of H5Tencode() for its type
  std::uint64_t rows = 0, row_bytes = 0;
};

// Client of one helper process, which reads one dataset after the other. Thread-safe: requests wait for each other.
class DatasetReader {
 public:
  // Memory of a helper before it has read anything.
  static constexpr Bytes kIdleMemory = 16_MiB;

  // `cancelled` is called while the helper works. No series takes more memory than `most`; 0: no limit.
  explicit DatasetReader(std::function<bool()> cancelled = {}, Bytes most = {})
      : cancelled_(std::move(cancelled)), max_memory_(most) {}

  // Starts the helper, before work whose result will be read. `path`, for messages, may not exist yet.
  Outcome<void> start(const std::string& path);
  // Returns the names of all datasets, at most helper::kMaxListed + 1.
  Outcome<std::vector<std::string>> datasets(const FileReader& file);
  // Describes a dataset of integers or floating-point numbers that are all in this file. Otherwise returns the reason.
  Outcome<DatasetInfo> describe(const FileReader& file, const std::string& name);
  // Reads rows of `columns` values as doubles, in stored order. Throws Failure. The file need not be open any more, as
  // there may be more inputs than descriptors. If it must be opened again and has changed since describe(), it is
  // refused.
  void read(const DatasetInfo& series, std::size_t columns, std::uint64_t first, std::size_t count, double* out);
  // Returns the text attributes of the root group, sorted by name.
  Outcome<Attributes> attributes(const FileReader& file);
  // Reads rows of a stored dataset, at most helper::kMaxRowBytes bytes. Throws Failure if the dataset is another one.
  void read_stored(const FileReader& file, const StoredDataset& what, std::uint64_t first, std::uint64_t count,
                   std::vector<std::uint8_t>& out);

 private:
  struct Reply {
    helper::Answer about{};
    std::string text;
  };
  // Buffers for an answer's numbers or rows.
  struct Room {
    double* values = nullptr;
    std::vector<std::uint8_t>* rows = nullptr;
  };
  // Starts the helper if there is none.
  Outcome<void> ensure_helper(const std::string& path) MILLRACE_REQUIRES(mutex_);
  Outcome<Reply> ask(helper::Request request, const OpenedFile& file, const FileReader* open, const std::string& name,
                     const std::string& type, const Room& room);
  // Sends the request, and the file's descriptor if the helper does not have it.
  Outcome<void> send(const helper::Request& request, const OpenedFile& file, const FileReader* open,
                     const std::string& name, const std::string& type) MILLRACE_REQUIRES(mutex_);
  // Returns why there was no answer, and ends the helper.
  Error describe_exit(const std::string& path) MILLRACE_REQUIRES(mutex_);

  const std::function<bool()> cancelled_;
  const Bytes max_memory_;
  Mutex mutex_;
  std::unique_ptr<ChildProcess> helper_ MILLRACE_GUARDED_BY(mutex_);
  std::optional<OpenedFile> given_ MILLRACE_GUARDED_BY(mutex_);  // file that this helper has
};

// Returns the attributes of a file. Error if it is not a file, is not an HDF5 file, or cannot be read here.
Outcome<Attributes> attributes_of(DatasetReader& reader, const std::string& path);

}  // namespace millrace::hdf5
