// gru, gruCell, lstm and lstmCell with one of the library's own primitives for each direction. They
// need the usual activations, no peephole, and constant weights and biases, whose gates are
// reordered once. Matrix products serve everything else.
#include "kernels/onednn/guarded.hpp"
#include "kernels/onednn/inner.hpp"
#include "kernels/onednn/onednn.hpp"
#include "kernels/onednn/primitive_kernel.hpp"
#include "kernels/recurrence.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::onednn {
namespace {

using tag = memory::format_tag;

memory::desc described(const memory::dims& dims, tag format) {
  return {dims, memory::data_type::f32, format};
}

/// The operands of a direction's primitive, in the order of its Inner.
enum Input : std::size_t { layer, weights, recurrent_weights, biases, hidden_state, cell_state };
enum Output : std::size_t { sequence, last_hidden, last_cell };

/// Constant operands of a direction, with gates in the library's order: input, forget, cell,
/// output, or update, reset, new. A GRU that resets after its product has four biases.
struct Constants {
  Buffer weights, recurrent_weights, biases;
};

std::span<const float> floats_of(const Slot& slot, std::size_t direction, std::size_t count) {
  const auto* all = reinterpret_cast<const float*>(slot.constant->data());
  return {all + direction * count, count};
}

/// [gates * hidden, columns], with the gates in the library's order.
Buffer in_order(const Recurrence& r, const Slot& slot, std::size_t direction) {
  const std::size_t gate = r.hidden * slot.descriptor.shape.back();
  const auto from = floats_of(slot, direction, r.gates * gate);
  Buffer ordered(from.size_bytes());
  for (std::size_t g = 0; g < r.gates; ++g)
    std::copy_n(from.data() + r.at[g] * gate, gate, ordered.as<float>().data() + g * gate);
  return ordered;
}

Buffer joined_biases(const Recurrence& r, const Problem& problem, std::size_t direction) {
  const bool apart = !r.is_lstm && r.reset_after;
  Buffer joined((r.gates + (apart ? 1 : 0)) * r.hidden * sizeof(float));
  float* to = joined.as<float>().data();
  const auto add = [&](std::size_t index, bool recurrent) {
    if (index == Recurrence::absent) return;
    const auto from = floats_of(problem.inputs[index], direction, r.gate_rows());
    for (std::size_t g = 0; g < r.gates; ++g) {
      const std::size_t target = recurrent && apart && g == Recurrence::new_gate ? 3 : g;
      for (std::size_t i = 0; i < r.hidden; ++i)
        to[target * r.hidden + i] += from[r.at[g] * r.hidden + i];
    }
  };
  add(r.bias, false);
  add(r.recurrent_bias, true);
  return joined;
}

/// The descriptions of a primitive's memory that all kinds share.
struct Descriptors {
  memory::desc layer, states, weights, recurrent_weights, biases, sequence;
};

Descriptors descriptors_of(const Recurrence& r, std::size_t bias_gates) {
  const auto dim = [](std::size_t size) { return static_cast<memory::dim>(size); };
  const memory::dim t = dim(r.steps), n = dim(r.batch), c = dim(r.input), h = dim(r.hidden);
  const memory::dim g = dim(r.gates);
  return {described({t, n, c}, tag::tnc),
          described({1, 1, n, h}, tag::ldnc),
          described({1, 1, c, g, h}, tag::any),
          described({1, 1, h, g, h}, tag::any),
          described({1, 1, dim(bias_gates), h}, tag::ldgo),
          described({t, n, h}, tag::tnc)};
}

template <class PrimitiveDescriptor, class Primitive>
std::unique_ptr<PrimitiveKernel> kernel_of(const Recurrence& r, const Descriptors& d,
                                           const PrimitiveDescriptor& pd, Primitive primitive,
                                           const Constants& constants) {
  auto kernel = std::make_unique<PrimitiveKernel>(std::move(primitive), pd.scratchpad_desc());
  const auto plain = [](const memory::desc& desc) { return described(dims_of(desc), tag::ldgoi); };
  kernel->add_input(DNNL_ARG_SRC_LAYER, d.layer, layer);
  kernel->add_constant(DNNL_ARG_WEIGHTS_LAYER, pd.weights_layer_desc(), plain(d.weights),
                       constants.weights, weights);
  kernel->add_constant(DNNL_ARG_WEIGHTS_ITER, pd.weights_iter_desc(), plain(d.recurrent_weights),
                       constants.recurrent_weights, recurrent_weights);
  kernel->add_constant(DNNL_ARG_BIAS, d.biases, d.biases, constants.biases, biases);
  if (r.hidden_state != Recurrence::absent || r.cell_state != Recurrence::absent)
    kernel->add_input(DNNL_ARG_SRC_ITER, d.states, hidden_state);
  kernel->add_output(DNNL_ARG_DST_LAYER, d.sequence, sequence);
  kernel->add_output(DNNL_ARG_DST_ITER, d.states, last_hidden);
  if (r.is_lstm) {
    if (r.hidden_state != Recurrence::absent || r.cell_state != Recurrence::absent)
      kernel->add_input(DNNL_ARG_SRC_ITER_C, d.states, cell_state);
    kernel->add_output(DNNL_ARG_DST_ITER_C, d.states, last_cell);
  }
  return kernel;
}

std::unique_ptr<PrimitiveKernel> recurrent_kernel(const Recurrence& r, const Problem& problem,
                                                  std::size_t direction) {
  const Constants constants{in_order(r, problem.inputs[1], direction),
                            in_order(r, problem.inputs[2], direction),
                            joined_biases(r, problem, direction)};
  const bool apart = !r.is_lstm && r.reset_after;
  const Descriptors d = descriptors_of(r, r.gates + (apart ? 1 : 0));
  const bool given = r.hidden_state != Recurrence::absent || r.cell_state != Recurrence::absent;
  const memory::desc states = given ? d.states : memory::desc();
  const auto way = r.backward(direction) ? dnnl::rnn_direction::unidirectional_right2left
                                         : dnnl::rnn_direction::unidirectional_left2right;
  const auto attributes = caller_scratch();
  if (r.is_lstm) {
    const auto pd = describe_primitive<dnnl::lstm_forward>(
        attributes, inference, way, d.layer, states, states, d.weights, d.recurrent_weights,
        d.biases, d.sequence, d.states, d.states);
    return kernel_of(r, d, pd, dnnl::lstm_forward(pd), constants);
  }
  if (apart) {
    const auto pd = describe_primitive<dnnl::lbr_gru_forward>(
        attributes, inference, way, d.layer, states, d.weights, d.recurrent_weights, d.biases,
        d.sequence, d.states);
    return kernel_of(r, d, pd, dnnl::lbr_gru_forward(pd), constants);
  }
  const auto pd =
      describe_primitive<dnnl::gru_forward>(attributes, inference, way, d.layer, states, d.weights,
                                            d.recurrent_weights, d.biases, d.sequence, d.states);
  return kernel_of(r, d, pd, dnnl::gru_forward(pd), constants);
}

/// One primitive for each direction. The sequence of a single direction is the result itself. With
/// two directions each writes its sequence to scratch memory, from which it is copied to its
/// places.
class RecurrentKernel final : public Kernel {
 public:
  RecurrentKernel(const Recurrence& recurrence, const Problem& problem) : r(recurrence) {
    for (std::size_t d = 0; d < r.directions; ++d)
      directions.push_back(recurrent_kernel(r, problem, d));
    for (const std::size_t index : {std::size_t{1}, std::size_t{2}, r.bias, r.recurrent_bias})
      if (index != Recurrence::absent) kept_.push_back(index);
    sequence_place = scratch.take_floats(sequence_in_place() ? 0 : r.steps * r.states());
    one_is_zero =
        r.is_lstm && (r.hidden_state == Recurrence::absent) != (r.cell_state == Recurrence::absent);
    zeros = scratch.take_floats(one_is_zero ? r.states() : 0);
    std::size_t largest = 0;
    for (const auto& kernel : directions) largest = std::max(largest, kernel->scratch_bytes());
    inner = scratch.take(largest);
  }

