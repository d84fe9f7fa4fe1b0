// From graph to plan: runs the passes, prepares a kernel for each node and places each value in
// memory.
#include <algorithm>
#include <limits>
#include <numeric>

#include "base/invariant.hpp"
#include "kernels/cpu/check.hpp"
#include "kernels/cpu/cut_kernel.hpp"
#include "kernels/cpu/memory_plan.hpp"
#include "kernels/cpu/passes/passes.hpp"
#include "kernels/cpu/plan.hpp"
#include "kernels/cpu/plan_graph.hpp"
#include "kernels/threads.hpp"

namespace polychron::kernels {
namespace {

using ops::ValueId;

constexpr std::size_t forever = std::numeric_limits<std::size_t>::max();

/// Memory of one value, or of several: views and values computed in place share it.
struct PlanBuffer {
  Location location;
  std::size_t bytes = 0;
  std::size_t first = 0;  ///< the step that writes it
  std::size_t last = 0;   ///< the last step that reads it; `forever` for graph outputs
};

class PlanCompiler {
 public:
  PlanCompiler(const ops::Graph& graph, const PlanSettings& settings)
      : graph_(graph), settings_(settings), plan_(std::make_shared<CpuPlan>()) {}

  std::shared_ptr<CpuPlan> compile() {
    check_graph(graph_, "the builder");
    const bool own_loops = settings_.optimize && !settings_.reference_only;
    if (own_loops) {
      recognise_integer_products(graph_);
      check_graph(graph_, "recognise_integer_products");
      recognise_integer_convolutions(graph_);
      check_graph(graph_, "recognise_integer_convolutions");
      recognise_dynamic_quantization(graph_);
      check_graph(graph_, "recognise_dynamic_quantization");
      recognise_packed_products(graph_);
      check_graph(graph_, "recognise_packed_products");
      join_cached_attention(graph_);
      check_graph(graph_, "join_cached_attention");
      recognise_rms_normalization(graph_);
      check_graph(graph_, "recognise_rms_normalization");
      recognise_rotary_embedding(graph_);
      check_graph(graph_, "recognise_rotary_embedding");
    }
    if (settings_.optimize) optimize(graph_);
    if (own_loops) {
      join_attention(graph_);
      check_graph(graph_, "join_attention");
      join_chains(graph_);
      check_graph(graph_, "join_chains");
    }
    count_uses();
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      add_step(graph_.nodes[i]);
      release_constants(i);
    }
    place_sources();
    find_last_uses();
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) place_results(i);
    place_outputs();
    place_arena();
    check_arena();
    locate_operands();
    plan_->held = plan_->operands;
    for (const Step& step : plan_->steps) step.kernel->add_constants(plan_->held);
    keep_each_once(plan_->held);
    plan_->input_count = graph_.inputs.size();
    plan_->output_count = graph_.outputs.size();
    return plan_;
  }

 private:
  bool is_view(std::size_t node) const { return graph_.nodes[node].op == op_view; }

  void add_step(const PlanNode& node) {
    Step step;
    step.label = node.label;
    if (node.op != op_view) {
      const Problem problem = problem_of(graph_, node);
      if (settings_.cut && !settings_.reference_only)
        step.kernel = prepare_in_parts(problem, step.text);
      if (!step.kernel) step.kernel = prepare_kernel(problem, step.text, settings_.reference_only);
    }
    plan_->steps.push_back(std::move(step));
  }

  /// Counts the uses of each value, and frees constants that the passes have left without a use.
  void count_uses() {
    uses_.assign(graph_.values.size(), 0);
    for (const PlanNode& node : graph_.nodes)
      for (const ValueId value : node.inputs)
        if (value != ops::no_value) ++uses_[value];
    for (const ValueId value : graph_.outputs) ++uses_[value];
    for (std::size_t i = 0; i < graph_.values.size(); ++i)
      if (uses_[i] == 0) graph_.values[i].constant.reset();
  }

