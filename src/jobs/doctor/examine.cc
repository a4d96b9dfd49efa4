#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "src/io/image/picture.h"
#include "src/io/process/helper_path.h"
#include "src/io/store/hdf5_writer.h"
#include "src/jobs/doctor/devices.h"
#include "src/jobs/doctor/libraries.h"
#include "src/jobs/doctor/report.h"
#include "src/model/runtime.h"

namespace millrace::doctor {
namespace {

// Format that the decoding helper reads, and the remedy if it does not: mostly the Debian packages that are missing.
struct HelperFormat {
  ImageFormat format;
  const char* remedy;
};
constexpr std::array kHelperFormats = {
    HelperFormat{ImageFormat::gif, "install libgif7"},
    HelperFormat{ImageFormat::bmp, "use the millrace-decoder of this program's build"},
    HelperFormat{ImageFormat::pnm, "use the millrace-decoder of this program's build"},
    HelperFormat{ImageFormat::tiff, "install libvips42 and libtiff6"},
    HelperFormat{ImageFormat::webp, "install libvips42 and libwebpdemux2"},
    HelperFormat{ImageFormat::heif, "install libvips42 and libheif1 (Ubuntu 24.04: also libheif-plugin-libde265)"},
    HelperFormat{ImageFormat::jxl, "install libvips42 and libjxl0.7"},
    HelperFormat{ImageFormat::jp2, "install libvips42 and libopenjp2-7"},
    HelperFormat{ImageFormat::raw, "install libraw20"},
};

std::string first_word(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::string word;
  in >> word;
  return word;
}

// True if a display or compute device (PCI classes 03 and 12) with NVIDIA's vendor number is present.
bool nvidia_on_bus(const std::string& root) {
  std::error_code error;
  for (const auto& device : std::filesystem::directory_iterator(root + "/sys/bus/pci/devices", error)) {
    if (first_word(device.path() / "vendor") != "0x10de") continue;
    const std::string kind = first_word(device.path() / "class");
    if (kind.starts_with("0x03") || kind.starts_with("0x12")) return true;
  }
  return false;
}

// Adds the support for video. FFmpeg is not part of this program: each distribution has its own build, with its own
// license.
void add_video_format(Findings& findings) {
  FormatSupport film{"film", false, false, "its helper does not work", ""};
  if (const auto answer = query_helper_versions(find_helper("millrace-film"))) {
    const HelperLibrary& library = answer.value().libraries.front();
    film.reads = film.writes = true;
    film.by = fmt::format("{} {}, in a helper", library.name, library.version.substr(0, library.version.find(' ')));
    std::string encoders;
    for (const std::string& each : library.reads) encoders += (encoders.empty() ? "" : ", ") + each;
    findings.libraries.push_back(
        {library.name, library.version, "reads and writes video in a helper; encoders: " + encoders});
  } else {
    film.remedy = is_in_python_package()
                      ? helper_remedy("millrace-film")
                      : "install libavformat59 and libavcodec59, and put millrace-film beside the program";
  }
  findings.formats.push_back(std::move(film));
}

std::vector<std::string> remedies_of(const Findings& findings, const std::string& helper_remedy) {
  std::vector<std::string> remedies;
  const auto add = [&](const std::string& remedy) {
    if (!remedy.empty() && std::find(remedies.begin(), remedies.end(), remedy) == remedies.end())
      remedies.push_back(remedy);
  };
  for (const SelfTestResult& result : findings.self_test) {
    if (result.passed()) continue;
    add(
        fmt::format("do not trust results at the level {}: run with MILLRACE_CPU={} and report the failed "
                    "self-test",
                    name_of(result.level), result.level == CpuLevel::baseline ? "another level" : "baseline"));
  }
  add(findings.forced_error);
  add(helper_remedy);
  if (findings.helper.empty()) {
    for (const FormatSupport& format : findings.formats) {
      if (!format.remedy.empty()) add(fmt::format("to read {}: {}", format.name, format.remedy));
    }
  }
  for (const DeviceState& state : findings.devices) {
    for (const DeviceState::Kernel& kernel : state.kernels) {
      if (kernel.wrong)
        add(fmt::format("{} computes wrong results: update its driver, or use another device", name_of(state.device)));
    }
  }
  add(findings.not_trusted);
  if (!findings.cuda.empty() && findings.nvidia_on_bus) {
    add("an NVIDIA device was found, but no working driver: install nvidia-driver (Debian's "
        "section non-free) and restart");
  }
  if (!findings.models.empty()) add(fmt::format("to run models: {}", findings.models));
  const Bytes memory = default_memory_limit(findings.machine);
  if (memory.count > 0 && memory < 1_GiB) {
    add(fmt::format("only {} of memory is available for a job: close other programs, or raise this container's limit",
                    format_bytes(memory)));
  }
  return remedies;
}

}  // namespace

bool Findings::passed() const {
  return std::all_of(self_test.begin(), self_test.end(), [](const SelfTestResult& r) { return r.passed(); });
}

std::vector<FormatSupport> formats_of(const Outcome<HelperVersions>& helper) {
  std::vector<FormatSupport> formats = {
      {"JPEG", true, true, jpeg_library(), ""},
      {"PNG", true, true, png_library(), ""},
  };
  for (const auto& [format, remedy] : kHelperFormats) {
    FormatSupport support{name_of(format), false, false, "", ""};
    if (!helper) {
      support.by = "the decoding helper does not work";
      support.remedy = helper.error().remedy;
    } else {
      for (const HelperLibrary& library : helper.value().libraries) {
        if (std::find(library.reads.begin(), library.reads.end(), support.name) == library.reads.end()) continue;
        support.reads = true;
        support.by = fmt::format("{} {}, in the helper", library.name, library.version);
      }
      if (!support.reads) {
        support.by = "no library found that reads it";
        support.remedy = remedy;
      }
    }
    formats.push_back(std::move(support));
  }
  formats.push_back({"NPY", true, true, "this program", ""});
  formats.push_back(
      {"HDF5", true, true, "HDF5 " + hdf5_version() + "; files of other programs are read in a helper", ""});
  return formats;
}

Findings examine(const std::string& program_version, const std::string& helper, const std::string& root) {
  Findings findings;
  findings.program_version = program_version;
  findings.machine = describe_machine(root);
  if (const char* forced = std::getenv("MILLRACE_CPU"); forced != nullptr) findings.forced = forced;
  try {
    use_cpu_level_from_environment();
  } catch (const Failure& failure) {
    findings.forced_error = failure.what();
  }
  findings.levels = available_cpu_levels();
  findings.level = current_cpu_level();
  examine_devices(findings);
  findings.nvidia_on_bus = nvidia_on_bus(root);
  findings.libraries = list_libraries();
  const auto answer = query_helper_versions(helper);
  findings.formats = formats_of(answer);
  if (answer) {
    findings.sandbox_layers = answer.value().sandbox_layers;
    for (const HelperLibrary& library : answer.value().libraries) {
      findings.libraries.push_back({library.name, library.version, "decodes pictures in the helper"});
    }
  } else {
    findings.helper = fmt::format("{}: {}", answer.error().subject, answer.error().what);
  }
  add_video_format(findings);
  if (const auto runtime = model::runtime()) {
    const std::string name = (*runtime)->runtime;
    const std::size_t space = name.find(' ');
    findings.libraries.push_back({name.substr(0, space), name.substr(space + 1), "runs models"});
  } else {
    findings.models = runtime.error().remedy;
  }
  findings.self_test = run_self_test();
  findings.remedies = remedies_of(findings, answer ? "" : answer.error().remedy);
  return findings;
}

}  // namespace millrace::doctor
