// What strangers may hold by connections and calls of gRPC, frame by frame.
#include <boost/test/unit_test.hpp>
#include <random>

#include "grpc/session.hpp"
#include "grpc_rig.hpp"

namespace polychron::server::tests {

BOOST_AUTO_TEST_SUITE(grpc_floods)

BOOST_AUTO_TEST_CASE(calls_that_are_open_take_little) {
  const GrpcServer server([](auto& options) { options.http.connections_of_address = 100; });
  const auto more = field_text("authorization", std::string(5'000, 'a')) +
                    field_text("traceparent", std::string(5'000, 'b')) +
                    field_text("x", std::string(5'000, 'c'));
  const auto before = resident_bytes();
  constexpr std::uint32_t streams = Session::most_calls;
  std::list<FrameClient> strangers;
  for (int i = 0; i < 80; ++i) {
    auto& stranger = strangers.emplace_back(server.port());
    for (std::uint32_t n = 0; n < streams; ++n) stranger.begin(2 * n + 1, infer_method, more);
    stranger.send(frame_text(ping_frame, 0, 0, "12345678"));
    for (auto frame = stranger.next(); frame && frame->type != ping_frame; frame = stranger.next())
      BOOST_TEST((frame->type != reset_frame));
  }
  const auto calls = strangers.size() * streams;
  BOOST_TEST(resident_bytes() < before + calls * 3'000);
}

BOOST_AUTO_TEST_CASE(calls_that_run_are_bounded_and_end) {
  GrpcServer server([](auto& options) { options.model.in_flight = 1'000; });
  server.hold();
  FrameClient client(server.port());
  const auto message = message_text(copied_zeros(1, "holds"));
  const auto begin = [&](std::uint32_t stream) {
    client.begin(stream, infer_method);
    client.send(frame_text(data_frame, end_stream, stream, message));
  };
  // Those that were reset still run, and count.
  for (std::uint32_t n = 0; n < 2 * Session::most_calls; ++n) {
    begin(2 * n + 1);
    client.send(frame_text(reset_frame, 0, 2 * n + 1, number_text(8)));
  }
  const std::uint32_t next = 4 * Session::most_calls + 1;
  begin(next);
  BOOST_TEST(client.end_of(next).reset == std::uint32_t{NGHTTP2_REFUSED_STREAM});
  BOOST_TEST(server.requests.size() == 2 * Session::most_calls);
  // The connection ends, by a broken rule, while they run.
  client.send(frame_text(data_frame, 0, 0, "x"));
  while (client.next()) {
  }
  server.release();
  until([&] { return server.connections() == 0 && server.held() == 0; });
}

BOOST_AUTO_TEST_CASE(calls_beside_others_run_on_the_last_connection_that_may) {
  GrpcServer server([](auto& options) { options.http.connections = 16; });
  server.hold();
  std::list<FrameClient> clients;
  const auto call = message_text(copied_zeros(1, "holds"));
  for (int i = 0; i < 15; ++i) {
    auto& client = clients.emplace_back(server.port());
    client.begin(1, infer_method);
    client.send(frame_text(data_frame, end_stream, 1, call));
  }
  server.wait_for_held(15);
  BOOST_TEST(clients.back().call(3, infer_method, copied_zeros(1)).status == 0);
  FrameClient one_more(server.port());
  BOOST_TEST(one_more.call(1, infer_method, copied_zeros(1)).status == unavailable);
  BOOST_TEST(one_more.call(3, live_method).status == 0);
  server.release();
  for (auto& client : clients) BOOST_TEST(client.end_of(1).status == unavailable);
  BOOST_TEST(one_more.call(5, infer_method, copied_zeros(1)).status == 0);
}

BOOST_AUTO_TEST_CASE(connections_that_read_nothing_make_room) {
  const GrpcServer server([](auto& options) {
    options.http.connections = 2;
    options.http.transfer_timeout = std::chrono::hours(1);
  });
  const auto message = message_text(copied_zeros(1 << 22));  // more than the sockets hold
  std::list<FrameClient> attackers;
  for (int i = 0; i < 6; ++i) {
    auto& attacker = attackers.emplace_back(server.port());
    attacker.begin(1, infer_method);
    for (std::size_t at = 0; at < message.size(); at += 16'384)
      attacker.send(frame_text(data_frame, at + 16'384 < message.size() ? 0 : end_stream, 1,
                               message.substr(at, 16'384)));
    until([&] { return server.held() >= message.size() - 1'000; });
  }
  until([&] { return server.connections() <= 2; });
  until([&] {  // none of them computes any more
    FrameClient victim(server.port());
    return victim.call(1, live_method).status == 0;
  });
  BOOST_TEST(server.connections() <= 3);
}

BOOST_AUTO_TEST_CASE(streams_that_are_reset_leave_nothing) {
  const GrpcServer server;
  std::string resets;
  const auto fields = call_fields(infer_method);
  for (std::uint32_t stream = 1; stream < 2'000; stream += 2)
    resets += frame_text(headers_frame, end_headers, stream, fields) +
              frame_text(data_frame, 0, stream, prefix_text(1'000'000) + "abc") +
              frame_text(reset_frame, 0, stream, number_text(8));
  server.check_serves();
  std::uint64_t before = 0;
  for (int round = 0; round < 60; ++round) {
    if (round == 20) before = resident_bytes();
    FrameClient client(server.port());
    client.send(resets);
    BOOST_TEST(client.call(2'001, live_method).status == 0);
  }
  until([&] { return server.held() == 0; });
  BOOST_TEST(resident_bytes() < before + (16U << 20));  // 40,000 streams more
}

BOOST_AUTO_TEST_CASE(a_flood_ends_its_connection_alone) {
  const GrpcServer server;
  const auto one = [](std::uint32_t stream) {
    return frame_text(headers_frame, end_headers, stream, call_fields(infer_method));
  };
  const std::function<std::string(std::uint32_t)> floods[] = {
      one,  // streams that stay open
      [&](auto n) { return one(n) + frame_text(reset_frame, 0, n, number_text(8)); },
      [](auto) { return frame_text(settings_frame, 0, 0, std::string("\0\1\0\0\0\1", 6)); },
      [](auto) { return frame_text(ping_frame, 0, 0, "12345678"); },
      [](auto n) {
        return n == 1 ? frame_text(headers_frame, 0, 1, call_fields(infer_method))
                      : frame_text(continuation_frame, 0, 1, field_text("a", "b"));
      },
      [](auto n) { return frame_text(FrameType{32}, 0, n); }};  // unknown ones: harmless
  for (const auto& flood : floods) {
    FrameClient attacker(server.port());
    bool open = true;
    for (std::uint32_t at = 0; open && at < 300; ++at) {
      std::string frames;
      for (std::uint32_t i = 0; i < 100; ++i) frames += flood(2 * (at * 100 + i) + 1);
      open = attacker.send(frames);
    }
    server.check_serves();
    BOOST_TEST(server.held() == 0U);
  }
  until([&] { return server.held() == 0 && server.connections() == 0; });
}

BOOST_AUTO_TEST_CASE(connections_that_do_nothing_lock_nobody_out) {
  const GrpcServer server([](auto& options) { options.http.connections = 32; });
  std::list<FrameClient> attackers;
  int answers = 0;
  for (int i = 0; i < 100; ++i) {
    auto& attacker = attackers.emplace_back(server.port());
    if (i % 2 == 0) attacker.begin(1, infer_method);
    FrameClient victim(server.port());
    answers += victim.call(1, live_method).status == 0;
    Client over_http(server.rig.port());
    answers += over_http.get("/v2/health/live").status == 200;
  }
  BOOST_TEST(answers == 200);
  attackers.clear();
  until([&] { return server.connections() == 0; });
  BOOST_TEST(server.held() == 0U);
}

BOOST_AUTO_TEST_CASE(a_watch_of_the_health_ends_with_the_server) {
  const GrpcServer server;
  FrameClient client(server.port());
  const std::string watch = "/grpc.health.v1.Health/Watch";
  BOOST_TEST(client.call(1, watch, "\n\1x").status == not_found);
  client.begin(3, watch);
  client.send(frame_text(data_frame, end_stream, 3, message_text("")));
  std::optional<Frame> frame;
  while ((frame = client.next()) && frame->type != data_frame) {
  }
  BOOST_TEST(frame.value().payload == message_text("\b\1"));
  server.rig.app->drain();
  const auto end = client.end_of(3);
  BOOST_TEST(end.status == 0);
  BOOST_TEST(end.answer.find(message_text("\b\2")) == 0U);
  BOOST_TEST(server.rig.app->wait() == 0);
}

BOOST_AUTO_TEST_CASE(damaged_frames) {
  const GrpcServer server;
  const auto seed = std::random_device()();
  std::mt19937 random(seed);
  const auto whole = frame_text(headers_frame, end_headers, 1, call_fields(infer_method)) +
                     frame_text(data_frame, end_stream, 1, message_text(copied_zeros(4)));
  for (int i = 0; i < 300; ++i) {
    auto damaged = whole;
    for (auto changes = 1 + random() % 4; changes > 0; --changes)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    FrameClient client(server.port());
    client.send(damaged.substr(0, damaged.size() - (i % 3 == 0 ? random() % 200 : 0)));
    if (i % 2 == 0) client.client.reset();
  }
  BOOST_TEST_MESSAGE("seed " << seed);
  server.check_serves();
  until([&] { return server.connections() == 0 && server.held() == 0; });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::server::tests
