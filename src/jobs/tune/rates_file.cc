#include "src/jobs/tune/rates_file.h"

#include <cmath>

#include "src/base/json.h"
#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/atomic_file.h"
#include "src/io/file/file_reader.h"
#include "src/io/file/trusted_file.h"

namespace millrace::tune {
namespace {

// Returns the key that identifies a device: its UUID, or, for OpenCL devices, which have none, name and driver.
std::string key_of(const Device& device) {
  if (!device.uuid.empty()) return device.uuid;
  return replace_invalid_utf8(device.name + ", " + device.driver);
}

// Returns the hash of the kernels (of their PTX) that an operation's rate was measured with. Operations are named after
// their kernel source.
std::string hash_of(const std::string& operation) {
  for (const test_vectors::DeviceKernels& kernels : test_vectors::device_kernels()) {
    const KernelSource& source = kernels.source();
    if (operation.starts_with(std::string(source.name) + ".")) return std::string(source.hash);
  }
  return "";
}

Json read_file() {
  const std::string path = rates_path();
  if (path.empty()) return Json::object();
  auto file = FileReader::open(path, FileReader::Hashing::off);
  if (!file) return Json::object();
  // The first bytes are enough: a file that this program writes has a few thousand bytes.
  const auto bytes = (*file)->peek();
  Json out = Json::parse_or_null({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return out.is_object() ? out : Json::object();
}

double rate_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (!found || !found->is_number()) return 0;
  const double value = found->get<double>();
  return std::isfinite(value) && value > 0 ? value : 0;
}

}  // namespace

std::string rates_path() { return cache_path("rates.json"); }

void store_rates(const std::vector<DeviceMeasurement>& tuned) {
  const std::string path = rates_path();
  if (path.empty()) throw Failure(ErrorCode::usage, "no home folder found", "tune", "set XDG_CACHE_HOME");
  Json devices = Json::object();
  const Json before = read_file();
  if (const auto found = before.find("devices"); found && found->is_object()) devices = *found;
  for (const DeviceMeasurement& one : tuned) {
    Json operations = Json::object();
    for (const MeasuredRate& measured : one.operations) {
      operations[measured.operation] = {{"kernel", hash_of(measured.operation)},
                                        {"amount_s", measured.device_amount_s}};
    }
    devices[key_of(one.device)] = {{"begin_s", one.rates.begin_s},
                                   {"up_bytes_s", one.rates.up_bytes_s},
                                   {"down_bytes_s", one.rates.down_bytes_s},
                                   {"operations", operations}};
  }
  make_private_folders(folder_of(path));
  AtomicFile file(path);
  file.write(Json{{"millrace", "rates"}, {"devices", devices}}.dump(1) + "\n");
  file.commit();
}

std::optional<DeviceRates> read_rates(const Device& device) {
  const Json all = read_file();
  const auto devices = all.find("devices");
  if (!devices || !devices->is_object()) return std::nullopt;
  const auto one = devices->find(key_of(device));
  if (!one || !one->is_object()) return std::nullopt;
  DeviceRates out;
  out.begin_s = rate_in(*one, "begin_s");
  out.up_bytes_s = rate_in(*one, "up_bytes_s");
  out.down_bytes_s = rate_in(*one, "down_bytes_s");
  const auto operations = one->find("operations");
  if (!operations || !operations->is_object()) return std::nullopt;
  for (const auto& [name, operation] : operations->items()) {
    if (!operation.is_object()) continue;
    const auto kernel = operation.find("kernel");
    if (!kernel || *kernel != hash_of(name)) continue;
    if (const double amount = rate_in(operation, "amount_s"); amount > 0) out.amount_s[name] = amount;
  }
  return out;
}

}  // namespace millrace::tune
