#include "core/batcher.hpp"

#include <algorithm>
#include <utility>

namespace polychron::server {

namespace {

/// Requests with equal keys can be joined: the same shapes behind dimension 0, the same outputs.
std::string key_of(const EngineRequest& request) {
  std::vector<std::string> parts;
  for (const auto& each : request.inputs)
    parts.push_back(each.name +
                    polychron::to_string(Shape(each.shape.begin() + 1, each.shape.end())));
  std::sort(parts.begin(), parts.end());
  for (const auto& each : request.outputs) parts.push_back(each);
  std::string key;
  for (const auto& each : parts) key += std::to_string(each.size()) + ":" + each;
  return key;
}

}  // namespace

void Batcher::check(const Signature& signature) {
  const auto refuse = [](const SignatureTensor& tensor) {
    throw Error(ErrorKind::bad_data, "max_batch: dimension 0 of '" + printable(tensor.name) +
                                         "', " + describe(tensor) +
                                         ", has to be free, and to appear as no other dimension");
  };
  const auto each_tensor = [&](const auto& call) {
    for (const auto& each : signature.inputs) call(each);
    for (const auto& each : signature.outputs) call(each);
  };
  if (signature.inputs.empty())
    throw Error(ErrorKind::bad_data, "max_batch: the model has no inputs");
  each_tensor([&](const SignatureTensor& batched) {
    if (!batched.known_rank || batched.dimensions.empty() || batched.dimensions[0].value)
      refuse(batched);
    each_tensor([&](const SignatureTensor& other) {
      for (std::size_t i = 1; i < other.dimensions.size(); ++i)
        if (!batched.dimensions[0].symbol.empty() &&
            other.dimensions[i].symbol == batched.dimensions[0].symbol)
          refuse(other);
    });
  });
}

std::uint32_t Batcher::rows_of(const EngineRequest& request) const {
  const auto rows = request.inputs.front().shape.front();
  for (const auto& each : request.inputs)
    if (each.shape.front() != rows || each.bytes.size() == 0) return 0;
  return rows <= most_ ? rows : 0;
}

void Batcher::add(BatchMember&& member) {
  std::vector<Batch> ready;
  {
    const std::lock_guard lock(mutex_);
    if (running_ < lanes_) {  // then nobody waits
      ++running_;
      ready.emplace_back().push_back(std::move(member));
    } else {
      join(std::move(member), ready);
    }
  }
  for (auto& each : ready) start(std::move(each));
}

void Batcher::join(BatchMember&& member, std::vector<Batch>& ready) {
  auto key = key_of(member.request);
  auto group = std::find_if(groups_.begin(), groups_.end(),
                            [&](const auto& each) { return each.key == key; });
  const auto take = [&] {
    ready.push_back(std::move(group->batch));
    groups_.erase(group);
    group = groups_.end();
    ++running_;
  };
  if (group != groups_.end() && group->rows + member.rows > most_) take();
  if (group == groups_.end())
    group = groups_.insert(groups_.end(), Group{std::move(key), ++made_, {}, 0, nullptr});
  group->rows += member.rows;
  group->batch.push_back(std::move(member));
  if (group->rows == most_)
    take();
  else if (!group->window)
    wait(*group);
}

void Batcher::wait(Group& group) {
  group.window = std::make_unique<boost::asio::steady_timer>(timers_, window_);
  group.window->async_wait(
      [self = shared_from_this(), number = group.number](boost::system::error_code failed) {
        if (!failed) self->close(number);
      });
}

void Batcher::close(std::uint64_t number) {
  Batch batch;
  {
    const std::lock_guard lock(mutex_);
    const auto group = std::find_if(groups_.begin(), groups_.end(),
                                    [&](const auto& each) { return each.number == number; });
    if (group == groups_.end()) return;
    batch = std::move(group->batch);
    groups_.erase(group);
    ++running_;
  }
  start(std::move(batch));
}

Batch Batcher::next() {
  const std::lock_guard lock(mutex_);
  --running_;
  if (groups_.empty() || running_ >= lanes_) return {};
  auto batch = std::move(groups_.front().batch);
  groups_.pop_front();
  ++running_;
  return batch;
}

void Batcher::start(Batch batch) {
  for (; !batch.empty(); batch = next()) {
    // Nobody waits for some of its members any more.
    const auto now = std::chrono::steady_clock::now();
    Batch alive;
    for (auto& each : batch) {
      const auto& request = each.request;
      if (request.cancellation.cancelled())
        each.promise.resolve(
            Refusal(Status::cancelled, request.label + ": cancelled before it started"));
      else if (request.deadline && *request.deadline < now)
        each.promise.resolve(Refusal(Status::deadline, request.label + ": timed out"));
      else
        alive.push_back(std::move(each));
    }
    if (alive.empty()) continue;
    return run_(std::move(alive), [self = shared_from_this()] { self->start(self->next()); });
  }
}

}  // namespace polychron::server
