// From graph to plan: decides for each operator where it runs, and adds the copies between the two
// memories. Operators that follow each other on the host are one plan of the CPU backend.
#include <algorithm>

#include "base/invariant.hpp"
#include "kernels/cpu/plan_graph.hpp"
#include "kernels/gpu/plan.hpp"
#include "kernels/gpu/rows.hpp"

namespace polychron::kernels::gpu {

using ops::ValueId;

std::shared_ptr<const DeviceConstant> DeviceConstants::upload(const Gpu& gpu,
                                                              const ops::ConstantBytes& bytes) {
  std::erase_if(entries_, [](const auto& entry) { return entry.second.device.expired(); });
  Entry& entry = entries_[bytes.get()];
  if (auto known = entry.device.lock(); known && entry.host.lock() == bytes) return known;
  DeviceMemory memory(gpu, bytes->size());
  memory.write(queue_of(dnnl::stream(gpu.engine)), bytes->bytes());
  auto constant = std::make_shared<const DeviceConstant>(std::move(memory));
  entry = {bytes, constant};
  return constant;
}

namespace {

class GpuCompiler {
 public:
  GpuCompiler(std::shared_ptr<const Gpu> gpu, std::shared_ptr<Backend> host,
              DeviceConstants& constants, const ops::Graph& graph)
      : graph_(graph),
        problems_(graph),
        constants_(constants),
        plan_(std::make_shared<GpuPlan>()),
        values_(graph.values.size()) {
    plan_->gpu = std::move(gpu);
    plan_->host = std::move(host);
  }

  std::shared_ptr<GpuPlan> compile() {
    place_tensors();
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) add(i);
    compute_on_host();
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) finish_output(i);
    share_buffers();
    add_up();
    return plan_;
  }

 private:
  /// Where a value is by now.
  struct Locations {
    Location device;
    std::optional<std::size_t> host;
  };

  std::size_t bytes_of(ValueId value) const {
    return *byte_length(graph_.values[value].descriptor);
  }
  bool is_constant(ValueId value) const {
    return graph_.values[value].kind == ops::Value::Kind::constant;
  }

