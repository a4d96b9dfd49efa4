#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <string>

#include "arrays.h"
#include "bindings.h"
#include "calls.h"
#include "millrace/error.h"
#include "millrace/hamming.h"
#include "millrace/hash.h"

namespace millrace::python {
namespace {

class Hasher {
 public:
  Hasher(const std::vector<std::string>& kinds, int size, int threads)
      : hasher_([options = HashOptions{kinds, size, threads}] { return new ImageHasher(options); }) {}

  // Returns the bytes of a code, by kind.
  std::vector<std::size_t> bytes() {
    std::vector<std::size_t> out;
    for (std::size_t k = 0; k < hasher_.get().kinds(); ++k) out.push_back(hasher_.get().bytes(k));
    return out;
  }

  // Returns uint8 [images, bytes], by kind.
  nb::list hash(const nb::list& images) {
    const ImageHasher& hasher = hasher_.get();
    std::vector<HeldArray> arrays;
    const std::vector<ArrayView> views = views_of(images, "image", arrays);
    std::vector<std::vector<std::uint8_t>> codes;
    for (std::size_t k = 0; k < hasher.kinds(); ++k) codes.emplace_back(views.size() * hasher.bytes(k));
    std::vector<std::uint8_t*> places;
    for (std::vector<std::uint8_t>& own : codes) places.push_back(own.data());
    // Even the smallest image takes a millisecond if codes are long.
    constexpr std::uint64_t kOfEach = 32 << 10;
    std::uint64_t bytes = 0;
    for (const ArrayView& view : views) bytes += kOfEach + bytes_of(view);
    run_interruptible(bytes, [&](const CancelToken& cancel) { hasher.hash(views, places, &cancel); });
    nb::list out;
    for (std::size_t k = 0; k < codes.size(); ++k) {
      out.append(to_numpy(std::move(codes[k]),
                          {static_cast<std::int64_t>(views.size()), static_cast<std::int64_t>(hasher.bytes(k))}));
    }
    return out;
  }

 private:
  PerProcess<ImageHasher> hasher_;
};

// Pairs as the program writes them: i and j of four bytes, the distance of one.
class PackedPairs {
 public:
  void add(std::span<const CodePair> block, std::uint64_t all) {
    try {
      // Uninitialised: memory that is never touched costs nothing.
      if (all > std::numeric_limits<std::size_t>::max() / kPairBytes) throw std::bad_alloc();
      if (!bytes_) bytes_.reset(new std::uint8_t[all * kPairBytes]);
    } catch (const std::exception&) {
      throw Failure(ErrorCode::out_of_memory,
                    "there is not enough memory for " + std::to_string(all) + " pairs of 9 bytes", "radius",
                    "use a smaller radius, or write the pairs to a file with `millrace join`");
    }
    std::uint8_t* to = bytes_.get() + filled_;
    for (const CodePair& pair : block) {
      std::memcpy(to, &pair.i, 4);
      std::memcpy(to + 4, &pair.j, 4);
      to[8] = static_cast<std::uint8_t>(pair.distance);
      to += kPairBytes;
    }
    filled_ += block.size() * kPairBytes;
  }
  nb::object numpy() {
    const nb::capsule owner(bytes_.get(), [](void* p) noexcept { delete[] static_cast<std::uint8_t*>(p); });
    const std::size_t sides[] = {filled_ / kPairBytes, kPairBytes};
    return nb::cast(nb::ndarray<nb::numpy, std::uint8_t>(bytes_.release(), 2, sides, owner));
  }

 private:
  static constexpr std::size_t kPairBytes = 9;
  std::unique_ptr<std::uint8_t[]> bytes_;
  std::size_t filled_ = 0;
};

nb::object join(const nb::object& codes, int radius, const std::string& algorithm, int threads, std::uint64_t memory) {
  const HeldArray array = hold_array(codes, "codes");
  PackedPairs pairs;
  run_interruptible([&](const CancelToken& cancel) {
    join_codes(array.view, {radius, algorithm, threads, memory, &cancel},
               [&](std::span<const CodePair> block, std::uint64_t all) { pairs.add(block, all); });
  });
  return pairs.numpy();
}

nb::object search(const nb::object& queries, const nb::object& base, int radius, const std::string& algorithm,
                  int threads, std::uint64_t memory) {
  const HeldArray wanted = hold_array(queries, "queries"), array = hold_array(base, "base");
  PackedPairs pairs;
  run_interruptible([&](const CancelToken& cancel) {
    search_codes(wanted.view, array.view, {radius, algorithm, threads, memory, &cancel},
                 [&](std::span<const CodePair> block, std::uint64_t all) { pairs.add(block, all); });
  });
  return pairs.numpy();
}

nb::tuple compare_pictures(const nb::object& a, const nb::object& b, bool orientations) {
  const HeldArray first = hold_array(a, "a"), second = hold_array(b, "b");
  PictureComparison out;
  run_interruptible(0, [&](const CancelToken&) { out = same_picture(first.view, second.view, orientations); });
  return nb::make_tuple(out.kind, out.score, out.turned);
}

}  // namespace

void bind_hashes(nb::module_& m) {
  nb::class_<Hasher>(m, "Hasher")
      .def(nb::init<const std::vector<std::string>&, int, int>(), nb::arg("kinds"), nb::arg("size"), nb::arg("threads"))
      .def_prop_ro("bytes", &Hasher::bytes)
      .def("hash", &Hasher::hash, nb::arg("images"));
  m.def("join", join, nb::arg("codes"), nb::arg("radius"), nb::arg("algorithm"), nb::arg("threads"), nb::arg("memory"));
  m.def("search", search, nb::arg("queries"), nb::arg("base"), nb::arg("radius"), nb::arg("algorithm"),
        nb::arg("threads"), nb::arg("memory"));
  m.def("same_picture", compare_pictures, nb::arg("a"), nb::arg("b"), nb::arg("orientations"));
}

}  // namespace millrace::python
