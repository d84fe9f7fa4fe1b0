// Walks through the data of a chain in short pieces. Each step's kernel computes a piece before the
// next piece begins, so that the results between steps stay in the cache. Functions of float16 are
// looked up instead, if they are slow.
#include <algorithm>
#include <array>
#include <numeric>

#include "base/kept_once.hpp"
#include "kernels/chain.hpp"
#include "kernels/direct/direct.hpp"
#include "kernels/direct/parts_bound.hpp"
#include "kernels/parts.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::direct {
namespace {

/// Elements of a piece. Some eight results of steps fit into 32 KiB of cache. A kernel's call takes
/// as long as ten to a hundred elements.
constexpr std::uint32_t piece = 1024;
constexpr std::size_t register_bytes = piece * most_chain_bytes;

/// Where an operand or a result of a step lies.
struct Place {
  enum class Kind : std::uint8_t { input, single, output, scratch };
  Kind kind = Kind::input;
  std::size_t index = 0;  ///< of the input or of the register in scratch memory
  std::size_t bytes = 0;  ///< of an element
};

struct ChainStep {
  std::unique_ptr<Kernel> whole, rest;  ///< for a piece, and for the last one
  std::vector<Place> operands;
  Place result;
};

/// Gives each result a register, which is free again after its last reader.
class Registers {
 public:
  explicit Registers(const Problem& problem) : last_reader_(problem.post_ops.size()) {
    for (std::size_t i = 0; i < problem.post_ops.size(); ++i)
      for (const std::uint32_t operand : problem.post_ops[i].operands)
        if (operand >= problem.inputs.size()) last_reader_[operand - problem.inputs.size()] = i;
  }
  std::size_t next(std::size_t step) {
    const auto is_free = [step](std::size_t until) { return until < step; };
    const auto found = std::find_if(busy_until_.begin(), busy_until_.end(), is_free);
    const auto number = static_cast<std::size_t>(found - busy_until_.begin());
    if (found == busy_until_.end()) busy_until_.emplace_back();
    busy_until_[number] = std::max(step, last_reader_[step]);
    return number;
  }
  std::size_t count() const { return busy_until_.size(); }

 private:
  std::vector<std::size_t> last_reader_, busy_until_;
};

class ChainKernel;

class ChainBound final : public Bound {
 public:
  ChainBound(const ChainKernel& kernel, const Arguments& arguments);
  std::size_t parts() const noexcept override { return parts_.size(); }
  void run() override {
    for (std::size_t part = 0; part < parts_.size(); ++part) run_part(part);
  }
  void run_part(std::size_t part) override;

 private:
  struct BoundStep {
    std::vector<const std::byte*> inputs;
    std::byte* output = nullptr;
    Arguments arguments = {};
    std::unique_ptr<Bound> whole = nullptr, rest = nullptr;
  };

  std::byte* at(const Place& place, std::size_t first, std::byte* registers) const;

  const ChainKernel& kernel_;
  const Arguments& arguments_;
  std::vector<std::vector<BoundStep>> parts_;
};

class ChainKernel final : public Kernel {
 public:
  std::vector<ChainStep> steps;
  std::size_t count = 0, registers = 0, pieces = 0, share = 1;
  std::vector<bool> overwritten;  ///< per input: the result may lie there

