// Graphs made by hand and run through the backend, for tests and without the builder.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/backend.hpp"
#include "ops/graph.hpp"
#include "ops/table.hpp"

namespace polychron::tests {

/// An operator whose name is known only when a test runs.
inline ops::OpId op_named(std::string_view name) { return ops::id(*ops::find(name)); }

/// Collects an ops::Graph. No validation: shapes are the caller's business.
class GraphMaker {
 public:
  static std::string named(std::string prefix, ops::ValueId id) {
    return prefix.append(std::to_string(id));
  }
  ops::ValueId input(Shape shape, DataType type = DataType::float32) {
    const auto id = value(ops::Value::Kind::input, {type, std::move(shape)}, nullptr);
    graph_->inputs.emplace_back(named("in", id), id);
    return id;
  }
  template <class T>
  ops::ValueId constant(Shape shape, const std::vector<T>& values) {
    auto bytes = std::make_shared<const Buffer>(Buffer::copy_of(std::span<const T>(values)));
    return value(ops::Value::Kind::constant, {data_type_v<T>, std::move(shape)}, std::move(bytes));
  }
  ops::ValueId constant(Shape shape, Buffer bytes) {
    return value(ops::Value::Kind::constant, {DataType::float32, std::move(shape)},
                 std::make_shared<const Buffer>(std::move(bytes)));
  }
  /// A constant of small random numbers.
  ops::ValueId random(Shape shape, float low = -1, float high = 1) {
    std::vector<float> values(*element_count(shape));
    std::uniform_real_distribution<float> numbers(low, high);
    for (float& number : values) number = numbers(generator_);
    return constant<float>(std::move(shape), values);
  }
  ops::ValueId node(ops::OpId op, std::vector<ops::ValueId> inputs, Shape shape,
                    Attributes attributes = {}, DataType type = DataType::float32) {
    const auto id = value(ops::Value::Kind::result, {type, std::move(shape)}, nullptr);
    graph_->nodes.push_back({op, std::move(inputs), {id}, std::move(attributes), named("n", id)});
    return id;
  }
  /// A node of the operator with this name; `inner` lists its result.
  ops::ValueId add(std::string_view name, std::vector<ops::ValueId> inputs, Shape shape,
                   Attributes attributes = {}) {
    inner.push_back(
        node(op_named(name), std::move(inputs), std::move(shape), std::move(attributes)));
    return inner.back();
  }
  void output(ops::ValueId id) { graph_->outputs.emplace_back(named("out", id), id); }
  ops::Graph& graph() { return *graph_; }
  std::shared_ptr<const ops::Graph> share() const { return graph_; }

  std::vector<ops::ValueId> inner;  ///< what add() made

 private:
  ops::ValueId value(ops::Value::Kind kind, OperandDescriptor descriptor,
                     ops::ConstantBytes bytes) {
    graph_->values.push_back({kind, std::move(descriptor), std::move(bytes)});
    return static_cast<ops::ValueId>(graph_->values.size() - 1);
  }
  std::shared_ptr<ops::Graph> graph_ = std::make_shared<ops::Graph>();
  std::mt19937 generator_{7};
};

/// A graph compiled and instantiated, with storage for its inputs and outputs. Before each run its
/// arena moves, and is full of NaN, as if another graph of the lane had used it.
class Runner {
 public:
  Runner(std::shared_ptr<kernels::Backend> backend, std::shared_ptr<const ops::Graph> graph,
         std::shared_ptr<kernels::Team> team = nullptr);
  /// Bytes of input `index`.
  template <class T>
  void set(std::size_t index, const std::vector<T>& values) {
    backend_->write(*inputs_[index], std::as_bytes(std::span(values))).value();
  }
  void set(std::size_t index, std::span<const std::byte> bytes) {
    backend_->write(*inputs_[index], bytes).value();
  }
  /// Bytes of output `index`.
  Buffer bytes(std::size_t index) const {
    Buffer bytes(outputs_[index]->bytes());
    backend_->read(*outputs_[index], bytes.bytes()).value();
    return bytes;
  }
  /// Fills float32 inputs with random numbers.
  void randomize(std::uint32_t seed);
  void run();
  /// With the arena where it was.
  void run_in_place();
  template <class T>
  std::vector<T> get(std::size_t index) const {
    std::vector<T> values(outputs_[index]->bytes() / sizeof(T));
    backend_->read(*outputs_[index], std::as_writable_bytes(std::span(values))).value();
    return values;
  }
  const kernels::Plan& plan() const { return *plan_; }

 private:
  void move_arena();

  std::shared_ptr<kernels::Backend> backend_;
  std::shared_ptr<const ops::Graph> graph_;
  std::shared_ptr<kernels::Plan> plan_;
  std::shared_ptr<kernels::LaneArena> arena_;
  std::unique_ptr<kernels::PlanInstance> instance_;
  std::vector<std::unique_ptr<kernels::Storage>> inputs_, outputs_;
  std::vector<kernels::Storage*> input_pointers_, output_pointers_;
};

/// The number of a plan's steps whose description has `text`.
inline std::ptrdiff_t steps_with(const std::vector<std::string>& steps, std::string_view text) {
  return std::ranges::count_if(
      steps, [&](const std::string& step) { return step.find(text) != std::string::npos; });
}

}  // namespace polychron::tests
