#include "src/jobs/dedupe/page/page_id.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <new>

namespace millrace::dedupe {

struct PageId::State {
  State() : hash(XXH3_createState()) {
    if (hash == nullptr) throw std::bad_alloc();
    XXH3_128bits_reset(hash);
  }
  ~State() { XXH3_freeState(hash); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  XXH3_state_t* hash;
};

PageId::PageId() : state_(std::make_unique<State>()) {}
PageId::~PageId() = default;

void PageId::add(const PageGroup& group) {
  add(group.id);
  add(name_of(group.kind));
  add(std::to_string(group.members.size()));
  for (const PageMember& member : group.members) {
    add(member.path);
    add(member.path_base64);
    add(member.hash);
    add(std::to_string(member.size));
    add(std::to_string(member.mtime_ns));
  }
}

std::string PageId::hex() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_->hash);
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

void PageId::add(std::string_view text) {
  const std::string length = std::to_string(text.size()) + ":";
  XXH3_128bits_update(state_->hash, length.data(), length.size());
  XXH3_128bits_update(state_->hash, text.data(), text.size());
}

}  // namespace millrace::dedupe
