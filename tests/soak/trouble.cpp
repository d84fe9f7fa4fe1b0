// Leases, error scopes, queries and callbacks of the soak.
#include <algorithm>
#include <cstring>

#include "tests/soak/worker.hpp"

namespace polychron::soak {

namespace {

void fill(const TensorLease& lease, float value) {
  const std::vector<float> values(4, value);
  std::memcpy(lease.bytes().data(), values.data(), 16);
}

/// Replies that must be rejected: their bytes would belong to others.
template <class T>
std::string refused(const Result<T>& result) {
  return result ? "expected a rejection, got a value" : std::string();
}

/// A tensor of a chain's own, and how far the chain is. Each read's callback checks what the calls
/// before made, and makes the next.
struct Chain : std::enable_shared_from_this<Chain> {
  Chain(Tally& t, std::shared_ptr<Site> s, Held h, int n)
      : tally(t), site(std::move(s)), held(std::move(h)), left(n) {
    ++*site->open;
  }
  ~Chain() {
    held = {};
    --*site->open;
  }
  void next() {
    if (left-- == 0) return;
    try {
      const auto value = static_cast<float>(left);
      site->context.write_tensor(held.tensor, std::vector<float>(4, value));
      held.value = value;
      if (rebuilt && left % 2 == 0) {  // waiting in a callback is allowed
        const auto bytes = site->context.read_tensor(held.tensor).get();
        const auto complaint = compare(bytes.bytes(), held.value);
        if (!complaint.empty()) tally.complain("a get() in a callback: " + complaint);
      }
      site->check_limits(tally);
    } catch (const Error& error) {
      tally.judge(error, "thrown in a callback");
      if (site->gone()) return;
    }
    auto future = site->context.read_tensor(held.tensor);
    expect(tally, site->open, std::move(future), "read in a chain",
           [self = shared_from_this()](const Result<Buffer>& bytes) {
             auto complaint =
                 bytes ? compare(bytes.value().bytes(), self->held.value) : std::string();
             self->next();
             return complaint;
           });
  }

