#include "kernels/cpu/cut_kernel.hpp"

#include <algorithm>

#include "base/invariant.hpp"
#include "kernels/cpu/memory_plan.hpp"
#include "kernels/cpu/plan.hpp"

namespace polychron::kernels {

/// The parts of a step, bound to their slices of its operands.
class CutBound final : public Bound {
 public:
  CutBound(const CutKernel& kernel, const Arguments& arguments)
      : kernel_(kernel), arguments_(arguments), parts_(kernel.places_.size()) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      OnePart& part = parts_[i];
      part.inputs.resize(arguments.inputs.size());
      part.arguments = {part.inputs, {&part.output, 1}};
      place(i);
      part.bound = kernel.places_[i].kernel->bind(part.arguments);
    }
  }

  void rebind() override {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      place(i);
      parts_[i].bound->rebind();
    }
  }
  void run() override {
    for (OnePart& part : parts_) part.bound->run();
  }
  std::size_t parts() const noexcept override { return parts_.size(); }
  void run_part(std::size_t part) override { parts_[part].bound->run(); }

 private:
  struct OnePart {
    std::vector<const std::byte*> inputs;
    std::byte* output = nullptr;
    Arguments arguments;
    std::unique_ptr<Bound> bound;
  };

  void place(std::size_t index) {
    const CutKernel::PlacedPart& at = kernel_.places_[index];
    OnePart& part = parts_[index];
    for (std::size_t i = 0; i < part.inputs.size(); ++i)
      part.inputs[i] = arguments_.inputs[i] ? arguments_.inputs[i] + at.inputs[i] : nullptr;
    part.output = arguments_.outputs[0] ? arguments_.outputs[0] + at.output : nullptr;
    part.arguments.scratch = arguments_.scratch ? arguments_.scratch + at.scratch : nullptr;
  }

  const CutKernel& kernel_;
  const Arguments& arguments_;
  std::vector<OnePart> parts_;
};

CutKernel::CutKernel(const Problem& whole, std::vector<Part> parts,
                     std::vector<std::unique_ptr<Kernel>> kernels) {
  ensure(parts.size() == kernels.size() && !parts.empty(), "each part has a kernel");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Part& part = parts[i];
    std::shared_ptr<const Kernel> kernel =
        part.twin == i ? std::shared_ptr<const Kernel>(std::move(kernels[i]))
                       : places_[part.twin].kernel;
    const std::size_t scratch = aligned(kernel->scratch_bytes());
    places_.push_back({std::move(kernel), std::move(part.inputs), part.output, scratch_bytes_});
    scratch_bytes_ += scratch;
  }
  const Slot& result = whole.outputs[0];
  for (std::size_t i = 0; i < whole.inputs.size(); ++i) {
    const Slot& slot = whole.inputs[i];
    alike_.push_back(slot.present && slot.descriptor == result.descriptor &&
                     slot.layout == result.layout &&
                     std::ranges::all_of(places_, [&](const PlacedPart& place) {
                       return place.inputs[i] == place.output;
                     }));
  }
}

bool CutKernel::fits() const noexcept {
  for (const PlacedPart& place : places_)
    for (std::size_t i = 0; i < place.inputs.size(); ++i)
      if (place.inputs[i] == Part::scattered && !keeps_constant(i)) return false;
  return true;
}

bool CutKernel::keeps_constant(std::size_t index) const noexcept {
  return std::ranges::all_of(
      places_, [&](const PlacedPart& place) { return place.kernel->keeps_constant(index); });
}

bool CutKernel::in_place(std::size_t index) const noexcept {
  return alike_[index] && std::ranges::all_of(places_, [&](const PlacedPart& place) {
           return place.kernel->in_place(index);
         });
}

std::unique_ptr<Bound> CutKernel::bind(const Arguments& arguments) const {
  return std::make_unique<CutBound>(*this, arguments);
}

namespace {

std::string described(std::string_view implementation, const Problem& problem, std::size_t parts) {
  std::string text = std::string(implementation) + ": " + to_string(problem);
  if (parts > 1) text += ", " + std::to_string(parts) + " parts";
  return text;
}

std::unique_ptr<Kernel> prepare_parts(const Problem& problem, std::string& text, double least) {
  auto parts = cut(problem, least);
  if (parts.empty()) return nullptr;
  std::vector<std::unique_ptr<Kernel>> kernels;
  std::string implementation;
  try {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      kernels.push_back(parts[i].twin == i ? prepare_kernel(parts[i].problem, implementation)
                                           : nullptr);
      // The library may have a real implementation for the whole. (2.6.3: for some columns of a
      // product, no vector may follow anything else.)
      if (kernels.back() && kernels.back()->runs_reference()) return nullptr;
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::not_supported) return nullptr;
    throw;
  }
  const std::size_t count = parts.size();
  auto kernel = std::make_unique<CutKernel>(problem, std::move(parts), std::move(kernels));
  if (!kernel->fits()) return nullptr;
  text = described(implementation.substr(0, implementation.find(':')), problem, count);
  return kernel;
}

}  // namespace

std::unique_ptr<Kernel> prepare_in_parts(const Problem& problem, std::string& text, double least) {
  for (const Implementation& row : implementations(problem.op)) {
    if (!row.cuts_itself) continue;
    auto kernel = row.prepare(problem);
    if (!kernel) continue;
    text = described(row.name, problem, (*kernel)->parts());
    return std::move(*kernel);
  }
  return prepare_parts(problem, text, least);
}

}  // namespace polychron::kernels
