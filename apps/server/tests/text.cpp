// Language models by OpenAI's endpoints, on the tiny model of tests/text.
#include <algorithm>
#include <boost/json/serialize.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <future>

#include "text_rig.hpp"

namespace polychron::server::tests {

namespace {

namespace json = boost::json;

std::string text_in(const Response& response) {
  return string_of(json_in(response).at("choices").at(0).at("text"));
}

/// What follows "data: " in each event.
std::vector<std::string> events_of(const std::string& body) {
  std::vector<std::string> events;
  for (std::size_t at = 0; at < body.size();) {
    const auto end = body.find("\n\n", at);
    BOOST_REQUIRE(end != std::string::npos);
    BOOST_REQUIRE(body.substr(at, 6) == "data: ");
    events.push_back(body.substr(at + 6, end - at - 6));
    at = end + 2;
  }
  return events;
}

/// The text of a stream that ends well.
std::string streamed_text(const std::string& body) {
  auto events = events_of(body);
  BOOST_REQUIRE(events.back() == "[DONE]");
  events.pop_back();
  std::string text;
  for (const auto& each : events) {
    const auto document = json::parse(each);
    const auto& choices = document.at("choices").as_array();
    if (choices.empty()) continue;
    const auto& choice = choices.front().as_object();
    const auto* delta = choice.if_contains("delta");
    const auto* piece = delta ? delta->as_object().if_contains("content") : &choice.at("text");
    if (piece) text += string_of(*piece);
  }
  return text;
}

/// Begins a stream that does not end, and waits for its first event.
void begin_endless(Client& client) {
  client.send(post_text(prompt_path, prompt_request(R"(,"stream":true)" + endless_tokens)));
  std::string got;
  while (got.find("data: ") == std::string::npos) {
    const auto byte = client.read(1);
    BOOST_REQUIRE(!byte.empty());
    got += byte;
  }
  BOOST_TEST(got.starts_with("HTTP/1.1 200 OK"));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(texts)

BOOST_AUTO_TEST_CASE(whole_answers_have_the_librarys_text) {
  const TextRig rig;
  Client client(rig.port());
  const auto expected = rig.expected("hello", 20);
  const auto response = client.post(prompt_path, prompt_request(R"(,"max_tokens":20)"));
  BOOST_TEST(response.status == 200, response.body);
  auto answer = json_in(response);
  BOOST_TEST(answer.at("object") == "text_completion");
  BOOST_TEST(answer.at("model") == "tiny");
  BOOST_TEST(text_in(response) == expected.text);
  BOOST_TEST(answer.at("choices").at(0).at("finish_reason") == "length");
  BOOST_TEST(json::serialize(answer.at("usage")) ==
             R"({"prompt_tokens":1,"completion_tokens":20,"total_tokens":21})");
  const auto chat = client.post(chat_path, chat_request(R"(,"max_completion_tokens":5)"));
  answer = json_in(chat);
  BOOST_TEST(answer.at("object") == "chat.completion");
  const auto& message = answer.at("choices").at(0).at("message");
  BOOST_TEST(message.at("role") == "assistant");
  const auto prompt = "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n";
  BOOST_TEST(string_of(message.at("content")) == rig.expected(prompt, 5).text);
  BOOST_TEST(answer.at("usage").at("completion_tokens") == 5);
}

BOOST_AUTO_TEST_CASE(streams_have_the_same_text) {
  const TextRig rig;
  Client client(rig.port());
  for (const bool is_chat : {false, true}) {
    const auto request = is_chat ? chat_request : prompt_request;
    const auto path = is_chat ? chat_path : prompt_path;
    const auto whole = json_in(client.post(path, request(R"(,"max_tokens":30)")));
    const auto& choice = whole.at("choices").at(0);
    const auto text = string_of(is_chat ? choice.at("message").at("content") : choice.at("text"));
    const auto response = client.post(
        path, request(R"(,"max_tokens":30,"stream":true,"stream_options":{"include_usage":true})"));
    BOOST_TEST(response.headers.at("content-type") == "text/event-stream; charset=utf-8");
    BOOST_TEST(streamed_text(response.body) == text);
    const auto events = events_of(response.body);
    const auto usage = json::parse(events.at(events.size() - 2));
    BOOST_TEST(usage.at("choices").as_array().empty());
    BOOST_TEST(json::serialize(usage.at("usage")) == json::serialize(whole.at("usage")));
    const auto last = json::parse(events.at(events.size() - 3));
    BOOST_TEST(last.at("choices").at(0).at("finish_reason") == "length");
    BOOST_TEST(json::parse(events.front()).at("usage").is_null());
    if (is_chat)
      BOOST_TEST(json::serialize(json::parse(events.front()).at("choices").at(0).at("delta")) ==
                 R"({"role":"assistant","content":""})");
  }
  // After all of that the same connection serves.
  BOOST_TEST(client.get(live).status == 200);
}

BOOST_AUTO_TEST_CASE(a_client_of_http_1_0_gets_the_plain_stream) {
  const TextRig rig;
  Client client(rig.port());
  auto request = post_text(prompt_path, prompt_request(R"(,"max_tokens":4,"stream":true)"),
                           "Connection: keep-alive\r\n");
  client.send(request.replace(request.find("HTTP/1.1"), 8, "HTTP/1.0"));
  const auto all = client.read(1 << 20);  // to the connection's end
  const auto head = all.find("\r\n\r\n") + 4;
  BOOST_TEST(all.find("chunked") == std::string::npos);
  BOOST_TEST(streamed_text(all.substr(head)) == rig.expected("hello", 4).text);
}

BOOST_AUTO_TEST_CASE(a_client_that_reads_late_holds_up_nobody) {
  const TextRig rig;
  Client late(rig.port()), other(rig.port());
  late.send(post_text(prompt_path, prompt_request(R"(,"max_tokens":200,"stream":true)")));
  until([&] { return rig.counts().tokens.Value() == 200; });
  BOOST_TEST(other.post(prompt_path, prompt_request("")).status == 200);
  BOOST_TEST(streamed_text(late.receive().value().body) == rig.expected("hello", 200).text);
}

BOOST_AUTO_TEST_CASE(a_client_that_leaves_ends_its_generation) {
  const TextRig rig(long_context);
  for (const bool streams : {true, false}) {
    Client client(rig.port());
    if (streams) {
      begin_endless(client);
    } else {
      client.send(post_text(prompt_path, prompt_request(endless_tokens)));
      until([&] { return rig.counts().running.Value() == 1; });
    }
    client.reset();
    until([&] { return rig.model("tiny")->in_flight() == 0; });
    BOOST_TEST(rig.counts().running.Value() == 0);
  }
  until([&] { return rig.answered("499") == 2; });
  BOOST_TEST(rig.counts().tokens.Value() == 0);
  BOOST_TEST(rig.app->service().budget.used() == 0U);
}

BOOST_AUTO_TEST_CASE(a_full_queue_refuses_and_those_who_wait_may_leave) {
  const TextRig rig(long_context);
  Client first(rig.port()), second(rig.port()), third(rig.port());
  begin_endless(first);
  second.send(post_text(chat_path, chat_request(R"(,"max_tokens":3,"stream":true)")));
  until([&] { return rig.counts().waiting.Value() == 1; });
  auto refused = third.post(prompt_path, prompt_request(R"(,"max_tokens":3)"));
  BOOST_TEST(refused.status == 429);
  BOOST_TEST(refused.headers.count("retry-after") == 1U);
  BOOST_TEST(json_in(refused).at("error").at("code") == "rate_limit_exceeded");
  second.reset();
  // The place is free at the next token of the first one.
  until([&] { return rig.model("tiny")->in_flight() == 1; });
  BOOST_TEST(rig.counts().waiting.Value() == 0);
  third.send(post_text(prompt_path, prompt_request(R"(,"max_tokens":3)")));
  until([&] { return rig.counts().waiting.Value() == 1; });
  first.reset();
  BOOST_TEST(text_in(third.receive().value()) == rig.expected("hello", 3).text);
}

BOOST_AUTO_TEST_CASE(texts_run_side_by_side) {
  const TextRig rig(R"({"context_length":16384})");
  Client first(rig.port()), second(rig.port());
  begin_endless(first);
  begin_endless(second);
  BOOST_TEST(rig.counts().running.Value() == 2);
}

/// The arrays of all events' probabilities, joined.
json::array joined_logprobs(const std::string& body, const char* name) {
  json::array all;
  for (const auto& event : events_of(body)) {
    if (event == "[DONE]") continue;
    const auto document = json::parse(event);
    const auto& logprobs = document.at("choices").at(0).at("logprobs");
    if (logprobs.is_null()) continue;
    const auto& part = logprobs.at(name).as_array();
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

BOOST_AUTO_TEST_CASE(tokens_have_their_probabilities) {
  const TextRig rig;
  Client client(rig.port());
  const text::GenerateOptions options{.max_tokens = 30, .top_logprobs = 3};
  const auto expected =
      rig.model("tiny")->engine().language_model()->generate("hello", options).get();
  const std::string more = R"(,"max_tokens":30,"logprobs":3)", stream = R"(,"stream":true)";
  const auto whole = json_in(client.post(prompt_path, prompt_request(more)));
  const auto& logprobs = whole.at("choices").at(0).at("logprobs");
  BOOST_REQUIRE(logprobs.at("tokens").as_array().size() == expected.tokens.size());
  std::size_t offset = 0;
  for (std::size_t i = 0; i < expected.tokens.size(); ++i) {
    const auto& [chosen, top] = expected.logprobs[i];
    const auto name = string_of(logprobs.at("tokens").at(i));
    BOOST_TEST((name == chosen.text || name.starts_with("bytes:\\x")), name);
    // Boost.JSON reads a number to its last digit or the one beside it.
    const auto is_read = [](const json::value& value, double written) {
      return std::abs(value.as_double() - written) < 1e-12;
    };
    BOOST_TEST(is_read(logprobs.at("token_logprobs").at(i), chosen.logprob));
    const auto& tops = logprobs.at("top_logprobs").at(i).as_object();
    BOOST_TEST(tops.size() == 3U);
    BOOST_TEST(is_read(tops.at(name), top.front().logprob));  // greedy
    BOOST_TEST(logprobs.at("text_offset").at(i).to_number<std::size_t>() == offset);
    for (const char c : chosen.text) offset += (c & 0xc0) == 0x80 ? 0 : 1;
  }
  const auto body = client.post(prompt_path, prompt_request(more + stream)).body;
  BOOST_TEST(streamed_text(body) == expected.text);
  for (const auto* name : {"tokens", "token_logprobs", "top_logprobs", "text_offset"})
    BOOST_TEST(json::serialize(joined_logprobs(body, name)) == json::serialize(logprobs.at(name)));
  const std::string chat = R"(,"max_tokens":30,"logprobs":true,"top_logprobs":2)";
  const auto chat_answer = json_in(client.post(chat_path, chat_request(chat)));
  const auto& content = chat_answer.at("choices").at(0).at("logprobs").at("content").as_array();
  BOOST_TEST(content.size() == chat_answer.at("usage").at("completion_tokens").as_int64());
  std::string bytes;
  for (const auto& token : content) {
    for (const auto& byte : token.at("bytes").as_array())
      bytes += static_cast<char>(byte.as_int64());
    BOOST_TEST(token.at("top_logprobs").as_array().size() == 2U);
    BOOST_TEST(json::serialize(token.at("top_logprobs").at(0).at("token")) ==
               json::serialize(token.at("token")));
  }
  const auto text = string_of(chat_answer.at("choices").at(0).at("message").at("content"));
  BOOST_TEST((bytes == text || text.find("\ufffd") != std::string::npos));
  BOOST_TEST(json::serialize(joined_logprobs(
                 client.post(chat_path, chat_request(chat + stream)).body, "content")) ==
             json::serialize(content));
}

BOOST_AUTO_TEST_CASE(stop_strings_end_the_text_before_them) {
  const TextRig rig;
  Client client(rig.port());
  const auto text = rig.expected("hello", 40).text;
  std::size_t at = 0;  // of the character that comes for the first time last
  for (char each = '!'; each <= '~'; ++each)
    if (const auto first = text.find(each); first != std::string::npos) at = std::max(at, first);
  BOOST_REQUIRE(at > 0);
  const auto stop = text.substr(at, 1);
  const auto more =
      R"(,"max_tokens":40,"stop":["\u0000never",)" + json::serialize(json::string(stop)) + "]";
  const auto whole = client.post(prompt_path, prompt_request(more));
  BOOST_TEST(text_in(whole) == text.substr(0, text.find(stop)));
  BOOST_TEST(json_in(whole).at("choices").at(0).at("finish_reason") == "stop");
  const auto stream = client.post(prompt_path, prompt_request(more + R"(,"stream":true)"));
  BOOST_TEST(streamed_text(stream.body) == text_in(whole));
}

BOOST_AUTO_TEST_CASE(the_same_seed_gives_the_same_text_beside_others) {
  const TextRig rig;
  Client client(rig.port()), other(rig.port());
  const auto request = [](const std::string& more) {
    return R"({"model":"tiny","prompt":"hello","max_tokens":60,"temperature":1.5)" + more + "}";
  };
  const auto alone = text_in(client.post(prompt_path, request(R"(,"seed":-7)")));
  other.send(post_text(prompt_path, request(R"(,"seed":3)")));
  BOOST_TEST(text_in(client.post(prompt_path, request(R"(,"seed":-7)"))) == alone);
  BOOST_TEST(text_in(other.receive().value()) != alone);
  // Without a seed each request has another one.
  BOOST_TEST(text_in(client.post(prompt_path, request(""))) !=
             text_in(client.post(prompt_path, request(""))));
}

BOOST_AUTO_TEST_CASE(the_models_timeout_ends_a_generation) {
  const TextRig rig(R"({"context_length":16384,"timeout_ms":20})");
  Client client(rig.port());
  const auto late = client.post(prompt_path, prompt_request(endless_tokens));
  BOOST_TEST(late.status == 504);
  BOOST_TEST(json_in(late).at("error").at("type") == "server_error");
  until([&] { return rig.counts().running.Value() == 0; });
}

BOOST_AUTO_TEST_CASE(a_stream_that_fails_ends_with_an_error) {
  const TextRig rig(long_context);
  Client client(rig.port());
  begin_endless(client);
  auto context = rig.model("tiny")->engine().contexts().front();
  context.destroy();
  std::string rest;
  while (rest.find("\r\n0\r\n\r\n") == std::string::npos) rest += client.read(1);
  BOOST_TEST(rest.find(R"(data: {"error":{"message":)") != std::string::npos, rest);
  BOOST_TEST(rest.find("[DONE]") == std::string::npos);
  BOOST_TEST(client.get(live).status == 200);
  BOOST_TEST(rig.answered("200") == 0);
}

BOOST_AUTO_TEST_CASE(an_unloaded_model_finishes_its_texts) {
  const TextRig rig(R"({"context_length":4096})");
  Client client(rig.port()), other(rig.port());
  const auto text = rig.expected("hello", 300).text;
  client.send(post_text(prompt_path, prompt_request(R"(,"max_tokens":300,"stream":true)")));
  until([&] { return rig.counts().running.Value() == 1 || rig.counts().tokens.Value() > 0; });
  std::promise<void> unloaded;
  rig.app->service().repository.unload("tiny", [&](auto) { unloaded.set_value(); });
  unloaded.get_future().wait();
  BOOST_TEST(other.post(prompt_path, prompt_request("")).status == 404);
  BOOST_TEST(streamed_text(client.receive().value().body) == text);
}

// With Hugging Face's config.json, in which the server finds no field of its own. A changed file
// of the tokenizer loads the model again.
BOOST_AUTO_TEST_CASE(a_folder_of_an_onnx_export_answers_as_its_gguf_file_does) {
  TextRig rig({}, [](auto& options) { options.service.repository_interface = true; });
  const text_tests::TinyModel tiny(7);
  rig.folder.write("plain.gguf", tiny.file().bytes());
  auto files = onnx_folder(tiny, text_tests::Export::grouped);
  files["config.json"] = R"({"model_type":"llama","max_position_embeddings":160})";
  for (const auto& [name, bytes] : files) rig.folder.write("export/" + name, bytes);
  rig.look();
  Client client(rig.port());
  const auto body_for = [](const std::string& model) {
    return R"({"model":")" + model +
           R"(","messages":[{"role":"user","content":"hello"}],"temperature":0,"max_tokens":12})";
  };
  const auto expected = client.post(chat_path, body_for("plain"));
  const auto answer = client.post(chat_path, body_for("export"));
  BOOST_TEST(answer.status == 200, answer.body);
  const auto choice = [](const Response& response) {
    return json::serialize(json_in(response).at("choices"));
  };
  BOOST_TEST(choice(answer) == choice(expected));
  BOOST_TEST(json_in(client.get("/v1/models/export")).at("id") == "export");
  BOOST_TEST(json_in(client.get("/v2/models/export")).at("platform") == "onnx_onnxv1");
  rig.folder.write("export/tokenizer.json", "{");
  rig.look();
  BOOST_TEST(client.post("/v2/repository/index", "").body.find("tokenizer.json is no JSON") !=
             std::string::npos);
  BOOST_TEST(client.post(chat_path, body_for("export")).status == 200);  // the old model serves
}

BOOST_AUTO_TEST_CASE(what_the_server_shows_of_a_language_model) {
  TextRig rig;
  rig.folder.write("other/3/Tiny-Q4.gguf", endless_model());
  rig.folder.write("broken.gguf", endless_model().substr(0, 5000));
  rig.folder.write("shaped.gguf", endless_model());
  rig.folder.write("shaped.json", R"({"sizes":{"x":1}})");
  rig.look();
  Client client(rig.port());
  const auto list = json_in(client.get("/v1/models"));
  BOOST_TEST(list.at("object") == "list");
  std::string names;
  for (const auto& each : list.at("data").as_array()) names += string_of(each.at("id")) + " ";
  BOOST_TEST(names == "other tiny ");
  const auto one = json_in(client.get("/v1/models/tiny"));
  BOOST_TEST(one.at("id") == "tiny");
  BOOST_TEST(one.at("object") == "model");
  BOOST_TEST(one.at("created").as_int64() > 0);
  BOOST_TEST(json_in(client.get("/v1/models/simple")).at("error").at("code") == "model_not_found");
  BOOST_TEST(client.get("/v2/models/other/versions/3/ready").status == 200);
  BOOST_TEST(json_in(client.get("/v2/models/tiny")).at("platform") == "gguf");
  BOOST_TEST(client.get("/v2/models/broken/ready").status == 503);
  BOOST_TEST(client.get("/v2/models/shaped/ready").body.find("are not for language models") !=
             std::string::npos);
  BOOST_TEST(client.post(infer_simple, simple_request()).status == 200);
  const auto answer = json_in(client.post(
      "/v2/models/tiny/infer", R"({"inputs":[{"name":"prompt","datatype":"BYTES","shape":[1],)"
                               R"("data":["hello"]}]})"));
  BOOST_TEST(string_of(answer.at("outputs").at(0).at("data").at(0)) ==
             rig.expected("hello", 256).text);
  BOOST_TEST(rig.counts().prompt_tokens.Value() == 1);
  BOOST_TEST(rig.counts().tokens.Value() == 256);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::server::tests
