#include "models/joint.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <polychron/invariant.hpp>

namespace polychron::server {

namespace {

const WireTensor& input_of(const BatchMember& member, const std::string& name) {
  const auto& inputs = member.request.inputs;
  return *std::find_if(inputs.begin(), inputs.end(),
                       [&](const auto& each) { return each.name == name; });
}

/// The rows of `whole` from `first` on, which keep it alive.
WireTensor part_of(const std::shared_ptr<WireTensor>& whole, std::uint32_t first,
                   std::uint32_t rows) {
  const auto row = whole->bytes.size() / whole->shape.front();
  WireTensor part{whole->name, whole->type, whole->shape, {}};
  part.shape.front() = rows;
  part.bytes = Buffer::adopt(whole->bytes.data() + first * row, rows * row,
                             [keep = whole](std::byte*, std::size_t) {});
  return part;
}

}  // namespace

EngineRequest joined(const Batch& batch, std::uint32_t rows, std::string label) {
  const auto& first = batch.front().request;
  EngineRequest request{std::move(label), {}, first.outputs, first.bindings, {}, {}, {}};
  for (const auto& model : first.inputs) {
    request.bindings[model.name] = model.shape;
    request.bindings[model.name].front() = rows;
    WireTensor whole{model.name, model.type, request.bindings[model.name], {}};
    const auto row = model.bytes.size() / model.shape.front();
    whole.bytes = Buffer::uninitialized(row * rows);
    auto* at = whole.bytes.data();
    for (const auto& member : batch) {
      const auto& bytes = input_of(member, model.name).bytes;
      check_invariant(bytes.size() == row * member.rows,
                      "a member's input has the rows of the member");
      check_invariant(
          whole.bytes.data() + whole.bytes.size() - at >= static_cast<std::ptrdiff_t>(bytes.size()),
          "a batch has as many rows as its members");
      std::memcpy(at, bytes.data(), bytes.size());
      at += bytes.size();
    }
    std::fill(at, whole.bytes.data() + whole.bytes.size(), std::byte{0});
    request.inputs.push_back(std::move(whole));
  }
  return request;
}

namespace {

/// Removes each member that it has settled.
void split(Batch& batch, EngineAnswer& answer, std::uint32_t rows) {
  std::vector<std::shared_ptr<WireTensor>> wholes;
  for (auto& each : answer.outputs) {
    if (each.shape.empty() || each.shape.front() != rows)
      throw Refusal(Status::internal, "output '" + printable(each.name) + "' has the shape " +
                                          polychron::to_string(each.shape) + " for " +
                                          std::to_string(rows) +
                                          " rows: the model cannot have max_batch");
    wholes.push_back(std::make_shared<WireTensor>(std::move(each)));
  }
  for (std::uint32_t first = 0; !batch.empty(); batch.pop_front()) {
    const auto& member = batch.front();
    check_invariant(rows - first >= member.rows, "an answer has the rows of all members");
    EngineAnswer own{{}, answer.computed};
    for (const auto& each : wholes) own.outputs.push_back(part_of(each, first, member.rows));
    first += member.rows;
    member.promise.resolve(std::move(own));
  }
}

}  // namespace

void settle(Batch&& batch, EngineOutcome&& outcome, std::uint32_t rows) {
  try {
    if (auto* answer = std::get_if<EngineAnswer>(&outcome)) return split(batch, *answer, rows);
    for (; !batch.empty(); batch.pop_front())
      batch.front().promise.resolve(std::get<Refusal>(outcome));
  } catch (const std::bad_alloc&) {
    for (const auto& member : batch) member.refuse(Status::unavailable, "out of memory");
  } catch (...) {
    settle(std::move(batch), current_refusal(), rows);
  }
}

}  // namespace polychron::server
