// YAML as a person, or someone who sent them a file, may have written it.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "src/base/settings.h"
#include "src/jobs/dedupe/options.h"
#include "src/jobs/hash/options.h"
#include "src/jobs/render/options.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto apply = [&](auto options, auto describe) {
    Settings settings;
    describe(settings, options);
    try {
      settings.apply_yaml(text, "input");
    } catch (const Failure& failure) {
      // The only way to refuse; anything else that is thrown ends the fuzzer.
      if (failure.error().message().empty()) std::abort();
      return;
    }
    // Accepted settings print as YAML that is accepted again.
    const std::string printed = settings.print();
    Settings again;
    auto second = options;
    describe(again, second);
    again.apply_yaml(printed, "printed");
  };
  apply(hash::HashJobOptions{}, hash::describe);
  apply(dedupe::DedupeOptions{}, dedupe::describe);
  apply(render::RenderOptions{}, render::describe);
  return 0;
}