  void place_tensors() {
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i)
      values_[graph_.inputs[i].second].device = {Location::Kind::input, i};
    outputs_.assign(graph_.values.size(), no_output);
    for (std::size_t i = graph_.outputs.size(); i-- > 0;)
      outputs_[graph_.outputs[i].second] = i;  // the first of several
  }

  void add(std::size_t index) {
    const ops::Node& node = graph_.nodes[index];
    if (node.op == ops::op("reshape") && passes_through(node)) return;
    auto kernel = prepare(*plan_->gpu, problem_of(problems_, problems_.nodes[index]));
    if (!kernel) {
      on_host_.push_back(index);
      reasons_ += (reasons_.empty() ? "" : "; ") + std::string(operator_name(node.op)) + ": " +
                  kernel.error().message();
      return;
    }
    compute_on_host();
    RunKernel run{std::move(kernel).value(), {}, {}};
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId value = node.inputs[i];
      run.inputs.push_back(
          value == ops::no_value || run.kernel->keeps_constant(i) ? Location{} : on_device(value));
    }
    for (const ValueId value : node.outputs) run.outputs.push_back(new_location(value));
    plan_->scratch = std::max(plan_->scratch, run.kernel->scratch_bytes());
    const auto text = "gpu " + std::string(run.kernel->implementation()) + ": " +
                      to_string(problem_of(problems_, problems_.nodes[index]));
    add_step(std::move(run), node.label, text);
  }

  /// A result with the same bytes as the operand: it is where that is. False if the host has still
  /// to compute the operand.
  bool passes_through(const ops::Node& node) {
    const ValueId from = node.inputs[0], to = node.outputs[0];
    const bool computed = values_[from].device.kind != Location::Kind::none || values_[from].host;
    if (!computed && !is_constant(from)) return false;
    if (outputs_[to] == no_output) {
      values_[to] = values_[from];
      if (is_constant(from)) values_[to].device = on_device(from);
    } else {
      const Location source = on_device(from);
      add_step(Copy{source, new_location(to), bytes_of(to)}, node.label, "copy: " + text_of(to));
    }
    return true;
  }

  void add_step(decltype(Step::work) work, std::string label, std::string text) {
    plan_->steps.push_back({std::move(work), std::move(label), std::move(text)});
  }

  std::string text_of(ValueId value) const {
    return polychron::to_string(graph_.values[value].descriptor);
  }

  /// Where a result goes: the tensor of the graph's output, or a buffer.
  Location new_location(ValueId value) {
    Location& location = values_[value].device;
    if (outputs_[value] != no_output)
      location = {Location::Kind::output, outputs_[value]};
    else
      location = {Location::Kind::buffer, new_buffer(bytes_of(value))};
    return location;
  }

  std::size_t new_buffer(std::size_t bytes) {
    plan_->buffers.push_back(bytes);
    return plan_->buffers.size() - 1;
  }

  Location on_device(ValueId value) {
    Location& location = values_[value].device;
    if (location.kind != Location::Kind::none) return location;
    if (is_constant(value)) {
      plan_->constants_of_steps.push_back(
          constants_.upload(*plan_->gpu, graph_.values[value].constant));
      location = {Location::Kind::constant, plan_->constants_of_steps.size() - 1};
      return location;
    }
    ensure(values_[value].host.has_value(), "a value has been computed before it is read");
    upload(value);
    return location;
  }

  void upload(ValueId value) {
    const Location to = new_location(value);
    add_step(Upload{*values_[value].host, to}, "", "upload: " + text_of(value));
  }

  std::size_t new_host_value(ValueId value) {
    plan_->host_values.push_back(bytes_of(value));
    return *(values_[value].host = plan_->host_values.size() - 1);
  }

  std::size_t on_host(ValueId value) {
    if (values_[value].host) return *values_[value].host;
    const Location from = values_[value].device;
    const std::size_t to = new_host_value(value);
    add_step(Download{from, to}, "", "download: " + text_of(value));
    return to;
  }

  /// Makes a plan of the operators in `on_host_`.
  void compute_on_host() {
    if (on_host_.empty()) return;
    HostGraph part(graph_, on_host_, outputs_);
    RunOnHost run;
    for (const ValueId value : part.inputs) run.inputs.push_back(on_host(value));
    for (const ValueId value : part.outputs) run.outputs.push_back(new_host_value(value));
    auto compiled = plan_->host->compile(std::make_shared<const ops::Graph>(std::move(part.graph)));
    if (!compiled) throw compiled.error();
    run.plan = std::move(compiled).value();
    std::string text = "host (" + reasons_ + "):";
    for (const auto& line : run.plan->describe()) text += " [" + line + "]";
    add_step(std::move(run), graph_.nodes[on_host_.front()].label, std::move(text));
    on_host_.clear();
    reasons_.clear();
    for (const ValueId value : part.outputs)
      if (outputs_[value] != no_output) upload(value);
  }

  /// Operators of the graph as a graph of their own.
  struct HostGraph {
    HostGraph(const ops::Graph& whole, const std::vector<std::size_t>& nodes,
              const std::vector<std::size_t>& whole_outputs) {
      std::vector<ValueId> number(whole.values.size(), ops::no_value);
      const auto add = [&](ValueId value, ops::Value::Kind kind) {
        graph.values.push_back(whole.values[value]);
        graph.values.back().kind = kind;
        return number[value] = static_cast<ValueId>(graph.values.size() - 1);
      };
      graph.label = whole.label;
      for (const std::size_t index : nodes) {
        ops::Node node = whole.nodes[index];
        for (ValueId& value : node.inputs) {
          if (value == ops::no_value) continue;
          if (number[value] == ops::no_value) {
            const bool constant = whole.values[value].kind == ops::Value::Kind::constant;
            const auto added =
                add(value, constant ? ops::Value::Kind::constant : ops::Value::Kind::input);
            if (!constant) {
              graph.inputs.emplace_back(std::to_string(value), added);
              inputs.push_back(value);
            }
          }
          value = number[value];
        }
        for (ValueId& value : node.outputs) value = add(value, ops::Value::Kind::result);
        graph.nodes.push_back(std::move(node));
      }
      for (const std::size_t index : nodes)
        for (const ValueId value : whole.nodes[index].outputs)
          if (whole_outputs[value] != no_output || read_elsewhere(whole, nodes, value)) {
            graph.outputs.emplace_back(std::to_string(value), number[value]);
            outputs.push_back(value);
          }
    }
    static bool read_elsewhere(const ops::Graph& whole, const std::vector<std::size_t>& nodes,
                               ValueId value) {
      for (std::size_t i = nodes.back() + 1; i < whole.nodes.size(); ++i)
        if (std::ranges::count(whole.nodes[i].inputs, value) != 0) return true;
      return false;
    }
    ops::Graph graph;
    std::vector<ValueId> inputs, outputs;  ///< values of the whole graph
  };

  /// Outputs that share a value, after the first.
  void finish_output(std::size_t index) {
    const ValueId value = graph_.outputs[index].second;
    if (outputs_[value] == index && values_[value].device.kind == Location::Kind::output) return;
    add_step(Copy{on_device(value), {Location::Kind::output, index}, bytes_of(value)}, "",
             "copy: " + text_of(value));
  }

  template <class F>
  static void for_each_location(Step& step, F&& f) {
    std::visit(Overloaded{[&](RunKernel& run) {
                            for (Location& location : run.inputs) f(location);
                            for (Location& location : run.outputs) f(location);
                          },
                          [](RunOnHost&) {}, [&](Download& download) { f(download.from); },
                          [&](Upload& to_device) { f(to_device.to); },
                          [&](Copy& copy) {
                            f(copy.from);
                            f(copy.to);
                          }},
               step.work);
  }

  /// Gives values that live at different times one buffer. The smallest free buffer that is large
  /// enough serves, or else the largest free one grows. There are no offsets into one arena, as
  /// cpu/memory_plan.cpp has: a primitive takes a whole OpenCL buffer.
  void share_buffers() {
    const std::vector<std::size_t> bytes = std::move(plan_->buffers);
    std::vector<std::size_t> last(bytes.size());
    for (std::size_t i = 0; i < plan_->steps.size(); ++i)
      for_each_location(plan_->steps[i], [&](const Location& location) {
        if (location.kind == Location::Kind::buffer) last[location.index] = i;
      });
    plan_->buffers.clear();
    std::vector<std::size_t> free_after, buffer(bytes.size(), none);
    const auto find = [&](std::size_t wanted, std::size_t now) {
      std::size_t best = none;
      for (std::size_t r = 0; r < plan_->buffers.size(); ++r) {
        if (free_after[r] >= now) continue;
        const auto better = [&](std::size_t a, std::size_t b) {
          return (a >= wanted) != (b >= wanted) ? a >= wanted : (a >= wanted ? a < b : a > b);
        };
        if (best == none || better(plan_->buffers[r], plan_->buffers[best])) best = r;
      }
      return best;
    };
    for (std::size_t i = 0; i < plan_->steps.size(); ++i)
      for_each_location(plan_->steps[i], [&](Location& location) {
        if (location.kind != Location::Kind::buffer) return;
        std::size_t& mine = buffer[location.index];
        const std::size_t value = location.index;
        if (mine == none) {
          mine = find(bytes[value], i);
          if (mine == none) {
            mine = new_buffer(bytes[value]);
            free_after.push_back(0);
          }
          plan_->buffers[mine] = std::max(plan_->buffers[mine], bytes[value]);
          free_after[mine] = last[value];
        }
        location.index = mine;
      });
  }

  void add_up() {
    GpuPlan& plan = *plan_;
    plan.input_count = graph_.inputs.size();
    plan.output_count = graph_.outputs.size();
    plan.arena = plan.scratch;
    for (const std::size_t bytes : plan.buffers) plan.arena += bytes;
    for (const std::size_t bytes : plan.host_values) plan.arena += bytes;
    for (const auto& constant : plan.constants_of_steps)
      plan.held.push_back({constant, &constant->size});
    for (const Step& step : plan.steps)
      std::visit(Overloaded{[&](const RunKernel& run) { run.kernel->add_constants(plan.held); },
                            [&](const RunOnHost& host) {
                              plan.arena += host.plan->arena_bytes();
                              const auto more = host.plan->constants();
                              plan.held.insert(plan.held.end(), more.begin(), more.end());
                            },
                            [](const Download&) {}, [](const Upload&) {}, [](const Copy&) {}},
                 step.work);
    keep_each_once(plan.held);
  }

  static constexpr std::size_t none = ~std::size_t{0};
  static constexpr std::size_t no_output = none;
  const ops::Graph& graph_;
  const PlanGraph problems_;
  DeviceConstants& constants_;
  std::shared_ptr<GpuPlan> plan_;
  std::vector<Locations> values_;
  std::vector<std::size_t> outputs_;  ///< per value: number of the graph's output, or no_output
  std::vector<std::size_t> on_host_;  ///< nodes that the host computes next
  std::string reasons_;               ///< of `on_host_`
};

}  // namespace

std::shared_ptr<Plan> compile_for_gpu(const std::shared_ptr<const Gpu>& gpu,
                                      const std::shared_ptr<Backend>& host,
                                      DeviceConstants& constants, const ops::Graph& graph) {
  return GpuCompiler(gpu, host, constants, graph).compile();
}

}  // namespace polychron::kernels::gpu
