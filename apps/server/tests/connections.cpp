// The connections that strangers may hold.
#include "http/connections.hpp"

#include <boost/test/unit_test.hpp>
#include <list>

#include "rig.hpp"

namespace polychron::server::tests {

namespace {

/// Connections whose ends are noted.
struct Table {
  explicit Table(Connections::Limits limits) : all(limits) {}
  std::optional<Connections::Place> enter(int name, unsigned char address = 1) {
    Peer peer{};
    peer.back() = address;
    return all.enter(peer, [this, name](End which) {
      ended += std::to_string(name) + (which == End::if_idle ? "i " : "w ");
    });
  }
  Connections all;
  std::string ended;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(connections)

BOOST_AUTO_TEST_CASE(clients_that_stop_sending_lock_nobody_out) {
  const Rig rig({"simple"}, [](auto& options) { options.http.connections = 32; });
  const std::string heads[] = {
      head_text("POST", infer_simple, "Transfer-Encoding: chunked\r\n") + "5\r\nab",
      head_text("POST", infer_simple, "Content-Length: 50\r\n") + "{", head_text("GET", "/", ""),
      "GE"};
  std::list<Client> attackers;
  int answers = 0;
  for (int i = 0; i < 100; ++i) {
    attackers.emplace_back(rig.port()).send(heads[i % 4]);
    Client victim(rig.port());
    answers += victim.get(live).status == 200;
    answers += victim.post(infer_simple, simple_request()).status == 200;
  }
  BOOST_TEST(answers == 200);
  // The first one with a body was told why.
  BOOST_TEST(attackers.front().receive().value().status == 503);
  attackers.clear();
  until([&] { return rig.app->service().metrics.connections.Value() == 0; });
  BOOST_TEST(rig.app->service().budget.used() == 0U);
}

BOOST_AUTO_TEST_CASE(an_address_ends_its_own_connections) {
  const Rig rig({"simple"}, [](auto& options) {
    options.http.connections = 40;
    options.http.connections_of_address = 30;
  });
  std::list<Client> victims, attackers;
  for (int i = 0; i < 20; ++i) victims.emplace_back(rig.port(), "127.0.0.2").get(live);
  for (int i = 0; i < 200; ++i) {
    attackers.emplace_back(rig.port(), "127.0.0.3")
        .send(head_text("POST", infer_simple, "Content-Length: 50\r\n"));
    if (i % 3 == 0) attackers.emplace_back(rig.port(), "127.0.0.3").get(live);
  }
  for (auto& victim : victims) BOOST_TEST(victim.get(live).status == 200);
  BOOST_TEST(rig.app->service().metrics.connections.Value() <= 40);
}

BOOST_AUTO_TEST_CASE(health_checks_have_a_reserve) {
  std::list<Promise<EngineOutcome>> held_requests;
  Rig rig({"simple"}, [&](auto& options) {
    options.http.connections = 16;  // of which one runs nothing
    options.io_threads = 1;
    options.engines["holds"] = [&](const EngineOrigin&, const EngineHost&) {
      return std::make_shared<Holding>(held_requests);
    };
  });
  rig.folder.write("holds/config.json", R"({"code": "holds"})");
  rig.look();
  std::list<Client> busy;
  for (int i = 0; i < 15; ++i)
    busy.emplace_back(rig.port())
        .send(post_text("/v2/models/holds/infer", copy_request("FP32", "[1]", 1)));
  until([&] { return rig.model("holds")->in_flight() == 15; });
  for (int i = 0; i < 20; ++i) {
    Client client(rig.port());
    BOOST_TEST(client.get(live).status == 200);
    const auto refused = client.post(infer_simple, simple_request());
    BOOST_TEST(refused.status == 503);
    BOOST_TEST(refused.headers.count("retry-after") == 1U);
  }
  for (auto& each : held_requests)
    each.resolve(EngineOutcome(Refusal(Status::unavailable, "enough", 1)));
  for (auto& client : busy) BOOST_TEST(client.receive().value().status == 503);
  BOOST_TEST(busy.front().post(infer_simple, simple_request()).status == 200);
}

BOOST_AUTO_TEST_CASE(those_that_wait_for_their_client_longest_end_first) {
  using State = Connections::State;
  Table table({4, 4});
  const auto first = *table.enter(1), second = *table.enter(2), third = *table.enter(3),
             fourth = *table.enter(4);
  table.all.wait(second, State::transferring);
  table.all.wait(first, State::transferring);
  BOOST_TEST(table.all.run(third, false));
  table.enter(5);
  BOOST_TEST(table.ended == "4i ");
  table.all.wait(second, State::transferring);  // it gets on
  table.enter(6);
  BOOST_TEST(table.ended == "4i 1w ");
  table.all.wait(fourth, State::transferring);  // its request had come: now it is one too many
  table.enter(7);
  BOOST_TEST(table.ended == "4i 1w 5i 2w ");
  table.all.remove(fourth);
  table.enter(8);  // in place of the fourth
  BOOST_TEST(table.ended == "4i 1w 5i 2w ");
  table.all.wait(third, State::transferring);
  table.enter(9);
  table.enter(10);
  table.enter(11);
  BOOST_TEST(table.ended == "4i 1w 5i 2w 6i 7i 8i ");
  table.enter(12);
  BOOST_TEST(table.ended == "4i 1w 5i 2w 6i 7i 8i 3w ");
  table.all.remove(first);
  table.all.remove(third);
  BOOST_TEST(table.all.size() == 9U);
}

BOOST_AUTO_TEST_CASE(the_largest_address_ends_first) {
  Table table({6, 4});
  for (int i = 1; i <= 2; ++i) table.enter(i, 1);
  for (int i = 3; i <= 6; ++i) table.all.wait(*table.enter(i, 2), Connections::State::transferring);
  const auto seventh = *table.enter(7, 3);
  BOOST_TEST(table.ended == "3w ");  // not the older ones of the small address
  table.enter(8, 2);                 // the fourth of its address, the seventh of all
  BOOST_TEST(table.ended == "3w 4w ");
  table.all.remove(seventh);
  table.enter(9, 2);
  BOOST_TEST(table.ended == "3w 4w ");
  table.enter(10, 2);  // its address is at its own limit
  BOOST_TEST(table.ended == "3w 4w 5w ");
}

BOOST_AUTO_TEST_CASE(one_in_sixteen_does_not_run) {
  for (const bool of_address : {false, true}) {
    Table table(of_address ? Connections::Limits{100, 32} : Connections::Limits{32, 100});
    std::vector<Connections::Place> places;
    for (int i = 0; i < 32; ++i) places.push_back(*table.enter(i));
    for (int i = 0; i < 30; ++i)
      BOOST_TEST(table.all.run(places[static_cast<std::size_t>(i)], false));
    BOOST_TEST(!table.all.run(places[30], false));
    BOOST_TEST(table.all.run(places[30], true));
    BOOST_TEST(table.all.run(places[31], true));
    BOOST_TEST(!table.enter(40));  // all run
    for (const auto place : places) table.all.wait(place, Connections::State::idle);
    BOOST_TEST(table.all.run(places[31], false));
    BOOST_TEST(table.enter(41).has_value());
    BOOST_TEST(table.ended == "0i ");
  }
}

BOOST_AUTO_TEST_CASE(addresses_of_clients) {
  const auto peer = [](const char* text) { return peer_of(boost::asio::ip::make_address(text)); };
  BOOST_TEST((peer("127.0.0.1") == peer("::ffff:127.0.0.1")));
  BOOST_TEST((peer("127.0.0.1") != peer("127.0.0.2")));
  BOOST_TEST((peer("2001:db8:1:2::3") == peer("2001:db8:1:2:ffff::4")));
  BOOST_TEST((peer("2001:db8:1:2::3") != peer("2001:db8:1:3::3")));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::server::tests
