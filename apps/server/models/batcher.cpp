#include "models/batcher.hpp"

#include <algorithm>
#include <polychron/invariant.hpp>
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

/// True if nobody waits for it any more. Its promise is then settled.
bool has_left(const BatchMember& member, std::chrono::steady_clock::time_point now) {
  const auto& request = member.request;
  if (request.cancellation.cancelled())
    member.refuse(Status::cancelled, "cancelled before it started");
  else if (request.begin_by && *request.begin_by < now)
    member.refuse(Status::deadline, "timed out");
  else
    return false;
  return true;
}

}  // namespace

void BatchMember::refuse(Status status, std::string_view why) const noexcept try {
  const auto retry = status == Status::unavailable ? std::optional(1) : std::nullopt;
  const auto prefix = request.label.empty() ? "" : request.label + ": ";
  promise.resolve(Refusal(status, prefix + std::string(why), retry));
} catch (const std::bad_alloc&) {
}

void Batcher::check(const Signature& signature, const ModelConfig& config) {
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
    const auto& symbol = batched.dimensions[0].symbol;
    const auto size = config.sizes.find(symbol);
    if (size != config.sizes.end() && size->second.most < config.max_batch)
      throw Error(ErrorKind::bad_data, "max_batch: " + std::to_string(config.max_batch) +
                                           " rows, but 'sizes' allows at most " +
                                           std::to_string(size->second.most) + " of '" +
                                           printable(symbol) + "'");
    each_tensor([&](const SignatureTensor& other) {
      for (std::size_t i = 1; i < other.dimensions.size(); ++i)
        if (!symbol.empty() && other.dimensions[i].symbol == symbol) refuse(other);
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
  // All that can throw comes before the first change.
  check_invariant(member.rows > 0 && member.rows <= most_,
                  "a member of a batch has 1 to max_batch rows");
  check_invariant(rows_of(member.request) == member.rows, "the inputs of a member have its rows");
  Groups fresh(1), ready;
  fresh.front().key = key_of(member.request);
  fresh.front().rows = member.rows;
  fresh.front().batch.push_back(std::move(member));
  {
    const std::lock_guard lock(mutex_);
    fresh.front().number = ++made_;
    if (running_ < lanes_) {  // then nobody waits
      ++running_;
      ready.splice(ready.end(), fresh);
    } else {
      join(fresh, ready);
    }
  }
  for (auto& each : ready) start(std::move(each.batch));
}

void Batcher::join(Groups& fresh, Groups& ready) noexcept {
  auto& member = fresh.front();
  auto group = std::find_if(groups_.begin(), groups_.end(),
                            [&](const auto& each) { return each.key == member.key; });
  const auto take = [&] {
    ready.splice(ready.end(), groups_, group);
    group = groups_.end();
    ++running_;
  };
  if (group != groups_.end() && group->rows + member.rows > most_) take();
  if (group == groups_.end()) {
    group = fresh.begin();
    groups_.splice(groups_.end(), fresh);
  } else {
    group->rows += member.rows;
    group->batch.splice(group->batch.end(), member.batch);
  }
  if (group->rows == most_)
    take();
  else if (!group->window)
    wait(*group);
}

void Batcher::wait(Group& group) noexcept try {
  group.window = std::make_unique<boost::asio::steady_timer>(timers_, window_);
  group.window->async_wait(
      [self = shared_from_this(), number = group.number](boost::system::error_code failed) {
        if (!failed) self->close(number);
      });
} catch (const std::bad_alloc&) {
  // It goes without its window: when a lane is free.
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
    const auto now = std::chrono::steady_clock::now();
    std::erase_if(batch, [now](const auto& each) { return has_left(each, now); });
    if (batch.empty()) continue;
    try {
      return run_(std::move(batch), [self = shared_from_this()] { self->start(self->next()); });
    } catch (const std::bad_alloc&) {
      for (const auto& each : batch) each.refuse(Status::unavailable, "out of memory");
    }
  }
}

}  // namespace polychron::server
