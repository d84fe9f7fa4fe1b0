#include "observe/replay/known_objects.hpp"

#include <numeric>
#include <set>

#include "polychron/error.hpp"

namespace polychron::replay {

namespace {

[[noreturn]] void refuse_recording(const std::string& why) {
  throw Error(ErrorKind::bad_data, why);
}

[[noreturn]] void unknown(const char* what, std::uint64_t id) {
  refuse_recording(
      "it does not have its beginning: " + describe_object(what, "", id) +
      " is used and was not seen to be made (record from before the context is made, with room "
      "for all)");
}

std::vector<std::uint64_t> sizes(const ops::Graph& graph, const auto& list) {
  std::vector<std::uint64_t> bytes;
  for (const auto& [name, value] : list)
    bytes.push_back(byte_length(graph.values[value].descriptor).value());
  return bytes;
}

}  // namespace

std::uint64_t KnownObjects::use(msg::TensorId tensor, Call& by) const {
  const auto known = tensors_.find(tensor);
  if (known == tensors_.end()) unknown("tensor", tensor);
  by.needs.push_back(known->second.made);
  return known->second.bytes;
}

const KnownObjects::Graph& KnownObjects::use_graph(msg::GraphId graph, Call& by) const {
  const auto known = graphs_.find(graph);
  if (known == graphs_.end()) unknown("graph", graph);
  by.needs.push_back(known->second.made);
  return known->second;
}

void KnownObjects::check(const msg::Call& call, Call& recorded, std::size_t index) {
  const auto is = [](bool true_of_all_calls, const char* what) {
    if (!true_of_all_calls) refuse_recording(std::string("a call in it is damaged: ") + what);
  };
  if (const auto* create = std::get_if<msg::CreateTensor>(&call)) {
    is(!create->constant || create->constant->view().size() == create->bytes, "a constant");
    is(tensors_.try_emplace(create->tensor, Tensor{create->bytes, index}).second,
       "a tensor made twice");
  } else if (const auto* write = std::get_if<msg::WriteTensor>(&call)) {
    is(write->payload && write->payload->view().size() == use(write->tensor, recorded), "a write");
  } else if (const auto* build = std::get_if<msg::Build>(&call)) {
    const auto& g = *build->description;
    Graph made{sizes(g, g.inputs), sizes(g, g.outputs), index};
    is(graphs_.try_emplace(build->graph, std::move(made)).second, "a graph built twice");
  } else if (const auto* refused = std::get_if<msg::Dispatch>(&call);
             refused != nullptr && refused->refused) {
    for (const auto& ids : {refused->inputs, refused->outputs})
      for (const auto id : ids) static_cast<void>(use(id, recorded));
  } else if (const auto* dispatch = std::get_if<msg::Dispatch>(&call)) {
    const auto& graph = use_graph(dispatch->graph, recorded);
    std::set<msg::TensorId> bound;
    const auto fits = [&](const msg::TensorIds& ids, const std::vector<std::uint64_t>& bytes) {
      is(ids.size() == bytes.size(), "a dispatch");
      for (std::size_t i = 0; i < ids.size(); ++i)
        is(use(ids[i], recorded) == bytes[i] && bound.insert(ids[i]).second,
           "a dispatch's tensors");
    };
    fits(dispatch->inputs, graph.inputs);
    fits(dispatch->outputs, graph.outputs);
  } else if (const auto* compute = std::get_if<msg::Compute>(&call)) {
    const auto& graph = use_graph(compute->graph, recorded);
    is(recorded.inputs == graph.inputs && recorded.outputs == graph.outputs, "a compute's buffers");
    const auto all = std::accumulate(graph.inputs.begin(), graph.inputs.end(), std::uint64_t{0});
    is(recorded.contents.empty() || recorded.contents.size() == all, "a compute's contents");
  } else if (const auto* lend = std::get_if<msg::LendTensor>(&call)) {
    static_cast<void>(use(lend->tensor, recorded));
    is(leases_.try_emplace(lend->lease, index).second, "a lease asked for twice");
  } else if (const auto* back = std::get_if<msg::ReturnLease>(&call)) {
    const auto lent = leases_.find(back->lease);
    if (lent == leases_.end()) unknown("lease", back->lease);
    recorded.returns = lent->second;
  } else if (const auto* read = std::get_if<msg::ReadTensor>(&call)) {
    static_cast<void>(use(read->tensor, recorded));
  } else if (const auto* query = std::get_if<msg::QueryError>(&call)) {
    static_cast<void>(use(query->tensor, recorded));
  }
}

}  // namespace polychron::replay
