// Recurrent networks as matrix products and loops over their gates. One product serves the inputs
// of all steps. Each step has one more for its state, or two in a GRU that resets before it
// multiplies. Takes all options, and float16, which it computes in float32.
#include <array>

#include "base/kept_once.hpp"
#include "kernels/half.hpp"
#include "kernels/onednn/gates.hpp"
#include "kernels/onednn/inner.hpp"
#include "kernels/onednn/onednn.hpp"
#include "kernels/onednn/post_ops.hpp"
#include "kernels/recurrence.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::onednn {
namespace {

/// A product with the transposed rows of a weight. `kept` is set if the weight is a constant that
/// the product reads unchanged.
struct GateProduct {
  std::unique_ptr<Kernel> kernel;
  ops::ConstantBytes kept;
  std::size_t weight = 0;  ///< number of the operand
  std::size_t first = 0;   ///< the first element of its rows
};

/// The products of one direction. Only a GRU that resets before its product has the last.
enum Stage : std::size_t { from_input, from_state, from_reset };
using Products = std::array<GateProduct, 3>;

/// The elements of a constant as float32.
ops::ConstantBytes constant_floats(const Slot& slot, std::size_t first, std::size_t count) {
  Buffer floats(count * sizeof(float));
  const auto target = floats.as<float>();
  const auto convert = [&]<class T>(T) {
    const auto* source = reinterpret_cast<const T*>(slot.constant->data()) + first;
    for (std::size_t i = 0; i < count; ++i) target[i] = to_float(source[i]);
  };
  if (slot.descriptor.data_type == DataType::float16)
    convert(float16{});
  else
    convert(float{});
  return std::make_shared<const Buffer>(std::move(floats));
}

class ProductsKernel final : public Kernel {
 public:
  explicit ProductsKernel(const Problem& problem)
      : r(problem), half(problem.inputs[0].descriptor.data_type == DataType::float16) {
    for (const Slot& slot : problem.inputs)
      counts.push_back(slot.present ? *element_count(slot.descriptor.shape) : 0);
    for (const std::size_t index : {1U, 2U})
      if (problem.inputs[index].constant) kept_.push_back(index);
  }

  /// Returns an error if the kernel cannot be made.
  std::optional<Error> prepare(const Problem& problem) {
    const std::size_t first_rows = r.is_lstm || r.reset_after ? r.gate_rows() : 2 * r.hidden;
    for (std::size_t d = 0; d < r.directions; ++d) {
      std::vector<std::tuple<Stage, std::size_t, std::size_t, std::size_t, std::size_t>> wanted{
          {from_input, 1, r.steps * r.batch, r.gate_rows(), 0},
          {from_state, 2, r.batch, first_rows, 0}};
      if (first_rows < r.gate_rows())
        wanted.emplace_back(from_reset, 2, r.batch, r.hidden, first_rows);
      for (const auto& [stage, weight, rows, columns, skipped] : wanted) {
        const std::size_t depth = problem.inputs[weight].descriptor.shape.back();
        GateProduct& product = products[d][stage];
        product.weight = weight;
        product.first = (d * r.gate_rows() + skipped) * depth;
        if (auto error = prepare(problem, product, {rows, depth, columns})) return error;
      }
    }
    plan();
    return std::nullopt;
  }

  std::size_t scratch_bytes() const noexcept override { return scratch.size(); }
  void add_constants(kernels::Constants& constants) const override {
    for (const Products& direction : products)
      for (const GateProduct& product : direction) {
        if (product.kernel) product.kernel->add_constants(constants);
        if (product.kept) constants.push_back(product.kept);
      }
  }
  bool keeps_constant(std::size_t index) const noexcept override {
    return std::find(kept_.begin(), kept_.end(), index) != kept_.end();
  }
  std::unique_ptr<Bound> bind(const Arguments& arguments) const override;

  const Recurrence r;
  const bool half;
  std::vector<std::size_t> counts;  ///< elements of each operand
  std::array<Products, 2> products;
  ScratchPlan scratch;
  /// Offsets in scratch memory.
  std::vector<std::size_t> converted;  ///< of each float16 operand, as float32
  std::size_t gates_x = 0, gates_h = 0, reset = 0, fresh = 0, hidden = 0, cell = 0, bias = 0,
              recurrent_bias = 0, inner = 0;

 private:
  struct Extents {
    std::size_t rows, inner, columns;
  };

  std::optional<Error> prepare(const Problem& problem, GateProduct& product, const Extents& e) {
    const auto slot = [](std::size_t rows, std::size_t columns) {
      Slot matrix;
      matrix.descriptor.shape = {std::uint32_t(rows), std::uint32_t(columns)};
      return matrix;
    };
    Problem gemm;
    gemm.op = ops::op("gemm");
    gemm.attributes = GemmAttributes{1, 1, false, true};
    gemm.inputs = {slot(e.rows, e.inner), slot(e.columns, e.inner)};
    gemm.outputs = {slot(e.rows, e.columns)};
    gemm.own_inputs = 2;
    const Slot& weight = problem.inputs[product.weight];
    if (weight.constant)
      gemm.inputs[1].constant = constant_floats(weight, product.first, e.columns * e.inner);
    auto prepared = prepare_product(gemm);
    if (!prepared) return prepared.error();
    product.kernel = std::move(prepared).value();
    if (weight.constant && !product.kernel->keeps_constant(1))
      product.kept = kept_once(gemm.inputs[1].constant);
    return std::nullopt;
  }

