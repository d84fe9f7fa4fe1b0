// More than the server can do: limits, deadlines, clients that leave, the end.
#include <boost/test/unit_test.hpp>
#include <list>
#include <thread>

#include "rig.hpp"

namespace polychron::server::tests {

using namespace std::chrono_literals;

namespace {

const std::string infer_slow = "/v2/models/slow/infer";

bool counted(const Rig& rig, const std::string& line) {
  return rig.app->service().metrics.text().find(line) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(load)

BOOST_AUTO_TEST_CASE(a_full_queue_refuses_at_once) {
  const Rig rig({"slow", "simple"}, [](auto& options) { options.model.in_flight = 2; });
  const auto model = rig.model("slow");
  // Two wait or run; whichever comes then is refused, and told when to come again.
  std::list<Client> busy;
  for (int i = 0; i < 2; ++i)
    busy.emplace_back(rig.port()).send(post_text(infer_slow, slow_request()));
  until([&] { return model->in_flight() == 2; });
  Client late(rig.port());
  const auto refused = late.post(infer_slow, slow_request());
  BOOST_TEST(refused.status == 429);
  BOOST_TEST(std::stoi(refused.headers.at("retry-after")) >= 1);
  BOOST_TEST(refused.body.find("2 requests wait or run, at most 2") != std::string::npos,
             refused.body);
  // Another model is not affected.
  BOOST_TEST(late.post("/v2/models/simple/infer", simple_request()).status == 200);
  for (auto& client : busy) BOOST_TEST(client.receive().value().status == 200);
  BOOST_TEST(late.post(infer_slow, slow_request()).status == 200);
}

BOOST_AUTO_TEST_CASE(a_burst_of_short_requests_is_no_overload) {
  // Holds all requests while `hold` is set.
  struct Holder final : Engine {
    const Signature& signature() const override { return signature_; }
    std::vector<Context> contexts() const override { return {}; }
    Future<EngineOutcome> infer(EngineRequest&&) override {
      Promise<EngineOutcome> promise;
      if (!hold) promise.resolve(EngineAnswer{});
      held.push_back(promise);
      return promise.future();
    }
    Signature signature_;
    bool hold = false;
    std::vector<Promise<EngineOutcome>> held;
  };
  const auto engine = std::make_shared<Holder>();
  Rig rig({}, [&](auto& options) {
    options.engines["holds"] = [&](const auto&, const auto&) { return engine; };
  });
  rig.folder.write("m/config.json", R"({"code": "holds", "in_flight": 4})");
  rig.look();
  const auto model = rig.model("m");
  /// How many of 500 requests at once are accepted.
  const auto burst = [&] {
    engine->hold = true;
    std::vector<Future<Outcome>> answers;
    for (int i = 0; i < 500; ++i) answers.push_back(model->infer({}, {}));
    const auto accepted = model->in_flight();
    engine->hold = false;
    for (const auto& each : std::exchange(engine->held, {})) each.resolve(EngineAnswer{});
    until([&] { return model->in_flight() == 0; });
    return accepted;
  };
  // Nobody knows yet how long one takes: the places count.
  engine->hold = true;
  std::list<Future<Outcome>> first;
  for (int i = 0; i < 5; ++i) first.push_back(model->infer({}, {}));
  BOOST_TEST(model->in_flight() == 4U);
  engine->hold = false;
  for (const auto& each : std::exchange(engine->held, {})) each.resolve(EngineAnswer{});
  const auto ask_for = [&](std::chrono::nanoseconds time) {
    engine->hold = time > 0ns;
    auto answer = model->infer({}, {});
    const auto end = std::chrono::steady_clock::now() + time;
    until([&] { return std::chrono::steady_clock::now() >= end; });
    for (const auto& each : std::exchange(engine->held, {})) each.resolve(EngineAnswer{});
    until([&] { return model->in_flight() == 0; });
  };
  // They are short: 500 take less than 250 ms.
  until([&] {
    ask_for(0ns);
    return model->usual_time() < 100us;
  });
  BOOST_TEST(burst() == 500U);
  // They are long: as many as take 250 ms.
  until([&] {
    ask_for(100ms);
    return model->usual_time() > 20ms;
  });
  const auto many = static_cast<std::uint64_t>(250ms / model->usual_time());
  BOOST_TEST(burst() == std::max<std::uint64_t>(many, 4));
}

BOOST_AUTO_TEST_CASE(a_lone_client_never_meets_its_own_request) {
  const Rig rig({"simple"}, [](auto& options) { options.model.in_flight = 1; });
  Client client(rig.port());
  int refused = 0;
  for (int i = 0; i < 3000; ++i)
    refused += client.post("/v2/models/simple/infer", simple_request()).status != 200;
  BOOST_TEST(refused == 0);
}

/// The head of a request whose body does not come yet.
std::string head_alone(std::size_t length, const std::string& more = {}) {
  return "POST " + infer_slow + " HTTP/1.1\r\nHost: t\r\n" + more +
         "Content-Length: " + std::to_string(length) + "\r\n\r\n";
}

BOOST_AUTO_TEST_CASE(a_full_queue_refuses_before_the_body) {
  const Rig rig({"slow"}, [](auto& options) { options.model.in_flight = 1; });
  Client busy(rig.port()), late(rig.port()), asks(rig.port()), chunked(rig.port());
  busy.send(post_text(infer_slow, slow_request()));
  until([&] { return rig.model("slow")->in_flight() == 1; });
  const std::string body(300'000, ' ');
  late.send(head_alone(body.size()));
  BOOST_TEST(late.receive().value().status == 429);
  // The client sends it all the same. The connection serves its next request.
  late.send(body);
  BOOST_TEST(late.get("/v2/health/live").status == 200);
  // Bytes of the next request may follow at once.
  late.send(head_alone(3) + "abcGET /v2/health/live HTTP/1.1\r\nHost: t\r\n\r\n");
  BOOST_TEST(late.receive().value().status == 429);
  BOOST_TEST(late.receive().value().status == 200);
  // This one waits for "100 Continue", and never hears it.
  asks.send(head_alone(body.size(), "Expect: 100-continue\r\n"));
  const auto refused = asks.receive().value();
  BOOST_TEST(refused.status == 429);
  BOOST_TEST(refused.headers.at("connection") == "close");
  BOOST_TEST(asks.ended());
  chunked.send("POST " + infer_slow + " HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n");
  BOOST_TEST(chunked.receive().value().status == 429);
  BOOST_TEST(chunked.ended());
  BOOST_TEST(busy.receive().value().status == 200);
  BOOST_TEST(counted(rig, "polychron_requests_total{model=\"slow\",status=\"429\"} 4"));
}

BOOST_AUTO_TEST_CASE(a_refused_body_that_never_comes_ends_the_connection) {
  const Rig rig({"slow"}, [](auto& options) {
    options.model.in_flight = 1;
    options.http.transfer_timeout = std::chrono::seconds(1);
  });
  Client busy(rig.port()), late(rig.port()), leaves(rig.port());
  busy.send(post_text(infer_slow, slow_request()));
  until([&] { return rig.model("slow")->in_flight() == 1; });
  leaves.send(head_alone(1000));
  leaves.finish();
  late.send(head_alone(10) + "abc");
  BOOST_TEST(late.receive().value().status == 429);
  BOOST_TEST(late.ended());
}

BOOST_AUTO_TEST_CASE(a_timeout_is_answered_when_it_falls_due) {
  const Rig rig({"slow"});
  const auto model = rig.model("slow");
  Client first(rig.port()), second(rig.port());
  first.send(post_text(infer_slow, slow_request()));
  until([&] { return model->in_flight() == 1; });
  // It would have to wait for the first. It is told before that one is done.
  const auto late = second.post(infer_slow, slow_request(R"(,"parameters":{"timeout":1000})"));
  BOOST_TEST(late.status == 504);
  BOOST_TEST(late.body.find("timed out after 1 ms") != std::string::npos, late.body);
  BOOST_TEST(model->in_flight() >= 1U);
  BOOST_TEST(first.receive().value().status == 200);
  until([&] { return model->in_flight() == 0; });
  BOOST_TEST(model->engine().contexts().front().stats().not_run == 1U);
}

BOOST_AUTO_TEST_CASE(a_request_that_would_wait_too_long_is_refused) {
  const Rig rig({"slow"});
  Client one(rig.port()), two(rig.port()), three(rig.port());
  one.post(infer_slow, slow_request());  // now the server knows how long it takes
  const auto model = rig.model("slow");
  one.send(post_text(infer_slow, slow_request()));
  two.send(post_text(infer_slow, slow_request()));
  until([&] { return model->in_flight() == 2; });
  const auto refused = three.post(infer_slow, slow_request(R"(,"parameters":{"timeout":1000})"));
  BOOST_TEST(refused.status == 429);
  BOOST_TEST(refused.body.find("would wait longer than its timeout") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_client_that_leaves_cancels_what_has_not_started) {
  const Rig rig({"slow"});
  const auto model = rig.model("slow");
  Client first(rig.port());
  first.send(post_text(infer_slow, slow_request()));
  until([&] { return model->in_flight() == 1; });
  for (const bool by_reset : {false, true}) {
    Client leaves(rig.port());
    leaves.send(post_text(infer_slow, slow_request()));
    until([&] { return model->in_flight() == (by_reset ? 3 : 2); });
    if (by_reset) leaves.reset();
  }
  BOOST_TEST(first.receive().value().status == 200);
  until([&] { return counted(rig, "polychron_requests_total{model=\"slow\",status=\"499\"} 2"); });
  BOOST_TEST(model->engine().contexts().front().stats().not_run == 2U);
}

BOOST_AUTO_TEST_CASE(a_drain_answers_what_is_in_flight) {
  const Rig rig({"slow"});
  const auto model = rig.model("slow");
  Client busy(rig.port()), idle(rig.port());
  idle.get("/v2/health/ready");
  busy.send(post_text(infer_slow, slow_request()));
  until([&] { return model->in_flight() == 1; });
  const auto port = rig.port();
  rig.app->drain();
  BOOST_TEST(idle.ended());
  const auto answered = busy.receive().value();
  BOOST_TEST(answered.status == 200);
  BOOST_TEST(answered.headers.at("connection") == "close");
  BOOST_TEST(busy.ended());
  BOOST_TEST(rig.app->wait() == 0);
  BOOST_CHECK_THROW(Client refused(port), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(a_drain_that_takes_too_long_is_cut_off) {
  const Rig rig({"slow"}, [](auto& options) { options.drain = std::chrono::seconds(0); });
  const auto model = rig.model("slow");
  Client busy(rig.port());
  for (int i = 0; i < 8; ++i) busy.send(post_text(infer_slow, slow_request()));
  until([&] { return model->in_flight() == 1; });
  rig.app->drain();
  BOOST_TEST(rig.app->wait() == 1);
}

BOOST_AUTO_TEST_CASE(it_may_end_at_any_moment) {
  for (int i = 0; i < 5; ++i) {
    const Rig rig({"slow", "simple"});
    std::list<Client> clients;
    for (int j = 0; j < 4; ++j)
      clients.emplace_back(rig.port()).send(post_text(infer_slow, slow_request()));
    for (int yields = 0; yields < i * 50; ++yields) std::this_thread::yield();
  }
}

BOOST_AUTO_TEST_CASE(bodies_have_a_common_limit) {
  const Rig rig({"simple"}, [](auto& options) { options.service.body_budget = 100'000; });
  Client holds(rig.port()), other(rig.port());
  // The bytes that came are counted, not those that were announced.
  holds.send("POST /v2/models/simple/infer HTTP/1.1\r\nHost: t\r\nContent-Length: 90000\r\n\r\n" +
             std::string(80'000, ' '));
  until([&] { return rig.app->service().budget.used() >= 80'000; });
  // What was announced is refused at once if it cannot fit, before it comes.
  other.send("POST /v2/models/simple/infer HTTP/1.1\r\nHost: t\r\nContent-Length: 50000\r\n\r\n");
  const auto refused = other.receive().value();
  BOOST_TEST(refused.status == 503);
  BOOST_TEST(refused.body.find("the bodies of requests in flight have") != std::string::npos);
  holds.send(std::string(10'000, ' '));
  BOOST_TEST(holds.receive().value().status == 400);
  until([&] { return rig.app->service().budget.used() == 0; });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::server::tests
