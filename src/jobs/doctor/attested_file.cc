#include "src/jobs/doctor/attested_file.h"

#include <spdlog/spdlog.h>
#include <sys/file.h>

#include <algorithm>
#include <memory>

#include "src/base/json.h"
#include "src/base/text.h"
#include "src/io/file/atomic_file.h"
#include "src/io/file/file_reader.h"
#include "src/io/file/trusted_file.h"

namespace millrace::doctor {
namespace {

std::string text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

std::string attestations_path() { return data_path("attested.json"); }

void store_attestations(const TriedDevice& tried) {
  const std::string path = attestations_path();
  prepare_trusted_folder(path, Trust::checked);
  // Another run may remove an attestation at the same time; the lock ensures that it remains removed. It is held only
  // while a small file is written.
  const Descriptor lock = open_trusted_file(path + ".lock", Trust::checked, true, true);
  while (::flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) throw Failure(system_error("it cannot be locked", escape_unprintable(path + ".lock"), errno));
  }
  std::vector<LocalAttestation> all = attested_here();
  std::erase_if(all, [&](const LocalAttestation& one) { return one.uuid == tried.device.uuid; });
  for (const KernelTrial& trial : tried.trials) {
    if (trial.right) all.push_back({tried.device.uuid, tried.device.driver, trial.hash});
  }
  Json rows = Json::array();
  for (const LocalAttestation& one : all)
    rows.push_back({{"uuid", one.uuid}, {"driver", one.driver}, {"ptx_sha256", one.hash}});
  AtomicFile file(path);
  file.write(Json{{"millrace", "attested"}, {"attested", rows}}.dump(1) + "\n");
  file.commit();
}

void revoke_attestations(const Device& device) {
  try {
    const std::vector<LocalAttestation> all = attested_here();
    const bool kept =
        std::any_of(all.begin(), all.end(), [&](const LocalAttestation& one) { return one.uuid == device.uuid; });
    if (kept) store_attestations({device, {}});
  } catch (const std::exception& failure) {
    spdlog::warn("{} failed, but its attestation could not be removed: {}; run millrace doctor --attest",
                 name_of(device), failure.what());
  }
}

std::vector<LocalAttestation> attested_here(std::string* why_not_trusted) {
  // The limit is generous: the file that this program writes has a few thousand bytes.
  constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 20;
  std::vector<LocalAttestation> out;
  Json all;
  try {
    const std::string path = attestations_path();
    const std::unique_ptr<FileReader> file =
        FileReader::make(open_trusted_file(path, Trust::checked, false, false), path, FileReader::Hashing::off)
            .or_throw();
    all = Json::parse_or_null(read_text(*file, kMaxBytes).or_throw());
  } catch (const Failure& failure) {
    if (failure.error().code == ErrorCode::conflict && why_not_trusted != nullptr) *why_not_trusted = failure.what();
    return out;
  }
  if (!all.is_object() || text_in(all, "millrace") != "attested") return out;
  const auto rows = all.find("attested");
  if (!rows || !rows->is_array()) return out;
  for (const Json& row : *rows) {
    if (row.is_object()) out.push_back({text_in(row, "uuid"), text_in(row, "driver"), text_in(row, "ptx_sha256")});
  }
  return out;
}

}  // namespace millrace::doctor