  void plan() {
    for (std::size_t i = 0; i < counts.size(); ++i)
      converted.push_back(half && !keeps_constant(i) ? scratch.take_floats(counts[i]) : 0);
    gates_x = scratch.take_floats(r.steps * r.batch * r.gate_rows());
    gates_h = scratch.take_floats(r.batch * r.gate_rows());
    reset = scratch.take_floats(r.states());
    fresh = scratch.take_floats(r.states());
    hidden = scratch.take_floats(r.states());
    cell = scratch.take_floats(r.states());
    bias = scratch.take_floats(r.gate_rows());
    recurrent_bias = scratch.take_floats(r.gate_rows());
    std::size_t largest = 0;
    for (const Products& direction : products)
      for (const GateProduct& product : direction)
        if (product.kernel) largest = std::max(largest, product.kernel->scratch_bytes());
    inner = scratch.take(largest);
  }

  std::vector<std::size_t> kept_;
};

class BoundProducts final : public Bound {
 public:
  BoundProducts(const ProductsKernel& kernel, const Arguments& arguments)
      : k_(kernel), r_(kernel.r), arguments_(arguments) {
    each_product([&](std::size_t stage, const GateProduct& product, Inner& inner) {
      inner.inputs.resize(2);
      inner.outputs.resize(1);
      place(stage, product, inner);
      inner.bind(*product.kernel, arguments_.scratch + k_.inner);
    });
  }

  void rebind() override {
    each_product([&](std::size_t stage, const GateProduct& product, Inner& inner) {
      place(stage, product, inner);
      inner.rebind(arguments_.scratch + k_.inner);
    });
  }

  void run() override {
    if (k_.half) convert_operands();
    for (std::size_t d = 0; d < r_.directions; ++d) {
      load(k_.hidden, r_.hidden_state, d);
      load(k_.cell, r_.cell_state, d);
      load_biases(d);
      inner_[d][from_input].bound->run();
      for (std::size_t turn = 0; turn < r_.steps; ++turn) {
        const std::size_t step = r_.step(d, turn);
        const float* gates = floats(k_.gates_x) + step * r_.batch * r_.gate_rows();
        inner_[d][from_state].bound->run();
        if (r_.is_lstm)
          lstm_step(gates, d);
        else
          gru_step(gates, d);
        if (r_.sequence) store(k_.hidden, r_.is_lstm ? 2 : 1, r_.sequence_at(step, d));
      }
      store(k_.hidden, 0, d * r_.states());
      if (r_.is_lstm) store(k_.cell, 1, d * r_.states());
    }
  }

 private:
  float* floats(std::size_t place) const {
    return reinterpret_cast<float*>(arguments_.scratch + place);
  }
  /// Elements of an operand, as float32. Null if it has no address yet, before the first run.
  const float* operand(std::size_t index, std::size_t first) const {
    const float* all = k_.half ? floats(k_.converted[index])
                               : reinterpret_cast<const float*>(arguments_.inputs[index]);
    return all == nullptr ? nullptr : all + first;
  }

  template <class F>
  void each_product(const F& f) {
    for (std::size_t d = 0; d < r_.directions; ++d)
      for (std::size_t stage = 0; stage < inner_[d].size(); ++stage)
        if (k_.products[d][stage].kernel) f(stage, k_.products[d][stage], inner_[d][stage]);
  }

  void place(std::size_t stage, const GateProduct& product, Inner& inner) const {
    const auto bytes = [](const float* at) { return reinterpret_cast<const std::byte*>(at); };
    inner.inputs[0] = bytes(stage == from_input   ? operand(0, 0)
                            : stage == from_state ? floats(k_.hidden)
                                                  : floats(k_.reset));
    if (product.kept)
      inner.inputs[1] = product.kept->data();
    else
      inner.inputs[1] = product.kernel->keeps_constant(1)
                            ? nullptr
                            : bytes(operand(product.weight, product.first));
    const std::size_t places[] = {k_.gates_x, k_.gates_h, k_.fresh};
    inner.outputs[0] = arguments_.scratch + places[stage];
  }

  void convert_operands() const {
    for (std::size_t i = 0; i < k_.counts.size(); ++i) {
      if (k_.counts[i] == 0 || k_.keeps_constant(i)) continue;
      const auto* from = reinterpret_cast<const float16*>(arguments_.inputs[i]);
      float* to = floats(k_.converted[i]);
      for (std::size_t e = 0; e < k_.counts[i]; ++e) to[e] = to_float(from[e]);
    }
  }

  void load(std::size_t state, std::size_t index, std::size_t d) const {
    if (index == Recurrence::absent)
      std::fill_n(floats(state), r_.states(), 0.0F);
    else
      std::copy_n(operand(index, d * r_.states()), r_.states(), floats(state));
  }

