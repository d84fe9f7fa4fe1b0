// What strangers may hold over gRPC, frame by frame.
#include <malloc.h>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <list>
#include <random>

#include "frames.hpp"
#include "grpc/messages.hpp"
#include "grpc/session.hpp"
#include "rig.hpp"

namespace polychron::server::tests {

namespace {

constexpr int invalid_argument = 3, deadline_exceeded = 4, not_found = 5, resource_exhausted = 8,
              unimplemented = 12, unavailable = 14, unauthenticated = 16;

struct GrpcServer {
  explicit GrpcServer(const std::function<void(ServerOptions&)>& change = {})
      : rig({"simple", "copy_fp32"}, [&](auto& options) {
          options.grpc = true;
          options.grpc_port = 0;
          options.codes["holds"] = [&](const EngineOrigin&, const EngineHost&) {
            return std::make_shared<Holding>(requests);
          };
          if (change) change(options);
        }) {}
  /// Adds the model "holds", which answers when release() is called.
  void hold(const std::string& config = R"({"code": "holds"})") {
    rig.folder.write("holds/config.json", config);
    rig.look();
  }
  void wait_for_held(std::uint64_t count) const {
    until([&] { return rig.model("holds")->in_flight() == count; });
  }
  void release() {
    for (auto& each : requests)
      each.resolve(EngineOutcome(Refusal(Status::unavailable, "enough", 1)));
    requests.clear();
  }
  std::uint16_t port() const { return rig.app->grpc_port(); }
  std::uint64_t held() const { return rig.app->service().budget.used(); }
  double connections() const { return rig.app->service().metrics.connections().Value(); }
  void check_serves() const {
    FrameClient client(port());
    BOOST_TEST(client.call(1, live_method).answer == message_text("\b\1"));
  }
  std::list<Promise<EngineOutcome>> requests;
  Rig rig;
};

/// A model of one input with so many zeros.
std::string copied_zeros(std::size_t count, const std::string& model = "copy_fp32") {
  inference::ModelInferRequest request;
  request.set_model_name(model);
  auto* input = request.add_inputs();
  input->set_name("x");
  input->set_datatype("FP32");
  input->add_shape(static_cast<std::int64_t>(count));
  request.add_raw_input_contents(std::string(count * 4, '\0'));
  return request.SerializeAsString();
}

/// What the allocator has given out.
std::uint64_t allocated_bytes() {
  const auto info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * 4096;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(grpc_limits)

BOOST_AUTO_TEST_CASE(calls_of_every_kind) {
  const GrpcServer server;
  FrameClient client(server.port());
  BOOST_TEST(client.call(1, live_method).status == 0);
  const auto copied = client.call(3, infer_method, copied_zeros(1 << 20));
  BOOST_TEST(copied.status == 0, copied.message);
  BOOST_TEST(copied.answer.size() > (4U << 20));
  const auto nothing = client.call(5, infer_method, copied_zeros(0));
  BOOST_TEST(nothing.status == unimplemented, nothing.message);  // WebNN has no empty tensors
  const auto damaged = client.call(7, infer_method, "\xFF\xFF\xFF\xFF\x0F");
  BOOST_TEST(damaged.status == invalid_argument);
  BOOST_TEST(damaged.message == "the message is no ModelInferRequest");
  BOOST_TEST(client.call(9, "/inference.GRPCInferenceService/Nothing").status == unimplemented);
  BOOST_TEST(
      client.call(11, infer_method, copied_zeros(1), field_text("grpc-encoding", "zstd")).status ==
      unimplemented);
  const auto none = client.call(13, infer_method);
  BOOST_TEST(none.status == not_found);
  BOOST_TEST(none.message == "no model ''");
  // Without a message, with half of one, with two.
  client.begin(15, live_method, {}, end_stream);
  BOOST_TEST(client.end_of(15).status == invalid_argument);
  client.begin(17, live_method);
  client.send(frame_text(data_frame, end_stream, 17, prefix_text(3) + "ab"));
  BOOST_TEST(client.end_of(17).status == invalid_argument);
  client.begin(19, live_method);
  client.send(frame_text(data_frame, end_stream, 19, message_text("") + message_text("")));
  BOOST_TEST(client.end_of(19).status == invalid_argument);
  // A message that comes byte by byte.
  client.begin(21, live_method);
  for (const char each : message_text(std::string(20, '\0')))
    client.send(frame_text(data_frame, 0, 21, std::string(1, each)));
  client.send(frame_text(data_frame, end_stream, 21));
  BOOST_TEST(client.end_of(21).status == invalid_argument);  // tag 0
  until([&] { return server.held() == 0; });
}

BOOST_AUTO_TEST_CASE(tokens_are_asked_for_before_the_message) {
  const GrpcServer server([](auto& options) {
    options.service.tokens = {"secret"};
    options.service.body_budget = 1'000'000;
  });
  std::list<FrameClient> strangers;
  for (int i = 0; i < 20; ++i) {
    auto& stranger = strangers.emplace_back(server.port());
    stranger.begin(1, infer_method, i % 2 ? field_text("authorization", "Bearer secre") : "");
    stranger.send(frame_text(data_frame, 0, 1, prefix_text(900'000) + std::string(16'000, '\0')));
    BOOST_TEST(stranger.end_of(1).status == unauthenticated);
  }
  until([&] { return server.held() == 0; });
  FrameClient client(server.port());
  const auto answer = client.call(1, infer_method, copied_zeros(50'000),
                                  field_text("authorization", "bearer secret"));
  BOOST_TEST(answer.status == 0, answer.message);
  BOOST_TEST(client.call(3, live_method).status == 0);  // a health check
  BOOST_TEST(client.call(5, "/inference.GRPCInferenceService/Nothing").status == unauthenticated);
}

BOOST_AUTO_TEST_CASE(messages_count_as_they_arrive) {
  const GrpcServer server([](auto& options) {
    options.service.body_budget = 1'000'000;
    options.http.body_bytes = 950'000;
  });
  FrameClient holds(server.port()), other(server.port());
  holds.begin(1, infer_method);
  holds.send(frame_text(data_frame, 0, 1, prefix_text(950'000)));
  for (int i = 0; i < 10; ++i) holds.send(frame_text(data_frame, 0, 1, std::string(10'001, '\0')));
  until([&] { return server.held() == 100'010; });
  other.begin(1, infer_method);
  other.send(frame_text(data_frame, 0, 1, prefix_text(899'991)));
  BOOST_TEST(other.end_of(1).status == unavailable);  // before its bytes come
  other.begin(3, infer_method);
  other.send(frame_text(data_frame, 0, 3, prefix_text(950'001)));
  const auto too_long = other.end_of(3);
  BOOST_TEST(too_long.status == resource_exhausted);
  BOOST_TEST(too_long.message.find("the message has") == 0U, too_long.message);
  other.begin(5, "/inference.GRPCInferenceService/ModelReady");
  other.send(frame_text(data_frame, 0, 5, prefix_text(65'537)));
  BOOST_TEST(other.end_of(5).status == resource_exhausted);  // of a short message
  holds.send(frame_text(reset_frame, 0, 1, number_text(8)));
  until([&] { return server.held() == 0; });
}

namespace {

std::uint64_t bound_of(const std::string& text) {
  return parsed_bytes(*inference::ModelInferRequest::descriptor(), std::as_bytes(std::span(text)));
}

void check_parsed_bytes(const std::string& text, const std::string& which) {
  const auto before = allocated_bytes();
  inference::ModelInferRequest parsed;
  BOOST_TEST(parsed.ParseFromString(text), which);
  const auto taken = allocated_bytes() - before + sizeof(parsed);
  BOOST_TEST(taken <= bound_of(text), which << ": " << text.size() << " bytes");
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_a_message_takes_once_it_is_parsed) {
  const auto seed = std::random_device()();
  std::mt19937 random(seed);
  const auto below = [&](unsigned most) { return static_cast<int>(random() % most); };
  for (int i = 0; i < 200; ++i) {
    inference::ModelInferRequest message;
    message.set_id(std::string(random() % 100, 'a'));
    const int kind = below(7);
    for (int j = below(3000); j > 0; --j) {
      if (kind == 0) message.add_raw_input_contents(std::string(random() % 3, 'b'));
      if (kind == 1) message.add_inputs()->add_shape(below(5));
      if (kind == 2) (*message.mutable_parameters())[std::to_string(j)].set_bool_param(true);
      if (kind == 3) message.add_outputs();
      if (message.inputs_size() == 0) message.add_inputs();
      auto& contents = *message.mutable_inputs(0)->mutable_contents();
      if (kind == 4) contents.add_bytes_contents(std::string(random() % 40, 'c'));
      if (kind == 5) contents.add_int64_contents(below(100));
      if (kind == 6) contents.add_fp32_contents(1);
    }
    const auto text = message.SerializeAsString();
    check_parsed_bytes(text, "seed " + std::to_string(seed) + ", " + std::to_string(i));
  }
  // Unknown fields, and those of another type than the field's: each of two bytes.
  for (const std::string odd : {"\x78\1", "\x7A\0", "\x08\1", "\x0A\0"}) {
    std::string many;
    for (int i = 0; i < 9'000; ++i) many += std::string(odd.data(), 2);
    check_parsed_bytes(many, "odd");
    check_parsed_bytes("\x2A" + std::string("\xD0\x8C\1") + many, "odd in an input");
    check_parsed_bytes("\x2A\xD4\x8C\1\x2A\xD0\x8C\1" + many, "odd in contents");
  }
  // What is large on the wire is not much larger in memory.
  const auto large = copied_zeros(1 << 20);
  BOOST_TEST(bound_of(large) < large.size() + 4000);
  inference::ModelInferRequest numbers;
  auto& contents = *numbers.add_inputs()->mutable_contents();
  for (int i = 0; i < 100'000; ++i) contents.add_fp32_contents(1);
  BOOST_TEST(bound_of(numbers.SerializeAsString()) < 900'000U);
  BOOST_CHECK_THROW(bound_of("\x7B\x78\1\x7C"), Refusal);  // a group
}

BOOST_AUTO_TEST_CASE(many_small_strings_are_refused_or_given_back) {
  const GrpcServer server;
  FrameClient client(server.port());
  const auto strings = [](int count) {
    inference::ModelInferRequest request;
    request.set_model_name("copy_fp32");
    auto& contents = *request.add_inputs()->mutable_contents();
    contents.mutable_bytes_contents()->Reserve(count);
    for (int i = 0; i < count; ++i) contents.add_bytes_contents();
    return request.SerializeAsString();
  };
  const auto too_many = strings(9'000'000), many = strings(2'000'000);
  ::malloc_trim(0);  // the client's own
  const auto before = resident_bytes();
  BOOST_TEST(client.call(1, infer_method, too_many).status == unavailable);
  BOOST_TEST(client.call(3, infer_method, many).status == invalid_argument);
  BOOST_TEST(resident_bytes() < before + (40U << 20));
  BOOST_TEST(server.held() == 0U);
}

BOOST_AUTO_TEST_CASE(health_checks_need_no_room) {
  const GrpcServer server([](auto& options) { options.service.body_budget = 100'000; });
  FrameClient holds(server.port()), other(server.port());
  holds.begin(1, infer_method);
  holds.send(frame_text(data_frame, 0, 1, prefix_text(100'000) + std::string(16'000, '\0')));
  for (int i = 0; i < 6; ++i) holds.send(frame_text(data_frame, 0, 1, std::string(14'000, '\0')));
  until([&] { return server.held() == 100'000; });
  const std::string check = "/grpc.health.v1.Health/Check", ready = message_text("\b\1");
  BOOST_TEST(other.call(1, live_method).answer == ready);
  BOOST_TEST(other.call(3, check, std::string("\n\0", 2)).answer == ready);
  BOOST_TEST(other.call(5, infer_method, copied_zeros(1)).status == unavailable);
  // Their messages are short.
  BOOST_TEST(other.call(7, check, std::string("\x12\xFD\7", 3) + std::string(1021, 'x')).answer ==
             ready);
  other.begin(9, check);
  other.send(frame_text(data_frame, 0, 9, prefix_text(1025)));
  BOOST_TEST(other.end_of(9).status == resource_exhausted);
}

BOOST_AUTO_TEST_CASE(what_is_announced_takes_no_memory) {
  const GrpcServer server;
  const auto before = resident_bytes();
  std::list<FrameClient> strangers;
  std::list<Client> over_http;
  for (int i = 0; i < 10; ++i) {
    auto& stranger = strangers.emplace_back(server.port());
    for (std::uint32_t stream = 1; stream < 20; stream += 2) {
      stranger.begin(stream, infer_method);
      stranger.send(frame_text(data_frame, 0, stream, prefix_text(60'000'000) + "a"));
    }
    stranger.send(frame_text(ping_frame, 0, 0, "12345678"));
    for (auto frame = stranger.next(); frame && frame->type != ping_frame; frame = stranger.next())
      ;
    over_http.emplace_back(server.rig.port())
        .send(head_text("POST", "/v2/models/copy_fp32/infer",
                        "Inference-Header-Content-Length: 10\r\nContent-Length: 60000000\r\n") +
              "{");
  }
  until([&] { return server.held() >= 110; });
  BOOST_TEST(resident_bytes() < before + (60U << 20));
}

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

BOOST_AUTO_TEST_CASE(a_full_queue_is_counted_for_its_model) {
  GrpcServer server;
  server.hold(R"({"code": "holds", "in_flight": 1})");
  FrameClient client(server.port());
  client.begin(1, infer_method);
  client.send(frame_text(data_frame, end_stream, 1, message_text(copied_zeros(1, "holds"))));
  server.wait_for_held(1);
  BOOST_TEST(client.call(3, infer_method, copied_zeros(1, "holds")).status == resource_exhausted);
  const auto counters = server.rig.app->service().metrics.text();
  BOOST_TEST(counters.find(R"(requests_total{model="holds",status="429"} 1)") != std::string::npos);
  server.release();
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
  server.check_serves();
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

BOOST_AUTO_TEST_CASE(headers_have_a_limit) {
  const GrpcServer server([](auto& options) { options.http.header_bytes = 2'000; });
  FrameClient client(server.port());
  std::string more;
  for (int i = 0; i < 40; ++i) more += field_text("x" + std::to_string(i), std::string(20, 'y'));
  client.begin(1, live_method, more);
  BOOST_TEST(client.end_of(1).status == resource_exhausted);
  BOOST_TEST(client.call(3, live_method).status == 0);
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

BOOST_AUTO_TEST_CASE(a_message_that_stops_is_told) {
  const GrpcServer server(
      [](auto& options) { options.http.transfer_timeout = std::chrono::seconds(1); });
  FrameClient client(server.port());
  client.begin(1, infer_method);
  client.send(frame_text(data_frame, 0, 1, prefix_text(100) + "ab"));
  const auto end = client.end_of(1);
  BOOST_TEST(end.status == deadline_exceeded);
  BOOST_TEST(end.message == "the message did not arrive in time");
  BOOST_TEST(client.call(3, live_method).status == 0);
}

BOOST_AUTO_TEST_CASE(an_answer_that_is_not_read_ends) {
  const GrpcServer server(
      [](auto& options) { options.http.transfer_timeout = std::chrono::seconds(1); });
  FrameClient client(server.port(), 65'535);
  const auto end = client.call(1, infer_method, copied_zeros(1 << 20));
  BOOST_TEST(end.status == -1);
  BOOST_TEST(end.reset == std::uint32_t{NGHTTP2_CANCEL});
  BOOST_TEST(end.answer.size() == 65'535U);
  until([&] { return server.held() == 0; });
  client.send(frame_text(window_frame, 0, 0, number_text(65'535)));
  BOOST_TEST(client.call(3, live_method).status == 0);
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
