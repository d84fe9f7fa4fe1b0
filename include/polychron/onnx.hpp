// ONNX models as WebNN graphs. Link with polychron::onnx; the header itself needs neither protobuf
// nor ONNX.
//
//   const auto model = polychron::onnx::load("model.onnx");
//   polychron::GraphBuilder builder(context);
//   const auto outputs = polychron::onnx::import_model(model, builder, {{{"x", {1, 3, 48, 320}}}});
//   const auto graph = builder.build(outputs).get();
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "polychron/descriptor.hpp"
#include "polychron/graph_builder.hpp"
#include "polychron/onnx_tensor.hpp"

namespace polychron::onnx {

/// A dimension of a model's input or output: a number, or free. A free dimension may have a symbol;
/// all dimensions with the same symbol have the same size. A symbol that exporters write for "not
/// known" (?, -1, None) is none: each such dimension has a size of its own.
struct Dimension {
  std::optional<std::uint32_t> value;  ///< absent: free
  std::string symbol;                  ///< of a free dimension, or empty
};

/// An input or output, as the model declares it.
struct ValueInfo {
  std::string name;  ///< unique among the model's inputs, or its outputs
  std::string type;  ///< ONNX's spelling in lower case: "float", "int64", "bool", ...
  /// The operand's type: bool becomes uint8 (0 or 1), int16 and uint16 become int32, bfloat16
  /// becomes float32, all exact. double becomes float32 and loses precision. Empty for types
  /// without a WebNN counterpart.
  std::optional<DataType> data_type;
  /// Absent if the model does not declare the rank, which is legal for outputs.
  std::optional<std::vector<Dimension>> dimensions;
};

/// "float [batch, 3, 224, 224]"; free dimensions without a symbol are "?".
std::string to_string(const ValueInfo& info);

/// The number of nodes that apply an operator, counted in the main graph, in branches and loop
/// bodies, and in functions.
struct OperatorCount {
  std::string domain;      ///< empty: ONNX's own operators
  std::string name;        ///< ONNX's: "Conv"
  std::size_t count = 0;   ///< nodes in the file that apply it
  bool supported = false;  ///< the importer knows it, but may still refuse its attributes
};

/// The summary of a model that `polychron inspect` prints.
struct Summary {
  std::string graph_name;                ///< may be empty
  std::string producer;                  ///< name and version
  std::int64_t ir_version = 0;           ///< of ONNX's file format
  std::int64_t opset = 0;                ///< opset version of ONNX's own operators
  std::vector<ValueInfo> inputs;         ///< without those that have an initializer
  std::vector<ValueInfo> outputs;        ///< in the order in which they are declared
  std::vector<OperatorCount> operators;  ///< most frequent first, then by name
  std::size_t initializers = 0;          ///< number of the model's constants
  std::uint64_t initializer_bytes = 0;   ///< their size in bytes
};

namespace detail {
class ModelState;
}

/// A parsed and checked model. Copies share it. It is immutable: any number of threads may import
/// it at once. It may be dropped at any time, as constants made from it keep its bytes alive.
class Model {
 public:
  /// The model's summary. The reference is valid as long as this handle.
  const Summary& summary() const noexcept;

 private:
  friend class detail::ModelState;
  explicit Model(std::shared_ptr<const detail::ModelState> state) : state_(std::move(state)) {}
  std::shared_ptr<const detail::ModelState> state_;
};

/// Reads and checks a model. External data must be in the file's folder or below. The first import
/// that needs it reads it: until then these files must not change. Large weights are used from a
/// mapping of their file if the system lends it. They keep their values if others then write to the
/// file, cut or replace it (docs/onnx.md, "Mapped weights"). Throws Error: bad_data (the file
/// is missing, unreadable, truncated or malformed; the message says which), not_supported (no ONNX
/// opset, or one outside 1 to 28), out_of_memory. Data types that WebNN does not have are refused
/// later, by the import. Memory use is bounded by the size of the files.
Model load(const std::filesystem::path& path);

/// The same, from memory. External data must be in `base_directory` or below, and is refused if
/// that is empty.
Model load(std::span<const std::byte> bytes, const std::filesystem::path& base_directory = {});

/// Options of import_model().
struct ImportOptions {
  /// Values of free dimensions: by the name of an input, all its dimensions ({"x", {1, 3, 48,
  /// 320}}), or by symbol, one number ({"batch", {1}}). If a name is both, it means the input.
  std::map<std::string, Shape> bindings{};
  /// Inputs whose values are known now: they become constants, not inputs of the graph. Some
  /// operators need constant axes, shapes or scales; without them the import throws an Error whose
  /// message contains `needs_value`. Types are those that the model declares (uint8 also serves for
  /// bool); the shape also binds free dimensions.
  std::map<std::string, TensorValue> constants{};
  /// Receives one line for each deviation from the model, for example double values that are
  /// computed in float32. Called on the caller's thread during the import. RuntimeOptions::log
  /// receives the same lines.
  std::function<void(const std::string&)> on_warning{};
  /// True: the present keys and values of GroupQueryAttention and Attention are outputs without
  /// their past, of the new steps alone. The caller appends them to a tensor of its own, so that a
  /// step does not copy the past. Nodes that read the present are refused (not_supported).
  bool only_new_steps = false;
  /// Inputs that `builder` computes: operands of it, by the inputs' names. They take the place of
  /// the graph's inputs, so that one graph has the model and what comes in front of it. Types are
  /// those of ValueInfo::data_type; the shape also binds free dimensions. What comes behind the
  /// model is added to the outputs that import_model() returns.
  std::map<std::string, Operand> operands{};
};

/// Part of the message of an import that fails because an operator needs a value now: "operator
/// 'Reshape' (...): input 1 ('shape') must be known when it is imported". Give it in
/// ImportOptions::constants.
inline constexpr std::string_view needs_value = "must be known when it is imported";

/// Adds the model's graph to `builder` and returns its outputs, in the model's order, for build().
/// Inputs get the model's names; inputs without elements are left out. Values that depend on shapes
/// alone are computed now and add no operators. The names of nodes become the labels of operators.
///
/// Throws Error: type_error (an unbound free dimension; a binding that names nothing or contradicts
/// the model; a constant or operand for an unknown input, or of the wrong type or shape),
/// not_supported (an operator, attribute or type that cannot be expressed; the message names
/// operator, node and opset, and the reason), bad_data (the model contradicts itself, or an
/// external data file is unreadable or has changed since load()), out_of_memory. `builder` then
/// holds a part of the graph: drop it.
NamedOperands import_model(const Model& model, GraphBuilder& builder,
                           const ImportOptions& options = {});

}  // namespace polychron::onnx
