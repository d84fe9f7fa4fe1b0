// What messages of gRPC and their answers may take, frame by frame.
#include <malloc.h>

#include <boost/test/unit_test.hpp>
#include <random>

#include "grpc/messages.hpp"
#include "grpc_rig.hpp"

namespace polychron::server::tests {

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

/// What the allocator has given out.
std::uint64_t allocated_bytes() {
  const auto info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

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

BOOST_AUTO_TEST_CASE(headers_have_a_limit) {
  const GrpcServer server([](auto& options) { options.http.header_bytes = 2'000; });
  FrameClient client(server.port());
  std::string more;
  for (int i = 0; i < 40; ++i) more += field_text("x" + std::to_string(i), std::string(20, 'y'));
  client.begin(1, live_method, more);
  BOOST_TEST(client.end_of(1).status == resource_exhausted);
  BOOST_TEST(client.call(3, live_method).status == 0);
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
      [](auto& options) { options.http.transfer_timeout = std::chrono::seconds(2); });
  FrameClient client(server.port(), 65'535);
  client.begin(1, infer_method);
  const auto text = message_text(copied_zeros(1 << 20));
  for (std::size_t at = 0; at < text.size(); at += 16'384)
    client.send(frame_text(data_frame, at + 16'384 < text.size() ? 0 : end_stream, 1,
                           text.substr(at, 16'384)));
  std::size_t read = 0;
  while (read < 65'535)
    if (const auto frame = client.next().value(); frame.type == data_frame)
      read += frame.payload.size();
  BOOST_TEST(server.held() > (4U << 20));  // the answer
  const auto end = client.end_of(1);
  BOOST_TEST(end.status == -1);
  BOOST_TEST(end.reset == std::uint32_t{NGHTTP2_CANCEL});
  until([&] { return server.held() == 0; });
  client.send(frame_text(window_frame, 0, 0, number_text(65'535)));
  BOOST_TEST(client.call(3, live_method).status == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::server::tests