  /// Adds both biases. A GRU that resets after its product keeps the new gate's recurrent bias
  /// apart, because the reset multiplies it with the product.
  void load_biases(std::size_t d) const {
    float* sum = floats(k_.bias);
    float* apart = floats(k_.recurrent_bias);
    const std::size_t rows = r_.gate_rows();
    const auto fill = [&](float* target, std::size_t index) {
      if (index == Recurrence::absent)
        std::fill_n(target, rows, 0.0F);
      else
        std::copy_n(operand(index, d * rows), rows, target);
    };
    fill(sum, r_.bias);
    fill(apart, r_.recurrent_bias);
    const bool keeps_apart = !r_.is_lstm && r_.reset_after;
    const std::size_t joined = keeps_apart ? 2 * r_.hidden : rows;
    for (std::size_t i = 0; i < joined; ++i) sum[i] += apart[i];
  }

  void store(std::size_t state, std::size_t output, std::size_t first) const {
    const float* from = floats(state);
    if (!k_.half) {
      auto* to = reinterpret_cast<float*>(arguments_.outputs[output]) + first;
      std::copy_n(from, r_.states(), to);
      return;
    }
    auto* to = reinterpret_cast<float16*>(arguments_.outputs[output]) + first;
    for (std::size_t i = 0; i < r_.states(); ++i) to[i] = float16(from[i]);
  }

  void lstm_step(const float* gates_x, std::size_t d) const {
    const std::size_t h = r_.hidden, rows = r_.gate_rows();
    const float* bias = floats(k_.bias);
    const float* peephole =
        r_.peephole == Recurrence::absent ? nullptr : operand(r_.peephole, d * 3 * h);
    using R = Recurrence;
    for (std::size_t n = 0; n < r_.batch; ++n) {
      float* gates = floats(k_.gates_h) + n * rows;
      float* hidden = floats(k_.hidden) + n * h;
      float* cell = floats(k_.cell) + n * h;
      add_both(gates, gates_x + n * rows, bias, rows);
      for (const std::size_t g : {R::input_gate, R::forget_gate, R::output_gate}) {
        float* gate = gates + r_.at[g] * h;
        if (peephole != nullptr) add_product(gate, peephole + r_.peephole_at(g), cell, h);
        activate(r_.activations[0], gate, h);
      }
      float* fresh = gates + r_.at[R::cell_gate] * h;
      activate(r_.activations[1], fresh, h);
      update(cell, gates + r_.at[R::forget_gate] * h, gates + r_.at[R::input_gate] * h, fresh, h);
      std::copy_n(cell, h, fresh);
      activate(r_.activations[2], fresh, h);
      multiply(hidden, gates + r_.at[R::output_gate] * h, fresh, h);
    }
  }

  /// The update and reset gates are the first two, in either order.
  void gru_step(const float* gates_x, std::size_t d) {
    const std::size_t h = r_.hidden, rows = r_.gate_rows();
    const std::size_t stride = r_.reset_after ? rows : 2 * h;
    const float* bias = floats(k_.bias);
    for (std::size_t n = 0; n < r_.batch; ++n) {
      float* gates = floats(k_.gates_h) + n * stride;
      const float* reset = gates + r_.at[Recurrence::reset_gate] * h;
      add_both(gates, gates_x + n * rows, bias, 2 * h);
      activate(r_.activations[0], gates, 2 * h);
      if (r_.reset_after) {
        float* fresh = gates + 2 * h;
        add(fresh, floats(k_.recurrent_bias) + 2 * h, h);
        multiply(fresh, fresh, reset, h);
      } else {
        multiply(floats(k_.reset) + n * h, reset, floats(k_.hidden) + n * h, h);
      }
    }
    if (!r_.reset_after) inner_[d][from_reset].bound->run();
    for (std::size_t n = 0; n < r_.batch; ++n) {
      float* gates = floats(k_.gates_h) + n * stride;
      float* fresh = r_.reset_after ? gates + 2 * h : floats(k_.fresh) + n * h;
      add_both(fresh, gates_x + n * rows + 2 * h, bias + 2 * h, h);
      activate(r_.activations[1], fresh, h);
      blend(floats(k_.hidden) + n * h, gates + r_.at[Recurrence::update_gate] * h, fresh, h);
    }
  }

  const ProductsKernel& k_;
  const Recurrence& r_;
  const Arguments& arguments_;
  std::array<std::array<Inner, 3>, 2> inner_;
};

std::unique_ptr<Bound> ProductsKernel::bind(const Arguments& arguments) const {
  return std::make_unique<BoundProducts>(*this, arguments);
}

}  // namespace

KernelResult prepare_recurrent_products(const Problem& problem) {
  if (!problem.post_ops.empty()) return refuse("no post-operations");
  for (const Slot& slot : problem.inputs)
    if (slot.layout != Layout::plain) return refuse("plain layout only");
  if (Recurrence(problem).is_small()) return refuse("plain loops are faster for so little");
  auto kernel = std::make_unique<ProductsKernel>(problem);
  if (auto error = kernel->prepare(problem)) return *error;
  return KernelResult(std::move(kernel));
}

}  // namespace polychron::kernels::onednn
