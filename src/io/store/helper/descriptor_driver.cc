#include "src/io/store/helper/descriptor_driver.h"

#include <fmt/format.h>
#include <hdf5.h>
#include <sys/stat.h>
// Later releases declare the driver interface here.
#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h>
#endif

#include <algorithm>
#include <cerrno>
#include <new>
#include <string_view>
#include <tuple>

#include "src/io/file/positional_io.h"

namespace millrace::hdf5::helper {
namespace {

struct Given {
  int fd;
};

struct OpenFile : H5FD_t {
  int fd;
  dev_t device;
  ino_t inode;
  haddr_t allocated;  // limit up to which the library may read, as the file states it
  haddr_t size;
};

constexpr haddr_t kMaxBytes = (haddr_t{1} << (8 * sizeof(off_t) - 1)) - 1;

OpenFile& of(H5FD_t* file) { return *static_cast<OpenFile*>(file); }
const OpenFile& of(const H5FD_t* file) { return *static_cast<const OpenFile*>(file); }

// Pushes the reason of a call that is about to fail; fail() finds it there.
void because(hid_t what, const std::string& reason) {
  H5Epush2(H5E_DEFAULT, "", "", 0, H5E_ERR_CLS, H5E_VFL, what, "%s", reason.c_str());
}

H5FD_t* open_given(const char* name, unsigned flags, hid_t access, haddr_t most) {
  const auto* given = static_cast<const Given*>(H5Pget_driver_info(access));
  struct stat about {};
  if (given == nullptr || (flags & H5F_ACC_RDWR) != 0 || std::string_view(name) != kGivenFile) {
    because(H5E_CANTOPENFILE, fmt::format("another file, {}, must not be opened", name));
  } else if (::fstat(given->fd, &about) != 0) {
    because(H5E_CANTOPENFILE, fmt::format("errno = {}", errno));
  } else if (most == 0 || most == HADDR_UNDEF || about.st_size < 0) {
    because(H5E_CANTOPENFILE, "it has no size");
  } else if (auto* const out = new (std::nothrow) OpenFile{}; out != nullptr) {
    std::tie(out->fd, out->device, out->inode) = std::tie(given->fd, about.st_dev, about.st_ino);
    out->size = static_cast<haddr_t>(about.st_size);
    return out;
  } else {
    because(H5E_NOSPACE, fmt::format("errno = {}", ENOMEM));
  }
  return nullptr;
}

herr_t close_file(H5FD_t* file) {
  delete static_cast<OpenFile*>(file);
  return 0;
}

int compare(const H5FD_t* one, const H5FD_t* other) {
  const auto a = std::tie(of(one).device, of(one).inode), b = std::tie(of(other).device, of(other).inode);
  return a < b ? -1 : b < a ? 1 : 0;
}

// Sets the flags of the library's own file driver: without them each small read is a system call of its own.
herr_t what_it_bears(const H5FD_t*, unsigned long* flags) {
  if (flags != nullptr) *flags = H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE;
  return 0;
}

haddr_t allocated(const H5FD_t* file, H5FD_mem_t) { return of(file).allocated; }

herr_t allocate(H5FD_t* file, H5FD_mem_t, haddr_t end) {
  of(file).allocated = end;
  return 0;
}

haddr_t size_of(const H5FD_t* file, H5FD_mem_t) { return of(file).size; }

herr_t read(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t at, std::size_t count, void* out) {
  const OpenFile& open = of(file);
  const haddr_t most = std::min(open.allocated, kMaxBytes);
  if (at > most || count > most - at) {
    because(H5E_OVERFLOW, fmt::format("{1} bytes at offset {0} lie outside the file", at, count));
    return -1;
  }
  const std::size_t got = read_at(open.fd, at, {static_cast<std::byte*>(out), count});
  if (got == count) return 0;
  if (errno != 0) {
    because(H5E_READERROR, fmt::format("errno = {}", errno));
  } else {
    because(H5E_READERROR, fmt::format("it is truncated: it ends at byte {}, but at least {} bytes were expected",
                                       at + got, at + count));
  }
  return -1;
}

herr_t write(H5FD_t*, H5FD_mem_t, hid_t, haddr_t, std::size_t, const void*) {
  because(H5E_WRITEERROR, "it is open for reading only");
  return -1;
}

hid_t registered_driver() {
  H5FD_class_t out{};
#ifdef H5FD_CLASS_VERSION
  out.version = H5FD_CLASS_VERSION;
  out.value = static_cast<H5FD_class_value_t>(511);  // a number that nobody registers
#endif
  out.name = "given descriptor";
  out.maxaddr = kMaxBytes;
  out.fc_degree = H5F_CLOSE_WEAK;
  out.fapl_size = sizeof(Given);  // copied as raw memory
  out.open = open_given;
  out.close = close_file;
  out.cmp = compare;
  out.query = what_it_bears;
  out.get_eoa = allocated;
  out.set_eoa = allocate;
  out.get_eof = size_of;
  out.read = read;
  out.write = write;
  // The program takes the locks before it passes a file on. The library checks whether a file is marked as being
  // written only if its driver has these functions.
  out.lock = [](H5FD_t*, hbool_t) -> herr_t { return 0; };
  out.unlock = [](H5FD_t*) -> herr_t { return 0; };
  std::fill(std::begin(out.fl_map), std::end(out.fl_map), H5FD_MEM_SUPER);
  return H5FDregister(&out);
}

}  // namespace

Handle access_by_descriptor(int fd) {
  static const hid_t driver = registered_driver();
  Handle out{H5Pcreate(H5P_FILE_ACCESS), H5Pclose};
  const Given given{fd};
  if (H5Pset_driver(out.get(), driver, &given) < 0) fail("it cannot be opened", "");
  return out;
}

}  // namespace millrace::hdf5::helper
