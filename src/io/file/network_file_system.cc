#include "src/io/file/network_file_system.h"

#include <sys/vfs.h>

#include <array>
#include <cstdint>

namespace millrace {

std::string network_file_system(const std::string& folder) {
  struct Known {
    std::uint32_t number;
    const char* name;
  };
  // Numbers from linux/magic.h, and from the sources of the file systems that are not in it.
  constexpr std::array<Known, 9> kKnown = {{{0x6969, "NFS"},
                                            {0xFE534D42, "SMB"},
                                            {0xFF534D42, "SMB"},
                                            {0x517B, "SMB"},
                                            {0x0BD00BD0, "Lustre"},
                                            {0x19830326, "BeeGFS"},
                                            {0x47504653, "GPFS"},
                                            {0x00C36400, "Ceph"},
                                            {0x5346414F, "AFS"}}};
  struct statfs info {};
  if (::statfs(folder.c_str(), &info) != 0) return "";
  for (const Known& each : kKnown) {
    if (static_cast<std::uint32_t>(info.f_type) == each.number) return each.name;
  }
  return "";
}

}  // namespace millrace
