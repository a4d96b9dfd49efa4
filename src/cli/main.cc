#include "src/cli/app.h"

int main(int argc, char** argv) { return millrace::cli::run_program(argc, argv); }