  /// True if the library writes the sequence into the result.
  bool sequence_in_place() const { return r.sequence && r.directions == 1; }
  std::size_t scratch_bytes() const noexcept override { return scratch.size(); }
  void add_constants(kernels::Constants& constants) const override {
    for (const auto& kernel : directions) kernel->add_constants(constants);
  }
  bool keeps_constant(std::size_t index) const noexcept override {
    return std::find(kept_.begin(), kept_.end(), index) != kept_.end();
  }
  std::unique_ptr<Bound> bind(const Arguments& arguments) const override;

  const Recurrence r;
  std::vector<std::unique_ptr<PrimitiveKernel>> directions;
  ScratchPlan scratch;
  std::size_t sequence_place = 0, zeros = 0, inner = 0;
  bool one_is_zero = false;  ///< the library takes both states of an LSTM, or none

 private:
  std::vector<std::size_t> kept_;
};

class RecurrentBound final : public Bound {
 public:
  RecurrentBound(const RecurrentKernel& kernel, const Arguments& arguments)
      : k_(kernel), r_(kernel.r), arguments_(arguments), inner_(kernel.directions.size()) {
    for (std::size_t d = 0; d < inner_.size(); ++d) {
      inner_[d].inputs.resize(6);
      inner_[d].outputs.resize(3);
      place(d);
      inner_[d].bind(*k_.directions[d], arguments_.scratch + k_.inner);
    }
  }