  /// Frees the constants that the kernel keeps in its own form and that nobody else uses.
  void release_constants(std::size_t index) {
    const auto& kernel = plan_->steps[index].kernel;
    if (!kernel) return;
    const auto& inputs = graph_.nodes[index].inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i] != ops::no_value && kernel->keeps_constant(i) && --uses_[inputs[i]] == 0)
        graph_.values[inputs[i]].constant.reset();
  }

  std::size_t new_buffer(Location::Kind kind, std::size_t index, std::size_t bytes,
                         std::size_t first) {
    buffers_.push_back({{kind, index, 0}, bytes, first, first});
    return buffers_.size() - 1;
  }

  void place_sources() {
    buffer_of_.assign(graph_.values.size(), forever);
    offset_of_.assign(graph_.values.size(), 0);
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i)
      buffer_of_[graph_.inputs[i]] = new_buffer(Location::Kind::input, i, 0, 0);
    for (std::size_t i = 0; i < graph_.values.size(); ++i)
      if (graph_.values[i].kind == ops::Value::Kind::constant)
        buffer_of_[i] = new_buffer(Location::Kind::constant, i, 0, 0);
  }

  /// The last reader of each value or of any view of it.
  void find_last_uses() {
    last_use_.assign(graph_.values.size(), 0);
    for (const ValueId value : graph_.outputs) last_use_[value] = forever;
    for (std::size_t i = graph_.nodes.size(); i-- > 0;)
      for (const ValueId value : graph_.nodes[i].inputs) {
        if (value == ops::no_value) continue;
        const std::size_t use = is_view(i) ? last_use_[graph_.nodes[i].outputs[0]] : i;
        last_use_[value] = std::max(last_use_[value], use);
      }
  }

  void place_results(std::size_t index) {
    const PlanNode& node = graph_.nodes[index];
    if (is_view(index)) {
      buffer_of_[node.outputs[0]] = buffer_of_[node.inputs[0]];
      offset_of_[node.outputs[0]] = offset_of_[node.inputs[0]] + node.view_offset;
      return;
    }
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      const ValueId value = node.outputs[k];
      const PlanValue& result = graph_.values[value];
      const std::size_t bytes = storage_bytes(result.descriptor, result.layout);
      std::size_t buffer = k == 0 ? reusable(index, bytes) : forever;
      if (buffer == forever) buffer = new_buffer(Location::Kind::arena, 0, bytes, index);
      buffer_of_[value] = buffer;
      buffers_[buffer].last = std::max({buffers_[buffer].last, index, last_use_[value]});
    }
  }

  /// The buffer of an input that is last used here and that the kernel may overwrite, or `forever`.
  std::size_t reusable(std::size_t index, std::size_t bytes) const {
    const PlanNode& node = graph_.nodes[index];
    const PlanValue& result = graph_.values[node.outputs[0]];
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId value = node.inputs[i];
      if (value == ops::no_value || !plan_->steps[index].kernel->in_place(i)) continue;
      const std::size_t buffer = buffer_of_[value];
      const bool once = std::count_if(node.inputs.begin(), node.inputs.end(), [&](ValueId other) {
                          return other != ops::no_value && buffer_of_[other] == buffer;
                        }) == 1;
      if (buffers_[buffer].location.kind == Location::Kind::arena && once &&
          buffers_[buffer].last == index && buffers_[buffer].bytes == bytes &&
          graph_.values[value].layout == result.layout)
        return buffer;
    }
    return forever;
  }

  /// Lets steps write graph outputs directly into the tensors; adds a copy where that is
  /// impossible.
  void place_outputs() {
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      const ValueId value = graph_.outputs[i];
      PlanBuffer& buffer = buffers_[buffer_of_[value]];
      const bool whole = buffer.bytes == *byte_length(graph_.values[value].descriptor);
      if (buffer.location.kind == Location::Kind::arena && whole) {
        buffer.location = {Location::Kind::output, i, 0};
        continue;
      }
      PlanNode copy;
      copy.op = op_copy;
      copy.inputs = {value};
      PlanValue target = graph_.values[value];
      target.kind = ops::Value::Kind::result;
      target.constant.reset();
      copy.outputs = {graph_.add_value(std::move(target))};
      copy.own_inputs = 1;
      buffer_of_.push_back(new_buffer(Location::Kind::output, i, 0, graph_.nodes.size()));
      offset_of_.push_back(0);
      PlanBuffer& source = buffers_[buffer_of_[value]];
      source.last = std::max(source.last, graph_.nodes.size());
      graph_.nodes.push_back(copy);
      add_step(copy);
    }
  }

  /// Gives arena buffers and scratch memory their offsets.
  void place_arena() {
    std::vector<Lifetime> lifetimes;
    for (const PlanBuffer& buffer : buffers_)
      lifetimes.push_back(buffer.location.kind == Location::Kind::arena
                              ? Lifetime{buffer.bytes, buffer.first, buffer.last}
                              : Lifetime{});
    for (std::size_t i = 0; i < plan_->steps.size(); ++i) {
      const auto& kernel = plan_->steps[i].kernel;
      lifetimes.push_back({kernel ? kernel->scratch_bytes() : 0, i, i});
    }
    const MemoryPlan memory = plan_memory(lifetimes);
    for (std::size_t i = 0; i < buffers_.size(); ++i)
      if (buffers_[i].location.kind == Location::Kind::arena)
        buffers_[i].location.index = memory.offsets[i];
    for (std::size_t i = 0; i < plan_->steps.size(); ++i)
      plan_->steps[i].scratch = memory.offsets[buffers_.size() + i];
    plan_->arena = memory.bytes;
  }

  /// Follows the steps and checks that each reads the bytes written for it. Independent of the
  /// lifetimes and offsets that were computed.
  void check_arena() const {
    ArenaCheck check;
    const auto stretch = [&](ValueId value) {
      const PlanBuffer& buffer = buffers_[buffer_of_[value]];
      if (buffer.location.kind != Location::Kind::arena) return Stretch{};
      const PlanValue& held = graph_.values[value];
      const std::size_t begin = buffer.location.index + offset_of_[value];
      return Stretch{begin, begin + storage_bytes(held.descriptor, held.layout)};
    };
    std::vector<ValueId> content(graph_.values.size());  // the value behind a chain of views
    std::iota(content.begin(), content.end(), ValueId{0});
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const PlanNode& node = graph_.nodes[i];
      if (is_view(i)) {
        content[node.outputs[0]] = content[node.inputs[0]];
        continue;
      }
      const Step& step = plan_->steps[i];
      const Stretch scratch{step.scratch, step.scratch + step.kernel->scratch_bytes()};
      check.write(scratch, forever);
      for (const ValueId value : node.inputs)
        if (value != ops::no_value) check.read(stretch(value), content[value]);
      for (const ValueId value : node.outputs) {
        const Stretch at = stretch(value);
        ensure(at.end <= plan_->arena, "the arena holds every value");
        check.write(at, value);
      }
      check.read(scratch, forever);
    }
  }

  void locate_operands() {
    std::vector<std::size_t> constant_index(buffers_.size(), forever);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      Step& step = plan_->steps[i];
      if (!step.kernel) continue;
      for (std::size_t k = 0; k < graph_.nodes[i].inputs.size(); ++k) {
        const ValueId value = graph_.nodes[i].inputs[k];
        step.inputs.push_back(value == ops::no_value || step.kernel->keeps_constant(k)
                                  ? Location{}
                                  : locate(value, constant_index));
      }
      for (const ValueId value : graph_.nodes[i].outputs)
        step.outputs.push_back(locate(value, constant_index));
    }
    std::erase_if(plan_->steps, [](const Step& step) { return !step.kernel; });
  }

  Location locate(ValueId value, std::vector<std::size_t>& constant_index) {
    const std::size_t buffer = buffer_of_[value];
    Location location = buffers_[buffer].location;
    location.offset = offset_of_[value];
    if (location.kind != Location::Kind::constant) return location;
    if (constant_index[buffer] == forever) {
      constant_index[buffer] = plan_->operands.size();
      plan_->operands.push_back(graph_.values[location.index].constant);
    }
    return {Location::Kind::constant, constant_index[buffer], location.offset};
  }

  PlanGraph graph_;
  PlanSettings settings_;
  std::shared_ptr<CpuPlan> plan_;
  std::vector<std::size_t> uses_;  ///< per value: readers that need the original, and outputs
  std::vector<PlanBuffer> buffers_;
  std::vector<std::size_t> buffer_of_;  ///< per value
  std::vector<std::size_t> offset_of_;  ///< per value: where it begins in its buffer
  std::vector<std::size_t> last_use_;   ///< per value
};

}  // namespace

