// A context's actor, as an embedder on CAF uses it: monitored, linked, asked.
#include <caf/all.hpp>
#include <chrono>

#include "polychron/caf.hpp"
#include "tests/api/fixture.hpp"

using namespace polychron;
using namespace polychron::testing;

namespace {

struct Hosted {
  caf::actor_system_config config;
  caf::actor_system system{config};
  Runtime runtime = make_runtime(system);
  caf::scoped_actor self{system};

  Context context() { return runtime.create_context().get(); }
  /// Until the one that is monitored has gone.
  caf::down_msg await_down() {
    caf::down_msg heard;
    self->receive([&](const caf::down_msg& m) { heard = m; });
    return heard;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(caf_actors)

BOOST_AUTO_TEST_CASE(who_monitors_hears_of_the_end) {
  Hosted h;
  auto context = h.context();
  const auto actor = actor_of(context);
  h.self->monitor(actor);
  context.destroy();
  BOOST_TEST((h.await_down().source == actor.address()));
  h.self->monitor(actor);  // one that has gone
  BOOST_TEST((h.await_down().source == actor.address()));
}

BOOST_AUTO_TEST_CASE(who_is_ended_by_a_link_loses_its_context) {
  Hosted h;
  auto context = h.context();
  auto lost = context.lost();
  {
    caf::scoped_actor host{h.system};  // ends with this block
    caf::actor_cast<caf::abstract_actor*>(actor_of(context))->add_link(host.ptr());
  }
  const auto info = lost.get();
  BOOST_TEST((info.reason == LostReason::device_failed));
  BOOST_TEST(info.message.find("the context's actor was ended") != std::string::npos, info.message);
}

BOOST_AUTO_TEST_CASE(who_asks_is_told_that_nobody_answers) {
  Hosted h;
  auto context = h.context();
  const auto actor = actor_of(context);
  const auto ask = [&] {
    caf::error answer;
    h.self->request(actor, caf::infinite, 42)
        .receive([] { BOOST_ERROR("an answer"); }, [&](const caf::error& e) { answer = e; });
    return answer;
  };
  BOOST_TEST((ask() == caf::sec::unexpected_message));
  h.self->send(actor, 42);  // a message without a request is ignored
  const auto t = context.create_tensor({{DataType::float32, {1}}, true, true, {}}).get();
  context.write_tensor(t, std::vector<float>{7});
  BOOST_TEST(context.read_tensor(t).get().to_vector<float>()[0] == 7.0F);
  h.self->monitor(actor);
  context.destroy();
  static_cast<void>(h.await_down());
  BOOST_TEST(static_cast<bool>(ask()));
}

BOOST_AUTO_TEST_SUITE_END()
