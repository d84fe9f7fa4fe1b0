// The command-line tool `polychron`: its subcommands, put together.
#include "apps/tool/commands/commands.hpp"

namespace {

constexpr const char* footer =
    R"(Examples:
  polychron run model.onnx --input x=x.npy --output-dir results
  polychron bench model.onnx --bind x=1x3x48x320 --threads 2 --seconds 5 --json
  polychron inspect model.onnx
  polychron generate model.gguf "What is an actor?"

Exit codes:
  0  success
  1  the program failed (out of memory, a device failure, a defect), or a test that it ran did
  2  a mistake in the call: a wrong option, a missing or malformed file, a wrong shape; one line
     on standard error names it, and says what was expected

Results go to standard output or to files. A file appears whole or not at all. Progress and
messages go to standard error. Control characters are printed as \x1b. As the name of a model,
a picture or a .npy file that is read, - stands for standard input.

polychron SUBCOMMAND --help describes each subcommand.)";

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Polychron, a native runtime of the W3C WebNN API: runs ONNX models and language models.",
      "polychron");
  tool::Globals globals;
  app.footer(footer);
  app.require_subcommand(0, 1);  // a missing one is reported after what is not understood
  app.fallthrough();
  tool::add_run(app, globals);
  tool::add_bench(app, globals);
  tool::add_inspect(app, globals);
  tool::add_generate(app, globals);
  tool::add_devices(app);
  tool::add_conformance(app, globals);
  tool::add_onnx_tests(app, globals);
  tool::add_stress(app, globals);
  tool::add_trace(app, globals);
  return tool::run_program(app, globals, argc, argv);
}
