// Damaged ONNX models: for any bytes the importer gives a graph, or a reason in one line. Graphs
// are built, and run if they are small. tests/fuzz/onnx_mutator.cpp damages the models.
#include <map>
#include <string>

#include "polychron/onnx.hpp"
#include "tests/fuzz/site.hpp"

namespace fuzz {
namespace {

using namespace polychron;

constexpr std::size_t most_constants = 6;

void check_line(const Error& error) {
  const std::string what = error.what();
  if (what.find('\n') != std::string::npos) finding("an error of several lines: " + what);
  check_refusal(error);
}

/// A free dimension is 1, 2 or 3.
Shape shape_of(const onnx::ValueInfo& input) {
  Shape shape;
  if (!input.dimensions) return {2, 3};
  for (const auto& dimension : *input.dimensions)
    shape.push_back(dimension.value.value_or(1 + static_cast<std::uint32_t>(shape.size()) % 3));
  return shape;
}

/// Binds symbols, and inputs that have dimensions without one.
onnx::ImportOptions bindings(const onnx::Summary& summary) {
  onnx::ImportOptions options;
  for (const auto& input : summary.inputs) {
    const auto shape = shape_of(input);
    bool nameless = !input.dimensions;
    for (std::size_t i = 0; input.dimensions && i < shape.size(); ++i) {
      const auto& dimension = (*input.dimensions)[i];
      if (dimension.value) continue;
      nameless = nameless || dimension.symbol.empty();
      if (!dimension.symbol.empty()) options.bindings.emplace(dimension.symbol, Shape{shape[i]});
    }
    if (nameless) options.bindings[input.name] = shape;
  }
  return options;
}

/// Turns the last input that is not yet a constant into one, of zeros and ones. False if there is
/// none, or it is large.
bool give_constant(const onnx::Summary& summary, onnx::ImportOptions& options) {
  constexpr std::uint8_t one[]{1, 0, 0, 0, 0, 0, 0, 0};
  if (options.constants.size() == most_constants) return false;
  for (auto i = summary.inputs.size(); i-- > 0;) {
    const auto& input = summary.inputs[i];
    if (!input.data_type || options.constants.contains(input.name)) continue;
    const OperandDescriptor descriptor{*input.data_type, shape_of(input)};
    const auto bytes = byte_length(descriptor).value_or(small + 1);
    if (bytes > small) return false;
    auto value = onnx::make_value(descriptor, filled(bytes, one));
    value.type = input.type;
    options.constants.emplace(input.name, std::move(value));
    return true;
  }
  return false;
}

void import(const onnx::Model& model, std::span<const std::uint8_t> pattern) {
  auto options = bindings(model.summary());
  options.on_warning = [](const std::string& text) {
    if (text.find('\n') != std::string::npos) finding("a warning of several lines: " + text);
  };
  for (;;) {
    GraphBuilder builder(context());
    NamedOperands outputs;
    try {
      outputs = onnx::import_model(model, builder, options);
    } catch (const Error& error) {
      check_line(error);
      const bool unknown =
          std::string_view(error.what()).find(onnx::needs_value) != std::string::npos;
      if (unknown && give_constant(model.summary(), options)) continue;
      return;
    }
    return build_and_run(builder, outputs, pattern);
  }
}

void load(std::span<const std::uint8_t> bytes) {
  try {
    import(onnx::load(std::as_bytes(bytes)), bytes.subspan(bytes.size() / 2));
  } catch (const Error& error) {
    check_line(error);
  }
}

}  // namespace
}  // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  fuzz::load({bytes, count});
  return 0;
}
