#include "src/jobs/doctor/attested_file.h"

#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "src/base/text.h"
#include "src/io/file/atomic_file.h"
#include "src/io/file/own.h"
#include "src/io/file/shallow_json.h"

namespace millrace::doctor {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kKindNames = {std::pair{DeviceKind::cuda, "cuda"}, std::pair{DeviceKind::opencl, "opencl"}};

std::string text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// Ours has some thousand bytes.
std::string read_text(int fd) {
  constexpr std::size_t kMost = std::size_t{1} << 20;
  std::string out(kMost, '\0');
  std::size_t size = 0;
  while (size < kMost) {
    const ssize_t got = ::read(fd, out.data() + size, kMost - size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  out.resize(size);
  return out;
}

}  // namespace

std::string attested_path() { return data_path("attested.json"); }

void keep(const TriedDevice& tried) {
  const std::string path = attested_path();
  use_own_folder_of(path, Trust::checked);
  // Another run may take something back at the same time: it stays so. Held for as long as a small file is written.
  const Descriptor lock = open_own_file(path + ".lock", Trust::checked, true, true);
  while (::flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) throw Failure(system_error("it cannot be locked", printable(path + ".lock"), errno));
  }
  std::vector<LocalAttestation> all = attested_here();
  std::erase_if(all, [&](const LocalAttestation& one) {
    return one.kind == tried.device.kind && one.device == identity_of(tried.device);
  });
  for (const Trial& trial : tried.trials) {
    if (trial.right) all.push_back({tried.device.kind, identity_of(tried.device), tried.device.driver, trial.hash});
  }
  Json rows = Json::array();
  for (const LocalAttestation& one : all) {
    const auto* kind =
        std::find_if(kKindNames.begin(), kKindNames.end(), [&](const auto& name) { return name.first == one.kind; });
    rows.push_back({{"kind", kind->second}, {"device", one.device}, {"driver", one.driver}, {"ptx_sha256", one.hash}});
  }
  AtomicFile file(path);
  file.write(Json{{"millrace", "attested"}, {"attested", rows}}.dump(1) + "\n");
  file.commit();
}

std::vector<LocalAttestation> attested_here(std::string* why_not_believed) {
  std::vector<LocalAttestation> out;
  Json all;
  try {
    all = shallow_json(read_text(open_own_file(attested_path(), Trust::checked, false, false).get()));
  } catch (const Failure& failure) {
    if (failure.error().code == ErrorCode::conflict && why_not_believed != nullptr) *why_not_believed = failure.what();
    return out;
  }
  if (!all.is_object() || text_in(all, "millrace") != "attested") return out;
  const auto rows = all.find("attested");
  if (rows == all.end() || !rows->is_array()) return out;
  for (const Json& row : *rows) {
    if (!row.is_object()) continue;
    const std::string word = text_in(row, "kind");
    for (const auto& [kind, name] : kKindNames) {
      if (word == name)
        out.push_back({kind, text_in(row, "device"), text_in(row, "driver"), text_in(row, "ptx_sha256")});
    }
  }
  return out;
}

}  // namespace millrace::doctor
