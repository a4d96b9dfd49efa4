// Enters: the module.
// Leaves: functions and classes in it, by what they are about.
// Never: seen by people; python/millrace documents and checks what it hands in.
#pragma once

#include <nanobind/nanobind.h>

namespace millrace::python {

void bind_jobs(nanobind::module_& m);
void bind_hashes(nanobind::module_& m);
void bind_charts(nanobind::module_& m);
void bind_latents(nanobind::module_& m);
void bind_segment(nanobind::module_& m);

}  // namespace millrace::python
