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

/// A dimension of a model's input or output: a number, or free. A free one may have a symbol, which
/// stands for the same number wherever it occurs.
struct Dimension {
  std::optional<std::uint32_t> value;  ///< absent: free
  std::string symbol;                  ///< of a free one, or empty
};

/// An input or output as the model declares it.
struct ValueInfo {
  std::string name;  ///< unique among the model's inputs, or its outputs
  std::string type;  ///< ONNX's spelling in lower case: "float", "int64", "bool", ...
  /// The operand's type: bool is uint8, 0 or 1; int16 and uint16 are int32 and bfloat16 is float32,
  /// which hold all their values; double is float32, which does not. Empty for types that WebNN
  /// has none for.
  std::optional<DataType> data_type;
  /// Absent if the model does not even tell the rank, as is legal for outputs.
  std::optional<std::vector<Dimension>> dimensions;
};

/// "float [batch, 3, 224, 224]"; free dimensions without a symbol are "?".
std::string to_string(const ValueInfo& info);

/// How often a model applies an operator: in its main graph, in branches and bodies, and in its
/// functions.
struct OperatorCount {
  std::string domain;      ///< empty: ONNX's own operators
  std::string name;        ///< ONNX's: "Conv"
  std::size_t count = 0;   ///< nodes that apply it, of the file
  bool supported = false;  ///< there is a handler; its attributes may yet be refused by the import
};

/// What `polychron inspect` tells about a model.
struct Summary {
  std::string graph_name;                ///< may be empty
  std::string producer;                  ///< name and version
  std::int64_t ir_version = 0;           ///< of ONNX's file format
  std::int64_t opset = 0;                ///< of ONNX's own operators
  std::vector<ValueInfo> inputs;         ///< without those that an initializer gives a value
  std::vector<ValueInfo> outputs;        ///< in the order in which they are declared
  std::vector<OperatorCount> operators;  ///< most frequent first, then by name
  std::size_t initializers = 0;          ///< constants that the model brings along
  std::uint64_t initializer_bytes = 0;   ///< and their bytes
};

namespace detail {
class ModelState;
}

/// A parsed and checked model. Copies share it; it is immutable, so any number of threads may
/// import it at once. Constants that were made from it share its bytes with it: it can be dropped
/// at any time.
class Model {
 public:
  /// What the model has in it. Valid as long as the handle.
  const Summary& summary() const noexcept;

 private:
  friend class detail::ModelState;
  explicit Model(std::shared_ptr<const detail::ModelState> state) : state_(std::move(state)) {}
  std::shared_ptr<const detail::ModelState> state_;
};

/// Reads and checks a model. External data is looked for beside the file, in its folder and below,
/// and is read when an import first needs it: until then these files have to stay as they are.
/// Throws Error: bad_data (the file is missing, unreadable, truncated or malformed: the message
/// names what), not_supported (no ONNX opset, or one outside 1 to 25; data types that do not exist
/// in WebNN are refused when they are imported), out_of_memory. Memory is bounded by the size of
/// the files.
Model load(const std::filesystem::path& path);

/// Likewise from memory. External data is looked for in `base_directory`; refused if that is empty.
Model load(std::span<const std::byte> bytes, const std::filesystem::path& base_directory = {});

/// What import_model() has to know, and whom it tells.
struct ImportOptions {
  /// Values of free dimensions: by the name of an input, all its dimensions ({"x", {1, 3, 48,
  /// 320}}), or by symbol, one number ({"batch", {1}}). An input's name comes before a symbol's.
  std::map<std::string, Shape> bindings{};
  /// Inputs whose values are known now: they become constants, and are no inputs of the graph. An
  /// operator may need that of axes, shapes, scales and the like: the import then throws an Error
  /// whose message has `needs_value` in it. Types are those that the model declares (uint8 serves
  /// for bool); a shape counts as a binding.
  std::map<std::string, TensorValue> constants{};
  /// Told, in a line each, what is not quite as the model says: values of type double are
  /// calculated in float32. Called on the caller's thread during the import. The runtime's log
  /// (RuntimeOptions::log) hears it too.
  std::function<void(const std::string&)> on_warning{};
};

/// What an import says that failed for want of a value (of an input, or what is calculated from
/// one): "operator 'Reshape' (...): input 1 ('shape') must be known when it is imported".
inline constexpr std::string_view needs_value = "must be known when it is imported";

/// Adds the model's graph to `builder` and returns its outputs, in the model's order, for build().
/// Inputs get the model's names, but for those without elements, which are no inputs of the graph;
/// what depends on shapes alone is calculated now and leaves no trace. Operators bear the names of
/// their nodes as labels.
///
/// Throws Error: type_error (a free dimension is not bound, a binding names nothing or contradicts
/// the model; a constant is no input's, or not of its type or shape), not_supported (an operator,
/// attribute or type that cannot be expressed: the message tells the operator, the node, the opset
/// and why), bad_data (the model contradicts itself, or a file with its external data cannot be
/// read or has changed since it was loaded), out_of_memory. `builder` then holds a part of the
/// graph, and should be dropped.
NamedOperands import_model(const Model& model, GraphBuilder& builder,
                           const ImportOptions& options = {});

}  // namespace polychron::onnx