  std::size_t scratch_bytes() const noexcept override { return share * registers * register_bytes; }
  bool in_place(std::size_t index) const noexcept override { return overwritten[index]; }
  std::size_t parts() const noexcept override { return share; }
  std::unique_ptr<Bound> bind(const Arguments& arguments) const override {
    return std::make_unique<ChainBound>(*this, arguments);
  }
};

ChainBound::ChainBound(const ChainKernel& kernel, const Arguments& arguments)
    : kernel_(kernel), arguments_(arguments), parts_(kernel.share) {
  for (auto& part : parts_) {
    part.resize(kernel.steps.size());
    for (std::size_t i = 0; i < part.size(); ++i) {
      const ChainStep& step = kernel.steps[i];
      part[i].inputs.resize(step.operands.size());
      part[i].arguments = {part[i].inputs, {&part[i].output, 1}};
      if (step.whole) part[i].whole = step.whole->bind(part[i].arguments);
      if (step.rest) part[i].rest = step.rest->bind(part[i].arguments);
    }
  }
}

std::byte* ChainBound::at(const Place& place, std::size_t first, std::byte* registers) const {
  switch (place.kind) {
    case Place::Kind::input:
      return const_cast<std::byte*>(arguments_.inputs[place.index]) + first * place.bytes;
    case Place::Kind::single:
      return const_cast<std::byte*>(arguments_.inputs[place.index]);
    case Place::Kind::output:
      return arguments_.outputs[0] + first * place.bytes;
    default:
      return registers + place.index * register_bytes;
  }
}

void ChainBound::run_part(std::size_t part) {
  std::byte* const registers = arguments_.scratch + part * kernel_.registers * register_bytes;
  const std::size_t end = (part + 1) * kernel_.pieces / parts_.size();
  for (std::size_t i = part * kernel_.pieces / parts_.size(); i < end; ++i) {
    const std::size_t first = i * piece;
    const bool whole = first + piece <= kernel_.count;
    for (std::size_t s = 0; s < kernel_.steps.size(); ++s) {
      const ChainStep& step = kernel_.steps[s];
      BoundStep& bound = parts_[part][s];
      for (std::size_t k = 0; k < step.operands.size(); ++k)
        bound.inputs[k] = at(step.operands[k], first, registers);
      bound.output = at(step.result, first, registers);
      Bound& kernel = *(whole ? bound.whole : bound.rest);
      kernel.rebind();
      kernel.run();
    }
  }
}

/// True if the result may lie in input `index`: of one size, and only read before or together with
/// what the last step writes.
bool may_overwrite(const Problem& problem, const ChainStep& last, std::size_t index) {
  const OperandDescriptor &in = problem.inputs[index].descriptor,
                          &out = problem.outputs[0].descriptor;
  if (in.shape != out.shape || byte_size(in.data_type) != byte_size(out.data_type)) return false;
  const auto& operands = problem.post_ops.back().operands;
  for (std::size_t k = 0; k < operands.size(); ++k)
    if (operands[k] == index &&
        ((last.whole && !last.whole->in_place(k)) || (last.rest && !last.rest->in_place(k))))
      return false;
  return true;
}

/// The chain in pieces.
KernelResult prepare_pieces(const Problem& problem) {
  const auto types = chain_types(problem);
  if (!types) return refuse("not a chain of operators of each element");
  auto kernel = std::make_unique<ChainKernel>();
  const auto& result = problem.outputs[0].descriptor;
  kernel->count = *element_count(result.shape);
  kernel->pieces = (kernel->count + piece - 1) / piece;
  const auto rest = static_cast<std::uint32_t>(kernel->count % piece);
  Registers registers(problem);
  std::vector<Place> results;
  double bytes = 0;
  for (std::size_t i = 0; i < types->size(); ++i) {
    ChainStep& step = kernel->steps.emplace_back();
    if (kernel->count >= piece)
      step.whole = prepare_chain_step(chain_step(problem, *types, i, piece));
    if (rest != 0) step.rest = prepare_chain_step(chain_step(problem, *types, i, rest));
    if ((kernel->count >= piece && !step.whole) || (rest != 0 && !step.rest))
      return refuse("a step without a loop of its own");
    for (const std::uint32_t operand : problem.post_ops[i].operands) {
      if (operand >= problem.inputs.size()) {
        step.operands.push_back(results[operand - problem.inputs.size()]);
        continue;
      }
      const auto& in = problem.inputs[operand].descriptor;
      const bool single = in.shape != result.shape && kernel->count != 1;
      step.operands.push_back(
          {single ? Place::Kind::single : Place::Kind::input, operand, byte_size(in.data_type)});
    }
    const bool last = i + 1 == types->size();
    step.result = {last ? Place::Kind::output : Place::Kind::scratch, last ? 0 : registers.next(i),
                   byte_size((*types)[i])};
    results.push_back(step.result);
    bytes += static_cast<double>(kernel->count * byte_size((*types)[i]));
  }
  kernel->registers = registers.count();
  kernel->share = parts_of(bytes / bytes_per_ns, kernel->pieces);
  for (std::size_t i = 0; i < problem.inputs.size(); ++i)
    kernel->overwritten.push_back(may_overwrite(problem, kernel->steps.back(), i));
  return KernelResult(std::move(kernel));
}

constexpr std::uint32_t all_halves = 1U << 16;

/// Looks up the results of a chain, which depend on one float16 number each.
class ChainTable final : public Kernel {
 public:
  struct Elements {
    std::size_t first, last;
  };

