// What requests of text must have, and the form of their errors.
#include <boost/test/unit_test.hpp>

#include "text_rig.hpp"

namespace polychron::server::tests {

BOOST_AUTO_TEST_SUITE(texts)

BOOST_AUTO_TEST_CASE(wrong_requests_name_the_field) {
  const TextRig rig({}, [](auto& options) { options.http.json_bytes = 1'000'000; });
  Client client(rig.port());
  const auto error = [&](const std::string& path, const std::string& body) {
    const auto response = client.post(path, body);
    const auto answer = json_in(response);
    const auto& object = answer.at("error");
    BOOST_TEST(object.at("type") == "invalid_request_error");
    BOOST_TEST(!string_of(object.at("message")).empty());
    const auto& field = object.at("param");
    return std::to_string(response.status) + " " + (field.is_null() ? "-" : string_of(field));
  };
  const std::pair<std::string, std::string> more[] = {
      {R"(,"n":2)", "n"},
      {R"(,"n":0)", "n"},
      {R"(,"stream":1)", "stream"},
      {R"(,"stream_options":{"include_usage":true})", "stream_options"},
      {R"(,"stream":true,"stream_options":{"other":true})", "other"},
      {R"(,"max_tokens":0)", "max_tokens"},
      {R"(,"max_tokens":1.5)", "max_tokens"},
      {R"(,"max_tokens":-1)", "max_tokens"},
      {R"(,"top_p":0)", "top_p"},
      {R"(,"top_p":1.1)", "top_p"},
      {R"(,"top_k":-1)", "top_k"},
      {R"(,"seed":"x")", "seed"},
      {R"(,"stop":"")", "stop"},
      {R"(,"stop":[1])", "stop"},
      {R"(,"stop":")" + std::string(257, 'x') + "\"", "stop"},
      {R"(,"logit_bias":{"5":1})", "logit_bias"},
      {R"(,"presence_penalty":0.5)", "presence_penalty"},
      {R"(,"min_p":0.1)", "min_p"},
      {R"(,"logprobs":-1)", "logprobs"}};
  for (const auto& [fields, name] : more)
    for (const bool is_chat : {false, true})
      BOOST_TEST(error(is_chat ? chat_path : prompt_path,
                       is_chat ? chat_request(fields) : prompt_request(fields)) == "400 " + name,
                 fields);
  for (const std::string fields : {R"(,"logprobs":6)", R"(,"logprobs":true)"})
    BOOST_TEST(error(prompt_path, prompt_request(fields)) == "400 logprobs");
  BOOST_TEST(error(prompt_path, prompt_request(R"(,"top_logprobs":1)")) == "400 top_logprobs");
  BOOST_TEST(error(chat_path, chat_request(R"(,"logprobs":5)")) == "400 logprobs");
  for (const std::string fields : {R"(,"top_logprobs":1)", R"(,"logprobs":true,"top_logprobs":21)",
                                   R"(,"logprobs":true,"top_logprobs":1.5)"})
    BOOST_TEST(error(chat_path, chat_request(fields)) == "400 top_logprobs");
  const std::pair<std::string, std::string> chats[] = {
      {R"([])", "messages"},
      {R"("hello")", "messages"},
      {R"([1])", "messages[0]"},
      {R"([{"role":"user","content":"a"},{"role":"tool","content":"b"}])", "messages[1].role"},
      {R"([{"content":"b"}])", "messages[0].role"},
      {R"([{"role":"user","content":null}])", "messages[0].content"},
      {R"([{"role":"user","content":[{"type":"image_url","image_url":"x"}]}])",
       "messages[0].content"},
      {R"([{"role":"assistant","content":"","tool_calls":[]}])", "tool_calls"}};
  for (const auto& [messages, name] : chats)
    BOOST_TEST(error(chat_path, R"({"model":"tiny","messages":)" + messages + "}") == "400 " + name,
               messages);
  for (const std::string prompt : {"1", "[]", R"(["a","b"])", "[1,2]"})
    BOOST_TEST(error(prompt_path, R"({"model":"tiny","prompt":)" + prompt + "}") == "400 prompt",
               prompt);
  const std::tuple<std::string, std::string, std::string> others[] = {
      {prompt_path, "{", "400 -"},
      {prompt_path, "[]", "400 -"},
      {prompt_path, R"({"prompt":"a"})", "400 model"},
      {prompt_path, R"({"model":"none","prompt":"a"})", "404 model"},
      {prompt_path, R"({"model":"simple","prompt":"a"})", "404 model"},
      {prompt_path, R"({"model":"tiny","prompt":""})", "400 -"},
      {prompt_path, R"({"model":"tiny","prompt":")" + std::string(2000, 'a') + R"("})", "400 -"},
      {prompt_path, R"({"model":"tiny","prompt":")" + std::string(70'000, 'a') + R"("})",
       "400 prompt"},
      {prompt_path, std::string(1'000'001, ' '), "413 -"},
      {"/v1/embeddings", "{}", "400 model"},
      {"/v1/embeddings", R"({"model":"tiny","input":"a"})", "404 model"},
      {"/v1/images", "{}", "404 -"}};
  for (const auto& [path, body, expected] : others)
    BOOST_TEST(error(path, body) == expected, body.substr(0, 80));
  BOOST_TEST(client.get(prompt_path).status == 405);
  // Values that ask for nothing are no mistake. The same connection serves.
  const auto fine = client.post(
      chat_path,
      chat_request(R"(,"max_tokens":2,"n":1,"stop":null,"logprobs":false,"tools":[],"user":"me",)"
                   R"("response_format":{"type":"text"},"frequency_penalty":0.0)"));
  BOOST_TEST(fine.status == 200, fine.body);
}

BOOST_AUTO_TEST_CASE(tokens_are_asked_for_in_openais_form) {
  const TextRig rig({}, [](auto& options) { options.service.tokens = {"secret"}; });
  Client client(rig.port());
  const auto refused = client.post(prompt_path, prompt_request(""));
  BOOST_TEST(refused.status == 401);
  BOOST_TEST(json_in(refused).at("error").at("code") == "invalid_api_key");
  BOOST_TEST(
      client.post(prompt_path, prompt_request(""), "Authorization: Bearer secret\r\n").status ==
      200);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::server::tests
