#include "src/io/store/end_line.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <span>
#include <string_view>

#include "src/base/error.h"
#include "src/base/json.h"
#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/directory_entry.h"
#include "src/io/file/positional_io.h"
#include "src/io/file/running_hash.h"
#include "src/io/store/checksums.h"

namespace millrace {
namespace {

// Length of the line, with a line break before it and one after it.
constexpr std::size_t kBytes = 192;

std::string text_of(const EndLine& line) {
  const std::string words =
      fmt::format(R"({{"millrace":"checksum","bytes":{},"xxh3":"{:016x}","parts":{},"xxh3_of_parts":"{:016x}"}})",
                  line.bytes, line.hash, line.parts, line.hash_of_shards);
  return fmt::format("\n{:<{}}\n", words, kBytes - 2);
}

Descriptor open_for_reading(const std::string& path) {
  return Descriptor(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
}

}  // namespace

void EndLine::MappedShards::add(const EndLine& line) {
  const std::uint64_t numbers[] = {line.bytes, line.hash};
  hash_.update(std::as_bytes(std::span(numbers)));
  ++count_;
}

FileDigest write_end_line(int file, const std::string& path, const EndLine::MappedShards& parts,
                          const std::function<void()>& check_cancelled) {
  const auto state = state_of_descriptor(file);
  EndLine line{state ? state->size : 0, 0, parts.count(), parts.hash()};
  RunningHash hash;
  if (!state || !hash_prefix(file, line.bytes, hash, check_cancelled)) {
    if (errno != 0) throw Failure(system_error("it cannot be read", path, errno));
    throw Failure(ErrorCode::bad_data, "it became shorter while it was read", path, "run the same command again");
  }
  line.hash = hash.digest();
  const std::string text = text_of(line);
  const auto bytes = std::as_bytes(std::span(text));
  if (!write_at(file, line.bytes, bytes)) throw Failure(system_error("it cannot be written", path, errno));
  hash.update(bytes);
  return {std::string(file_name(path)), line.bytes + bytes.size(), hash.digest()};
}

std::optional<EndLine> read_end_line(const std::string& path) {
  const Descriptor file = open_for_reading(path);
  const auto state = state_of_descriptor(file.get());
  std::array<char, kBytes> text{};
  if (!state || !state->regular || state->size < kBytes ||
      read_at(file.get(), state->size - kBytes, std::as_writable_bytes(std::span(text))) != kBytes) {
    return std::nullopt;
  }
  try {
    const auto json = Json::parse({text.data(), text.size()});
    const auto hash = parse_hex(json.at("xxh3").get<std::string>());
    for (const char* key : {"bytes", "parts"})
      if (!json.at(key).is_number_unsigned()) return std::nullopt;
    const auto of_parts = parse_hex(json.at("xxh3_of_parts").get<std::string>());
    const EndLine out{json.at("bytes").get<std::uint64_t>(), hash.value_or(0), json.at("parts").get<std::uint64_t>(),
                      of_parts.value_or(0)};
    const bool ours = json.at("millrace") == "checksum" && hash && of_parts && out.bytes == state->size - kBytes;
    return ours && text_of(out) == std::string_view(text.data(), text.size()) ? std::optional(out) : std::nullopt;
  } catch (const Json::Error&) {
    return std::nullopt;
  }
}

bool verify_end_line(const std::string& path, const EndLine& line, const std::function<void()>& check_cancelled) {
  const Descriptor file = open_for_reading(path);
  RunningHash hash;
  return hash_prefix(file.get(), line.bytes, hash, check_cancelled) && hash.digest() == line.hash;
}

}  // namespace millrace
