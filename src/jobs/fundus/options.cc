#include "src/jobs/fundus/options.h"

#include <fmt/format.h>

#include "src/base/text.h"

namespace millrace::fundus {

void describe(Settings& settings, FundusOptions& options) {
  settings.add_text("output", "DIR", "write results into this folder, which is created", options.output);
  settings.add_parsed("write", "LIST", "choose results per photograph: crop, enhanced; bounds: only the tables",
                      "crop,enhanced", [&options](const std::string& text) {
                        options.write_crop = options.write_enhanced = false;
                        for (const std::string& part : split(text, ',')) {
                          const std::string_view name = trim(part);
                          if (name == "crop") {
                            options.write_crop = true;
                          } else if (name == "enhanced") {
                            options.write_enhanced = true;
                          } else if (name != "bounds") {
                            throw Failure(ErrorCode::usage,
                                          fmt::format("'{}' is not crop, enhanced or bounds", escape_unprintable(name)),
                                          "--write", "");
                          }
                        }
                      });
  settings.add_integer("size", "PIXELS", "set the side of a crop", options.size, 64, 8192);
  settings.set_heading("Input files");
  millrace::describe(settings, options.files);
}

}  // namespace millrace::fundus