std::unique_ptr<Kernel> prepare_kernel(const Problem& problem, std::string& text,
                                       bool reference_only) {
  ensure(!problem.outputs.empty() && problem.own_inputs <= problem.inputs.size(),
         "a problem has a result, and its own operands");
  std::string reasons;
  std::unique_ptr<Kernel> slow;  // a library's reference implementation, used if no other takes it
  for (const Implementation& implementation : implementations(problem.op)) {
    const bool last = implementation.name == "reference";
    if (reference_only && !last) continue;
    if (slow != nullptr && last) break;
    KernelResult kernel = implementation.prepare(problem);
    if (kernel && (*kernel)->runs_reference()) {
      if (slow != nullptr) continue;
      slow = std::move(kernel).value();
      text = std::string(implementation.name) + " reference: " + to_string(problem);
      continue;
    }
    if (kernel) {
      text = std::string(implementation.name) + ": " + to_string(problem);
      return std::move(kernel).value();
    }
    reasons += (reasons.empty() ? "" : "; ") + std::string(implementation.name) + ": " +
               kernel.error().message();
  }
  if (slow != nullptr) return slow;
  throw Error(ErrorKind::not_supported, to_string(problem) + ": no implementation (" +
                                            (reasons.empty() ? "none listed" : reasons) + ")");
}

Result<std::shared_ptr<Plan>> compile_plan(std::shared_ptr<const ops::Graph> graph,
                                           const PlanSettings& settings) {
  use_one_thread();  // weights are reordered on this thread
  PlanCompiler compiler(*graph, settings);
  graph.reset();
  std::shared_ptr<Plan> plan = compiler.compile();
  return plan;
}

}  // namespace polychron::kernels
