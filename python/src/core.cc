// The extension millrace._core: include/millrace for Python, argument by argument. People call python/millrace.
#include <nanobind/nanobind.h>

#include "bindings.h"
#include "calls.h"
#include "millrace/error.h"
#include "texts.h"

namespace millrace::python {
namespace nb = nanobind;

namespace {

void translate(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const Failure& failure) {
    const Error& error = failure.error();
    const nb::object made =
        nb::module_::import_("millrace._errors")
            .attr("error_of")(name_of(error.code), text_of(error.what), text_of(error.subject), text_of(error.remedy));
    PyErr_SetObject(made.type().ptr(), made.ptr());
  }
}

}  // namespace
}  // namespace millrace::python

NB_MODULE(_core, m) {
  nanobind::set_leak_warnings(false);
  m.attr("version") = MILLRACE_VERSION;
  nanobind::register_exception_translator(millrace::python::translate);
  nanobind::module_::import_("atexit").attr("register")(nanobind::cpp_function(millrace::python::end_calls));
  millrace::python::bind_jobs(m);
  millrace::python::bind_hashes(m);
  millrace::python::bind_charts(m);
  millrace::python::bind_latents(m);
  millrace::python::bind_segment(m);
}
