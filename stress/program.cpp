#include "stress/program.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <random>

#include "runtime/builder_bridge.hpp"
#include "stress/symbolic_backend.hpp"

namespace polychron::stress {

namespace {

constexpr std::size_t most_tensors = 4;
constexpr std::size_t graph_count = 2;

std::string graph_label(std::size_t graph) { return "g" + std::to_string(graph); }

}  // namespace

std::shared_ptr<const ops::Graph> symbolic_graph(const std::string& label, std::size_t inputs) {
  const auto description = std::make_shared<ops::Graph>();
  description->label = label;
  for (std::size_t i = 0; i < inputs; ++i) {
    description->inputs.emplace_back("in" + std::to_string(i), description->values.size());
    description->values.push_back({ops::Value::Kind::input, value_descriptor, nullptr});
  }
  description->outputs.emplace_back("out", description->values.size());
  description->values.push_back({ops::Value::Kind::result, value_descriptor, nullptr});
  return description;
}

std::string to_string(const Call& call) {
  const auto t = "t" + std::to_string(call.tensor);
  switch (call.kind) {
    case Call::Kind::create:
      return "create " + t;
    case Call::Kind::write:
      return "write " + t + " = " + std::to_string(call.value);
    case Call::Kind::read:
      return "read " + t;
    case Call::Kind::destroy:
      return "destroy " + t;
    case Call::Kind::dispatch:
      break;
  }
  std::string text = t + " = " + graph_label(call.graph) + "(";
  for (const auto input : call.inputs) text += " t" + std::to_string(input);
  return text + " )";
}

std::string to_string(const Program& program) {
  std::string text;
  for (const auto& call : program) text += "  " + to_string(call) + "\n";
  return text;
}

Program random_program(std::uint64_t seed, std::size_t calls) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  Program program;
  std::vector<std::size_t> live;
  for (std::size_t i = 0; i < 2; ++i) {
    live.push_back(i);
    program.push_back({Call::Kind::create, i, {}, 0, 0});
  }
  std::size_t next = live.size();
  while (program.size() < calls) {
    const auto tensor = live[below(live.size())];
    const auto choice = below(100);
    if (choice < 12 && live.size() < most_tensors) {
      program.push_back({Call::Kind::create, next, {}, 0, 0});
      live.push_back(next++);
    } else if (choice < 35) {
      program.push_back({Call::Kind::write, tensor, {}, 0, 1 + below(1000)});
    } else if (choice < 65) {
      auto order = live;
      std::shuffle(order.begin(), order.end(), random);
      const auto graph = below(std::min(graph_count, live.size() - 1));
      const auto inputs_end = order.begin() + static_cast<std::ptrdiff_t>(graph) + 1;
      program.push_back({Call::Kind::dispatch, *inputs_end, {order.begin(), inputs_end}, graph, 0});
    } else if (choice < 92 || live.size() <= 2) {
      program.push_back({Call::Kind::read, tensor, {}, 0, 0});
    } else {
      program.push_back({Call::Kind::destroy, tensor, {}, 0, 0});
      std::erase(live, tensor);
    }
  }
  for (const auto tensor : live) program.push_back({Call::Kind::read, tensor, {}, 0, 0});
  return program;
}

std::vector<Expectation> expected_reads(const Program& program) {
  std::map<std::size_t, std::uint64_t> values;
  std::multimap<std::size_t, std::size_t> reads;  // tensor -> index in expected
  std::vector<Expectation> expected;
  for (const auto& call : program) {
    switch (call.kind) {
      case Call::Kind::create:
        values[call.tensor] = 0;
        break;
      case Call::Kind::write:
        values[call.tensor] = call.value;
        break;
      case Call::Kind::dispatch: {
        std::vector<std::uint64_t> inputs;
        for (const auto input : call.inputs) inputs.push_back(values.at(input));
        values[call.tensor] = symbolic_result(graph_label(call.graph), 0, inputs);
        break;
      }
      case Call::Kind::read:
        reads.emplace(call.tensor, expected.size());
        expected.push_back({values.at(call.tensor), false});
        break;
      case Call::Kind::destroy: {
        const auto [first, last] = reads.equal_range(call.tensor);
        for (auto read = first; read != last; ++read) expected[read->second].may_be_rejected = true;
        values.erase(call.tensor);
        break;
      }
    }
  }
  return expected;
}

namespace {

std::optional<std::string> compare(std::vector<Future<Buffer>>& reads,
                                   const std::vector<Expectation>& expected) {
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const auto which = "read " + std::to_string(i);
    if (!reads[i].ready()) return which + " was never answered";
    auto result = reads[i].take();
    if (!result) {
      if (expected[i].may_be_rejected && result.error().kind() == ErrorKind::invalid_state)
        continue;
      return which + " was rejected: " + result.error().what();
    }
    const auto value = result->as<std::uint64_t>()[0];
    if (value != expected[i].value)
      return which + " gave " + std::to_string(value) + ", expected " +
             std::to_string(expected[i].value);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> run_program(World& world, const Program& program,
                                       const ContextOptions& options) {
  auto context = world.settle(world.runtime().create_context(options)).value();
  std::vector<Graph> graphs;
  for (std::size_t i = 0; i < graph_count; ++i)
    graphs.push_back(world
                         .settle(detail::submit_build(
                             context, symbolic_graph(graph_label(i), i + 1), {graph_label(i)}))
                         .value());

  std::map<std::size_t, Tensor> tensors;
  std::vector<Future<Buffer>> reads;
  for (const auto& call : program) {
    switch (call.kind) {
      case Call::Kind::create:
        // The one call whose result the next ones need: the world runs until it is there, and
        // leaves in flight what the strategy has not come to.
        tensors[call.tensor] = world.settle(context.create_tensor(value_descriptor)).value();
        break;
      case Call::Kind::write:
        context.write_tensor(tensors.at(call.tensor), std::vector{call.value});
        break;
      case Call::Kind::dispatch: {
        NamedTensors inputs;
        for (const auto input : call.inputs)
          inputs.emplace_back("in" + std::to_string(inputs.size()), tensors.at(input));
        context.dispatch(graphs.at(call.graph), inputs, {{"out", tensors.at(call.tensor)}});
        break;
      }
      case Call::Kind::read:
        reads.push_back(context.read_tensor(tensors.at(call.tensor)));
        break;
      case Call::Kind::destroy:
        tensors.at(call.tensor).destroy();
        tensors.erase(call.tensor);
        break;
    }
  }
  world.run();
  return compare(reads, expected_reads(program));
}

}  // namespace polychron::stress
