// Input: the module.
// Output: functions and classes added to it, one function per topic.
// Never: used by people; python/millrace documents them and checks their arguments.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdint>

namespace millrace::python {

void bind_jobs(nanobind::module_& m);
void bind_hashes(nanobind::module_& m);
void bind_charts(nanobind::module_& m);
void bind_latents(nanobind::module_& m);
void bind_segment(nanobind::module_& m);

// Reports what devices did to so many items; `done` is the verb for it, for example "drawn".
template <typename Use>
nanobind::dict dict_of(const Use& use, const char* done, std::uint64_t items) {
  nanobind::dict out;
  out["device"] = use.device;
  out[done] = items;
  out["compared"] = use.compared;
  out["by_cpu"] = use.by_cpu;
  out["why"] = use.why;
  return out;
}

}  // namespace millrace::python