  ChainTable(Buffer results, std::size_t count)
      : results_(kept_once(std::make_shared<const Buffer>(std::move(results)))),
        count_(count),
        parts_(parts_of(static_cast<double>(count) * element_ns, (count + piece - 1) / piece)) {}

  std::size_t parts() const noexcept override { return parts_; }
  bool in_place(std::size_t index) const noexcept override { return index == 0; }
  void add_constants(Constants& constants) const override { constants.push_back(results_); }
  std::unique_ptr<Bound> bind(const Arguments& arguments) const override {
    return std::make_unique<PartsBound<ChainTable, const Arguments&>>(*this, arguments);
  }
  Elements whole() const { return {0, count_}; }
  Elements share(std::size_t part) const {
    return {count_ * part / parts_, count_ * (part + 1) / parts_};
  }
  std::span<const std::byte> read_first(Elements) const { return {}; }
  void compute(Elements share, const Arguments& arguments, std::span<const std::byte>) const {
    const auto* const results = reinterpret_cast<const std::uint16_t*>(results_->data());
    const auto* const in = reinterpret_cast<const std::uint16_t*>(arguments.inputs[0]);
    auto* const out = reinterpret_cast<std::uint16_t*>(arguments.outputs[0]);
    for (std::size_t i = share.first; i < share.last; ++i) out[i] = results[in[i]];
  }

 private:
  static constexpr double element_ns = 0.5;
  const KeptBytes results_;
  const std::size_t count_, parts_;
};

/// True if a table of all float16 numbers is made in the time of a few runs, and is faster: 0.4 ns
/// an element, where exp takes 1 and what Acos becomes takes 4 (AMD EPYC with AVX2).
bool is_for_table(const Problem& problem) {
  const OperandDescriptor& result = problem.outputs[0].descriptor;
  const auto is_constant = [](const Slot& slot) { return slot.constant != nullptr; };
  const auto is_slow = [](const PostOp& step) {
    constexpr double most_ulps = 4;  // of sums, products, quotients and roots
    const auto& tolerance = ops::row(step.op).tolerance;
    return tolerance.metric != ops::Tolerance::Metric::ulp || tolerance.float32 > most_ulps;
  };
  return problem.post_ops.size() > 2 && problem.inputs[0].descriptor == result &&
         result.data_type == DataType::float16 && *element_count(result.shape) >= all_halves / 8 &&
         !is_constant(problem.inputs[0]) &&
         std::all_of(problem.inputs.begin() + 1, problem.inputs.end(),
                     [&](const Slot& slot) {
                       return is_constant(slot) && *element_count(slot.descriptor.shape) == 1;
                     }) &&
         (problem.post_ops.size() > 8 ||
          std::ranges::any_of(problem.post_ops, [&](const PostOp& step) {
            return is_internal(step.op) || is_slow(step);
          }));
}

/// The chain's results of all float16 numbers.
Buffer results_of_all(const Kernel& chain, const Problem& problem) {
  std::vector<std::uint16_t> halves(all_halves);
  std::iota(halves.begin(), halves.end(), std::uint16_t{0});
  Buffer results(all_halves * sizeof(float16)), scratch(chain.scratch_bytes());
  std::vector<const std::byte*> inputs{reinterpret_cast<const std::byte*>(halves.data())};
  for (std::size_t i = 1; i < problem.inputs.size(); ++i)
    inputs.push_back(problem.inputs[i].constant->data());
  const std::array<std::byte*, 1> outputs{results.data()};
  const Arguments arguments{inputs, outputs, scratch.data()};
  chain.bind(arguments)->run();
  return results;
}

}  // namespace

KernelResult prepare_chain(const Problem& problem) {
  auto pieces = prepare_pieces(problem);
  if (!pieces || !is_for_table(problem)) return pieces;
  Problem every = problem;
  every.inputs[0].descriptor.shape = every.outputs[0].descriptor.shape = {all_halves};
  const auto chain = prepare_pieces(every);
  if (!chain) return pieces;
  return KernelResult(std::make_unique<ChainTable>(
      results_of_all(**chain, every), *element_count(problem.outputs[0].descriptor.shape)));
}

}  // namespace polychron::kernels::direct