  void rebind() override {
    for (std::size_t d = 0; d < inner_.size(); ++d) {
      place(d);
      inner_[d].rebind(arguments_.scratch + k_.inner);
    }
  }

  void run() override {
    const std::size_t bytes = r_.states() * sizeof(float);
    if (k_.one_is_zero) std::fill_n(arguments_.scratch + k_.zeros, bytes, std::byte{});
    for (std::size_t d = 0; d < inner_.size(); ++d) {
      inner_[d].bound->run();
      if (!r_.sequence || k_.sequence_in_place()) continue;
      for (std::size_t step = 0; step < r_.steps; ++step)
        std::copy_n(arguments_.scratch + k_.sequence_place + step * bytes, bytes,
                    arguments_.outputs.back() + r_.sequence_at(step, d) * sizeof(float));
    }
  }

 private:
  void place(std::size_t d) {
    const std::size_t offset = d * r_.states() * sizeof(float);
    // Tensors have no address before the first run.
    const auto beyond = [&](auto* start) { return start == nullptr ? nullptr : start + offset; };
    const auto state = [&](std::size_t index) -> const std::byte* {
      if (index == Recurrence::absent) return arguments_.scratch + k_.zeros;
      return beyond(arguments_.inputs[index]);
    };
    inner_[d].inputs[layer] = arguments_.inputs[0];
    inner_[d].inputs[hidden_state] = state(r_.hidden_state);
    inner_[d].inputs[cell_state] = state(r_.cell_state);
    inner_[d].outputs[sequence] =
        k_.sequence_in_place() ? arguments_.outputs.back() : arguments_.scratch + k_.sequence_place;
    inner_[d].outputs[last_hidden] = beyond(arguments_.outputs[0]);
    inner_[d].outputs[last_cell] = r_.is_lstm ? beyond(arguments_.outputs[1]) : nullptr;
  }

  const RecurrentKernel& k_;
  const Recurrence& r_;
  const Arguments& arguments_;
  std::vector<Inner> inner_;
};

std::unique_ptr<Bound> RecurrentKernel::bind(const Arguments& arguments) const {
  return std::make_unique<RecurrentBound>(*this, arguments);
}

KernelResult prepare_primitive(const Problem& problem) {
  if (!problem.post_ops.empty()) return refuse("no post-operations");
  for (const Slot& slot : problem.inputs)
    if (slot.present && (!is_float32(slot) || slot.layout != Layout::plain))
      return refuse("float32 in plain layout only");
  const Recurrence r(problem);
  if (r.is_small()) return refuse("plain loops are faster for so little");
  if (!r.usual_activations()) return refuse("sigmoid and tanh only");
  if (r.peephole != Recurrence::absent) return refuse("no peepholes");
  for (const std::size_t index : {std::size_t{1}, std::size_t{2}, r.bias, r.recurrent_bias})
    if (index != Recurrence::absent && !problem.inputs[index].constant)
      return refuse("constant weights and biases only");
  return guarded([&] { return KernelResult(std::make_unique<RecurrentKernel>(r, problem)); });
}

}  // namespace

std::span<const Entry> recurrent_entries() noexcept {
  static constexpr Entry entries[] = {
      {ops::op("gru"), prepare_primitive},      {ops::op("gru"), prepare_recurrent_products},
      {ops::op("gruCell"), prepare_primitive},  {ops::op("gruCell"), prepare_recurrent_products},
      {ops::op("lstm"), prepare_primitive},     {ops::op("lstm"), prepare_recurrent_products},
      {ops::op("lstmCell"), prepare_primitive}, {ops::op("lstmCell"), prepare_recurrent_products}};
  return entries;
}

}  // namespace polychron::kernels::onednn
