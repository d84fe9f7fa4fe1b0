#include "tests/soak/worker.hpp"

namespace polychron::soak {

using stress::FaultPoint;

void Worker::run(std::chrono::steady_clock::time_point until) {
  while (std::chrono::steady_clock::now() < until) {
    try {
      step();
      if (site_) site_->check_limits(tally_);
    } catch (const Error& error) {
      ++tally_.thrown;  // a fault, or a context that has just been lost
      tally_.judge(error, std::string("thrown in ") + doing_.load());
      if (site_ && site_->gone()) leave();
    }
  }
  doing_ = "leaving";
  leave();
  doing_ = "nothing any more";
}

void Worker::step() {
  if (!site_) return open();
  const auto choice = below(60);
  if (choice == 0) return rest();  // these two want the context for themselves
  if (choice == 1) return watch_alone();
  const auto site = site_;
  const auto visit = site->visit();
  label_ = "call " + std::to_string(++calls_);
  if (tensors_.size() < 3) return create();
  auto& held = any();
  switch (choice) {
    case 2:
      return once_in(20) ? close() : create();
    case 3:
      return destroy();
    case 4:
    case 5:
      return rent(held);
    case 6:
      return rent_alone(held);
    case 7:
      return revoke();
    case 8:
    case 9:
      return compute();
    case 10:
      doing_ = "build";
      ++tally_.builds;
      return expect(tally_, site_->open, build_sum({}), "build");
    case 11:
      return replace_graph();
    case 12:
    case 13:
      return query(held);
    case 14:
      return watch();
    case 15:
    case 16:
      return chain();
    case 17:
      doing_ = "pending";
      return expect(tally_, site_->open, context().pending(), "pending");
    default:
      break;
  }
  if (once_in(3)) return write(held);
  if (once_in(2)) return dispatch();
  if (once_in(4)) return read_into_span(held);
  read(held);
}

void Worker::open() {
  doing_ = "open";
  if (once_in(2)) {
    create_context();
  } else {
    const std::lock_guard lock(world_.mutex);
    if (!world_.commons || world_.commons->gone()) {
      create_context();
      world_.commons = site_;
    }
    site_ = world_.commons;
  }
  const auto site = site_;
  const auto visit = site->visit();
  try {
    sum_ = make_sum();
  } catch (const Error&) {
    leave();
    throw;
  }
}

void Worker::create_context() {
  ContextOptions options;
  options.lanes = 1 + static_cast<int>(below(3));
  options.threads = static_cast<int>(below(3));  // 0: what others leave
  options.max_in_flight = once_in(2) ? 16 : 64;
  options.admission = once_in(2) ? AdmissionPolicy::block : AdmissionPolicy::fail;
  if (once_in(4)) options.memory_limit = 1024;
  auto context = world_.runtime.create_context(options).get();
  site_ = std::make_shared<Site>(context, options);
  context.on_uncaptured_error([&tally = tally_](const Error& error) {
    ++tally.uncaptured;
    if (error.kind() != ErrorKind::type_error) tally.judge(error, "uncaptured");  // see watch_alone
  });
  ++tally_.contexts;
  const auto apart = std::make_shared<Open>(0);  // this one reply comes at the end
  expect(tally_, apart, context.lost(), "lost", [](const Result<LostInfo>& info) {
    if (!info) return std::string("rejected");
    const auto& why = info.value();
    const bool known = why.reason == LostReason::destroyed ||
                       why.reason == LostReason::runtime_shutdown ||
                       (why.reason == LostReason::device_failed &&
                        why.message.find("injected") != std::string::npos);
    return known ? std::string() : "nobody did that: " + why.message;
  });
}

Future<Graph> Worker::build_sum(const Tensor& constant) {
  GraphBuilder builder(context());
  const auto a = builder.input("a", four_);
  const auto b = constant ? builder.constant(constant) : builder.input("b", four_);
  return builder.build({{"out", builder.add(a, b)}});
}

Sum Worker::make_sum() {
  ++tally_.builds;
  Sum sum;
  if (once_in(2)) {
    sum.shift = static_cast<float>(below(100));
    const std::vector<float> values(4, *sum.shift);
    sum.constant =
        context().create_constant_tensor(four_, std::as_bytes(std::span(values)), "shift").get();
    sum.constant_entry = site_->note_tensor(sum.constant);
  }
  sum.graph = build_sum(sum.constant).get();
  sum.entry = site_->note_graph(sum.graph);
  return sum;
}

void Worker::create() {
  doing_ = "create";
  auto tensor = context().create_tensor({four_, true, true, {}}).get();
  auto entry = site_->note_tensor(tensor);
  tensors_.push_back({std::move(tensor), 0.0F, std::move(entry)});
  ++tally_.tensors;
}

void Worker::destroy() {
  doing_ = "destroy";
  if (once_in(2)) tensors_.front().tensor.destroy();
  tensors_.pop_front();
}

void Worker::replace_graph() {
  doing_ = "replace graph";
  auto next = make_sum();
  if (once_in(2)) sum_.graph.destroy();
  std::swap(sum_, next);
}

void Worker::close() {
  doing_ = "close";
  ++tally_.lost;
  if (once_in(2)) {
    context().destroy();
  } else {  // the device is gone at the next kernel
    world_.faults.fail(FaultPoint::execute, 1, {.kind = ErrorKind::context_lost});
    dispatch();
  }
  leave();
}

void Worker::leave() {
  tensors_.clear();
  sum_ = {};
  if (site_ && site_->gone()) {
    const std::lock_guard lock(world_.mutex);
    world_.graveyard.push_back(site_);
    if (world_.graveyard.size() > 64) world_.graveyard.pop_front();
  }
  site_.reset();
}

void Worker::rest() {
  doing_ = "rest";
  const auto site = site_;
  const auto alone = site->close_off();
  if (!site->comes_to_rest(tally_)) return;
  const auto pending = context().pending().take();
  if (!pending) return tally_.judge(pending.error(), "pending at rest");
  if (!pending.value().empty())
    tally_.complain("at rest: " + pending.value()[0].operation + " is pending");
}

}  // namespace polychron::soak
