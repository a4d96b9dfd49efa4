// Input: kernels that were compiled for the host, and a launch of one.
// Output: it run, one thread of a block after the other between barriers, in an order that is asked for.
// Never: lets pass what a device might do otherwise: accesses outside of an array, two threads at one element without a
//   barrier between them (in shared and in global memory), barriers that not all threads of a block reach. These are
//   told as violations, and the launch fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace millrace::host {

struct Place {
  unsigned thread = 0, block = 0, threads = 0, blocks = 0;
};
// Position of the running thread. Only one launch runs at a time, under a lock.
struct Now {
  Place place;
  std::uint32_t phase = 1, launch = 0;
};
extern Now current;
inline const Place& now() { return current.place; }
void barrier();

// Who touched an element last, within a launch. Phases are counted by barriers.
struct Shadow {
  std::uint32_t writer = 0, reader = 0;           // thread + 1; reader: all bits where there were several
  std::uint32_t write_block = 0, read_block = 0;  // block + 1; read_block as reader
  std::uint32_t write_phase = 0, read_phase = 0;
  std::uint32_t write_launch = 0, read_launch = 0;
  bool atomic = false;  // the last write was
};

enum class Access : std::uint8_t { read, write, atomic };

// An array as a kernel got it: of global memory, or shared by a block.
struct Array {
  std::byte* data = nullptr;
  std::size_t count = 0, element = 0;
  Shadow* shadow = nullptr;  // by bytes of the allocation, from `data` on
  const char* name = "global";
  bool shared = false;
};

// Ends the launch with what is wrong.
[[noreturn]] void outside(const Array& array, std::uint64_t at);
[[noreturn]] void race(const Array& array, std::uint64_t at, const Shadow& shadow, bool writes, bool written);

// Returns true if the recorded access may be concurrent with the current one. Shared memory belongs to one block.
inline bool meets(std::uint32_t thread, std::uint32_t block, std::uint32_t phase, std::uint32_t launch) {
  if (launch != current.launch || thread == 0) return false;
  return block != current.place.block + 1 || (phase == current.phase && thread != current.place.thread + 1);
}

inline void check(const Array& array, std::uint64_t at, Access access) {
  if (at >= array.count) outside(array, at);
  Shadow& s = array.shadow[array.shared ? at : at * array.element];
  const std::uint32_t me = current.place.thread + 1, block = current.place.block + 1;
  const bool writes = access != Access::read;
  if (meets(s.writer, s.write_block, s.write_phase, s.write_launch) && !(access == Access::atomic && s.atomic)) {
    race(array, at, s, writes, true);
  }
  if (writes) {
    if (meets(s.reader, s.read_block, s.read_phase, s.read_launch)) race(array, at, s, writes, false);
    s.writer = me;
    s.write_block = block;
    s.write_phase = current.phase;
    s.write_launch = current.launch;
    s.atomic = access == Access::atomic;
    return;
  }
  const bool same_launch = s.read_launch == current.launch && s.reader != 0;
  const bool same_block = same_launch && s.read_block == block;
  s.reader = same_block && s.read_phase == current.phase && s.reader != me ? ~std::uint32_t{0} : me;
  s.read_block = same_launch && !same_block ? ~std::uint32_t{0} : block;
  s.read_phase = current.phase;
  s.read_launch = current.launch;
}

template <typename T>
class In {
 public:
  explicit In(Array array) : array_(array) {}
  T operator[](std::uint64_t at) const {
    check(array_, at, Access::read);
    T value;
    std::memcpy(&value, array_.data + at * sizeof(T), sizeof(T));
    return value;
  }

 private:
  Array array_;
};

template <typename T>
class Out {
 public:
  class Element {
   public:
    Element(const Array& array, std::uint64_t at) : array_(array), at_(at) {}
    operator T() const { return In<T>(array_)[at_]; }  // NOLINT(google-explicit-constructor): reads like a C array
    const Element& operator=(T value) const {          // NOLINT
      check(array_, at_, Access::write);
      std::memcpy(array_.data + at_ * sizeof(T), &value, sizeof(T));
      return *this;
    }
    const Element& operator=(const Element& other) const { return *this = static_cast<T>(other); }  // NOLINT
    const Element& operator+=(T value) const {
      return *this = static_cast<T>(static_cast<T>(*this) + value);
    }  // NOLINT
    Element(const Element&) = default;
    ~Element() = default;

   private:
    const Array& array_;
    std::uint64_t at_;
  };

  explicit Out(Array array) : array_(array) {}
  Element operator[](std::uint64_t at) const { return {array_, at}; }
  template <typename Change>
  T atomic(std::uint64_t at, const Change& change) const {
    check(array_, at, Access::atomic);
    T old;
    std::memcpy(&old, array_.data + at * sizeof(T), sizeof(T));
    const T fresh = change(old);
    std::memcpy(array_.data + at * sizeof(T), &fresh, sizeof(T));
    return old;
  }

 private:
  Array array_;
};

// The calling block's array of this name, made at the first call.
Array shared_memory(const char* name, std::size_t count, std::size_t element);
template <typename T>
Out<T> shared_array(const char* name, std::size_t count) {
  return Out<T>(shared_memory(name, count, sizeof(T)));
}

// Parameter of a kernel as the driver sees it.
struct Parameter {
  bool array = false;
  std::size_t bytes = 0;    // of a number
  std::size_t element = 0;  // of an array
};

// A kernel's arguments as the driver has them: values of numbers, arrays of pointers that it has looked up.
struct Argument {
  const void* value = nullptr;
  Array array;
};

struct Kernel {
  std::string name;
  unsigned threads = 0;
  std::vector<Parameter> parameters;
  std::function<void(const std::vector<Argument>&)> run;  // one thread
};

const std::map<std::string, Kernel>& kernels();
bool add_kernel(Kernel kernel);

template <typename T>
struct ParameterOf {
  static Parameter describe() { return {false, sizeof(T), 0}; }
  static T make(const Argument& argument) {
    T value;
    std::memcpy(&value, argument.value, sizeof(T));
    return value;
  }
};
template <typename T>
struct ParameterOf<In<T>> {
  static Parameter describe() { return {true, 0, sizeof(T)}; }
  static In<T> make(const Argument& argument) { return In<T>(argument.array); }
};
template <typename T>
struct ParameterOf<Out<T>> {
  static Parameter describe() { return {true, 0, sizeof(T)}; }
  static Out<T> make(const Argument& argument) { return Out<T>(argument.array); }
};

template <typename... Ps>
bool add_kernel(const char* name, unsigned threads, void (*function)(Ps...)) {
  const auto call = [function]<std::size_t... at>(const std::vector<Argument>& arguments, std::index_sequence<at...>) {
    function(ParameterOf<Ps>::make(arguments[at])...);
  };
  return add_kernel(
      Kernel{name, threads, {ParameterOf<Ps>::describe()...}, [call](const std::vector<Argument>& arguments) {
               call(arguments, std::index_sequence_for<Ps...>());
             }});
}

enum class Order : std::uint8_t { forward, reverse, random };

// Empty when all went well; else what was wrong.
std::string launch(const Kernel& kernel, unsigned blocks, const std::vector<Argument>& arguments, Order order,
                   std::uint64_t seed);

}  // namespace millrace::host