  Tally& tally;
  const std::shared_ptr<Site> site;
  Held held;
  int left;
};

}  // namespace

void Worker::rent(Held& held) {
  doing_ = "rent";
  ++tally_.leases;
  auto lease = context().export_tensor(held.tensor).get();
  const auto complaint = compare(lease.bytes(), held.value);
  if (!complaint.empty()) tally_.complain("a lease: " + complaint);
  if (once_in(2)) {
    const auto value = static_cast<float>(below(1000));
    fill(lease, value);
    held.value = value;
  }
  read(held);  // waits for the lease, and sees what was written
  if (once_in(2)) lease.return_now();
}

void Worker::rent_alone(Held& held) {
  doing_ = "rent in mode fail";
  ++tally_.leases;
  auto& out = any();
  const auto lease = context().export_tensor(held.tensor, LeaseMode::fail).get();
  const auto complaint = compare(lease.bytes(), held.value);
  if (!complaint.empty()) tally_.complain("a lease in mode fail: " + complaint);
  expect(tally_, site_->open, context().read_tensor(held.tensor), "read of what is on lease",
         [](const Result<Buffer>& bytes) { return refused(bytes); });
  // A refused write leaves the tensor alone: the model does not note it.
  context().write_tensor(held.tensor, std::vector<float>(4, -3.0F), {label_});
  if (&out != &held && sum_.shift) {
    context().dispatch(sum_.graph, {{"a", held.tensor}}, {{"out", out.tensor}}, {.label = label_});
    out.value.reset();
  }
  auto query = held.tensor.error();
  expect(tally_, site_->open, std::move(query), "query of what is on lease",
         [](const Result<std::optional<Error>>& error) {
           return rebuilt ? refused(error) : std::string();
         });
}

void Worker::revoke() {
  doing_ = "revoke";
  ++tally_.leases;
  Held doomed = std::move(tensors_.front());
  tensors_.pop_front();
  auto& out = any();
  const Tensor written = out.tensor;
  auto lease = context().export_tensor(doomed.tensor).get();
  const auto told = std::make_shared<std::atomic<int>>(0);
  lease.on_revoked([told] {
    ++*told;
    told->notify_all();
  });
  const bool depends = sum_.shift.has_value();
  if (depends) {
    context().dispatch(sum_.graph, {{"a", doomed.tensor}}, {{"out", out.tensor}},
                       {.label = label_});
    out.value.reset();  // its input goes with the lease
  }
  doomed.tensor.destroy();
  if (depends && rebuilt) read(out);
  doing_ = "revoke: wait to be told";
  told->wait(0);
  fill(lease, -2.0F);  // legal, and nobody sees it
  if (!lease.revoked()) tally_.complain("told of a revocation, but the lease is not revoked");
  lease.return_now();
  if (*told != 1) tally_.complain("on_revoked ran " + std::to_string(*told) + " times");
  if (depends && !rebuilt)  // nobody knows what it holds
    std::erase_if(tensors_, [&](const Held& held) { return held.tensor == written; });
}

void Worker::watch() {
  doing_ = "watch";
  ++tally_.scopes;
  // Another worker of the same context may pop it first: only what is popped is looked at.
  context().push_error_scope(ErrorFilter::internal);
  try {
    dispatch();
  } catch (const Error& error) {
    tally_.judge(error, "thrown in a scope");
  }
  expect(tally_, site_->open, context().pop_error_scope(), "pop",
         [&tally = tally_](const Result<std::optional<Error>>& popped) {
           if (popped && popped.value()) tally.judge(*popped.value(), "captured");
           return std::string();
         });
}

void Worker::watch_alone() {
  doing_ = "watch alone";
  const auto site = site_;
  const auto alone = site->close_off();
  if (tensors_.size() < 3 || !site->comes_to_rest(tally_)) return;
  ++tally_.scopes;
  label_ = "watched call " + std::to_string(++calls_);
  const auto filter = static_cast<ErrorFilter>(below(3));
  context().push_error_scope(filter);
  std::vector<std::string> thrown;
  const auto attempt = [&](auto call) {
    try {
      call();
    } catch (const Error& error) {
      if (filter_of(error) == filter) thrown.emplace_back(error.root().message());
    }
  };
  for (auto calls = 1 + below(4); calls > 0; --calls) {
    if (once_in(4))
      attempt([&] { context().write_tensor(any().tensor, std::vector<float>(3)); });
    else if (once_in(3))
      attempt([&] { write(any()); });
    else
      attempt([&] { dispatch(); });
  }
  doing_ = "watch alone: pop";
  const auto popped = context().pop_error_scope().take();
  if (!popped) return tally_.judge(popped.error(), "pop alone");
  const auto& error = popped.value();
  const auto filter_name = std::string(to_string(filter));
  if (!error) {
    if (!thrown.empty())
      tally_.complain("a scope for " + filter_name + " missed '" + thrown[0] + "'");
    return;
  }
  if (filter_of(*error) != filter)
    tally_.complain("a scope for " + filter_name + " took " + error->what());
  const auto text = std::string(error->what());
  const bool inside = text.find("'" + label_ + "'") != std::string::npos ||
                      std::ranges::find(thrown, error->root().message()) != thrown.end();
  if (!inside) tally_.complain("a scope of '" + label_ + "' took an error from outside: " + text);
}

void Worker::query(const Held& held) {
  doing_ = "query";
  // The two see the same moment of the tensor: nobody else writes it.
  struct Both {
    std::optional<Result<std::optional<Error>>> error;
    std::optional<Result<Buffer>> bytes;
    std::mutex mutex;
    std::string compare() const {
      if (!error || !bytes || !*error) return {};
      const auto& known = error->value();
      if (known && *bytes)
        return std::string("the tensor has an error, ") + known->what() + ", but could be read";
      if (known || *bytes || bytes->error().kind() != ErrorKind::operation_error) return {};
      const auto text = std::string(bytes->error().what());
      return text.find("injected") == std::string::npos
                 ? "the tensor has no error, but a read gave " + text
                 : std::string();
    }
  };
  const auto both = std::make_shared<Both>();
  expect(tally_, site_->open, held.tensor.error(), "query",
         [both, value = held.value, &tally = tally_](const Result<std::optional<Error>>& error) {
           if (error && error.value()) tally.judge(*error.value(), "a tensor's error");
           if (error && !error.value() && !value) return std::string("expected an error, got none");
           const std::lock_guard lock(both->mutex);
           both->error = error;
           return both->compare();
         });
  expect(tally_, site_->open, context().read_tensor(held.tensor), "read beside a query",
         [both, value = held.value](const Result<Buffer>& bytes) {
           const auto complaint = bytes ? compare(bytes.value().bytes(), value) : std::string();
           if (!complaint.empty()) return complaint;
           const std::lock_guard lock(both->mutex);
           if (bytes)
             both->bytes.emplace(Buffer());
           else
             both->bytes.emplace(bytes.error());
           return both->compare();
         });
}

void Worker::chain() {
  doing_ = "chain";
  ++tally_.chains;
  auto tensor = context().create_tensor({four_, true, true, "chain"}).get();
  auto entry = site_->note_tensor(tensor);
  const auto links = 1 + static_cast<int>(below(6));
  std::make_shared<Chain>(tally_, site_, Held{std::move(tensor), 0.0F, std::move(entry)}, links)
      ->next();
}

}  // namespace polychron::soak
