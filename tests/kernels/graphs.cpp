#include "tests/kernels/graphs.hpp"

#include <algorithm>

namespace polychron::tests {

Runner::Runner(std::shared_ptr<kernels::Backend> backend, std::shared_ptr<const ops::Graph> graph,
               std::shared_ptr<kernels::Team> team)
    : backend_(std::move(backend)), graph_(std::move(graph)) {
  plan_ = backend_->compile(graph_).value();
  if (plan_->shares_arena()) arena_ = std::make_shared<kernels::LaneArena>();
  move_arena();
  instance_ = backend_->instantiate(plan_, {.team = std::move(team), .arena = arena_}).value();
  const auto storage = [&](const auto& named, auto& owners, auto& pointers) {
    for (const auto& [name, value] : named) {
      const auto bytes = *byte_length(graph_->values[value].descriptor);
      owners.push_back(backend_->allocate(bytes).value());
      pointers.push_back(owners.back().get());
    }
  };
  storage(graph_->inputs, inputs_, input_pointers_);
  storage(graph_->outputs, outputs_, output_pointers_);
}

void Runner::randomize(std::uint32_t seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> numbers(-1, 1);
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (graph_->values[graph_->inputs[i].second].descriptor.data_type != DataType::float32)
      continue;
    std::vector<float> values(inputs_[i]->bytes() / sizeof(float));
    for (float& value : values) value = numbers(generator);
    set(i, values);
  }
}

void Runner::move_arena() {
  if (!arena_) return;
  auto other = Buffer::uninitialized(plan_->arena_bytes());
  std::ranges::fill(other.bytes(), std::byte{0xff});
  arena_->bytes = std::move(other);
}

void Runner::run() {
  move_arena();
  run_in_place();
}

void Runner::run_in_place() {
  backend_->execute(*instance_, input_pointers_, output_pointers_).result.value();
}

}  // namespace polychron::tests
