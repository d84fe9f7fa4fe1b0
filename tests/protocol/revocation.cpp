// The owner of a revoked lease's memory: clauses "leases" of docs/contract.md. It is the holder
// alone. It goes on writing while the world goes on, and neither sees the other.
#include <cstring>

#include "tests/protocol/rent.hpp"

using namespace polychron;
using namespace polychron::testing;

namespace {

/// The holder of a lease: writes one value after the other, and looks whether what it wrote last is
/// what it finds.
class Holder {
 public:
  Holder(Server& server, TensorLease lease) : server_(server), lease_(std::move(lease)) { write(); }

  /// Lets the world take up to `steps` steps and goes on writing between them.
  void go_on(std::size_t steps = std::size_t(-1)) {
    while (steps-- > 0 && server_.world.step()) {
      look();
      write();
    }
  }
  TensorLease& lease() { return lease_; }
  bool undisturbed() const { return undisturbed_; }

 private:
  void write() {
    ++last_;
    std::memcpy(lease_.bytes().data(), &last_, sizeof last_);
  }
  void look() {
    std::uint64_t found = 0;
    std::memcpy(&found, lease_.bytes().data(), sizeof found);
    if (found != last_) undisturbed_ = false;
  }

  Server& server_;
  TensorLease lease_;
  std::uint64_t last_ = 1000;
  bool undisturbed_ = true;
};

constexpr std::uint64_t most_seeds = 200;

/// With one lane and with three, under many schedules.
void with_each_seed(const std::function<void(Server&, std::uint64_t seed)>& test) {
  for (const int lanes : {1, 3})
    for (std::uint64_t seed = 1; seed <= most_seeds; ++seed) {
      ContextOptions options;
      options.lanes = lanes;
      BOOST_TEST_CONTEXT("lanes " << lanes << ", seed " << seed) {
        Server s(options, seed);
        test(s, seed);
      }
    }
}

/// The error of something that needed bytes which went with the lease.
void went_with_the_lease(const Result<std::uint64_t>& read) {
  const auto error = rejected(ErrorKind::operation_error, read);
  BOOST_TEST((error.root().kind() == ErrorKind::invalid_state), error.what());
  BOOST_TEST(mentions(error, "lease"), error.what());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(revocation)

BOOST_AUTO_TEST_CASE(what_waits_to_read_the_tensor_does_not_run) {
  with_each_seed([](Server& s, std::uint64_t seed) {
    const auto g = s.graph("g");
    auto leased = s.tensor("leased");
    const auto out = s.tensor("out"), next = s.tensor("next");
    s.write(leased, 3);
    Holder holder(s, rent(s, leased));
    s.dispatch(g, leased, out, {.label = "first"});
    s.dispatch(g, out, next, {.label = "second"});
    holder.go_on(seed % 11);
    leased.destroy();
    holder.go_on();
    BOOST_TEST(holder.lease().revoked());
    went_with_the_lease(s.read(out));
    went_with_the_lease(s.read(next));
    BOOST_TEST(holder.undisturbed());
    // Nothing is wrong with the tensors themselves.
    s.write(out, 4);
    s.dispatch(g, out, next);
    BOOST_TEST(s.read(next).value() == Server::result("g", 4));
  });
}

BOOST_AUTO_TEST_CASE(what_waits_to_overwrite_the_tensor_runs_on_other_memory) {
  with_each_seed([](Server& s, std::uint64_t seed) {
    const auto g = s.graph("g");
    const auto in = s.tensor("in"), out = s.tensor("out");
    auto leased = s.tensor("leased");
    s.write(in, 21);
    Holder holder(s, rent(s, leased));
    s.dispatch(g, in, leased);
    s.dispatch(g, leased, out);
    holder.go_on(seed % 11);
    leased.destroy();
    holder.go_on();
    BOOST_TEST(holder.undisturbed());
    BOOST_TEST(s.read(out).value() == Server::result("g", Server::result("g", 21)));
  });
}

BOOST_AUTO_TEST_CASE(a_write_that_waits_goes_to_other_memory) {
  with_each_seed([](Server& s, std::uint64_t seed) {
    const auto g = s.graph("g");
    const auto out = s.tensor("out");
    auto leased = s.tensor("leased");
    Holder holder(s, rent(s, leased));
    s.write(leased, 8);
    s.dispatch(g, leased, out);
    holder.go_on(seed % 11);
    leased.destroy();
    holder.go_on();
    BOOST_TEST(holder.undisturbed());
    BOOST_TEST(s.read(out).value() == Server::result("g", 8));
  });
}

BOOST_AUTO_TEST_CASE(who_asks_for_the_tensor_is_rejected) {
  with_each_seed([](Server& s, std::uint64_t seed) {
    auto leased = s.tensor("leased");
    Holder holder(s, rent(s, leased));
    auto read = s.context.read_tensor(leased);
    auto lent = s.context.read_tensor(leased, Buffer(8));
    auto query = leased.error();
    auto second = s.context.export_tensor(leased);
    holder.go_on(seed % 9);
    leased.destroy();
    holder.go_on();
    for (const bool ready : {read.ready(), lent.ready(), query.ready(), second.ready()})
      BOOST_REQUIRE(ready);
    rejected(ErrorKind::invalid_state, read.take());
    const auto back = lent.take();
    BOOST_TEST(back.value().buffer.size() == 8U);
    rejected(ErrorKind::invalid_state, back.value().status);
    rejected(ErrorKind::invalid_state, query.take());
    rejected(ErrorKind::invalid_state, second.take());
    BOOST_TEST(holder.undisturbed());
    BOOST_TEST(s.context.stats().in_flight == 0U);
  });
}

BOOST_AUTO_TEST_CASE(what_the_holder_has_counts_until_it_lets_go) {
  if (needs_the_processor("its graphs have constants, which count too")) return;
  with_each_seed([](Server& s, std::uint64_t seed) {
    const auto g = s.graph("g");
    const auto in = s.tensor();
    auto leased = s.tensor();
    Holder holder(s, rent(s, leased));
    s.dispatch(g, in, leased);
    holder.go_on(seed % 11);
    leased.destroy();
    holder.go_on();
    BOOST_TEST(s.context.stats().bytes == 16U);  // what `in` has, and the holder
    holder.lease().return_now();
    s.world.run();
    BOOST_TEST(s.context.stats().bytes == 8U);
    BOOST_TEST(s.context.stats().tensors == 1U);
  });
}

BOOST_AUTO_TEST_CASE(a_lost_context_leaves_the_memory_to_its_holder) {
  with_each_seed([](Server& s, std::uint64_t seed) {
    const auto g = s.graph("g");
    const auto in = s.tensor(), leased = s.tensor(), out = s.tensor();
    Holder holder(s, rent(s, leased));
    s.dispatch(g, in, leased);
    s.dispatch(g, leased, out);
    auto read = s.context.read_tensor(out);
    holder.go_on(seed % 13);
    s.context.destroy();
    holder.go_on();
    BOOST_TEST(holder.lease().revoked());
    BOOST_TEST(holder.undisturbed());
    rejected(ErrorKind::invalid_state, read.take());
    BOOST_TEST(s.context.stats().bytes == 8U);
    holder.lease().return_now();
    s.world.run();
    BOOST_TEST(s.context.stats().bytes == 0U);
    BOOST_TEST(s.world.registry().present().empty());
  });
}

BOOST_AUTO_TEST_CASE(an_export_that_is_not_granted_yet_settles) {
  with_each_seed([](Server& s, std::uint64_t seed) {
    auto leased = s.tensor();
    auto asked = s.context.export_tensor(leased);
    for (std::uint64_t i = 0; i < seed % 7; ++i) s.world.step();
    leased.destroy();
    s.world.run();
    BOOST_REQUIRE(asked.ready());
    auto lease = asked.take();
    if (lease)
      BOOST_TEST(lease.value().revoked());
    else
      rejected(ErrorKind::invalid_state, lease);
    lease = Error(ErrorKind::internal, "let go");
    s.world.run();
    BOOST_TEST(s.context.stats().bytes == 0U);
  });
}

BOOST_AUTO_TEST_SUITE_END()
