// Vectors of texts: the tokenizer, the files beside a model, and OpenAI's endpoint.
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdlib>
#include <random>

#include "models/word_piece.hpp"
#include "text_rig.hpp"

namespace polychron::server::tests {

namespace {

const std::string embeddings_path = "/v1/embeddings";

/// A tokenizer.json of 13 tokens.
const std::string tiny_tokenizer =
    text_of_file(std::filesystem::path(SERVER_TEST_FILES) / "tokenizer.json");

std::string changed_tokenizer(const std::string& from, const std::string& to) {
  auto text = tiny_tokenizer;
  const auto at = text.find(from);
  BOOST_REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string ids_of(const WordPiece& tokenizer, const std::string& text, std::size_t most = 100) {
  std::string ids;
  for (const auto each : tokenizer.encode(text, most)) ids += std::to_string(each) + " ";
  return ids;
}

/// The message of the error that the file meets; "" if it is read.
std::string trouble_with(const std::string& tokenizer) try {
  const WordPiece made(tokenizer);
  return {};
} catch (const Error& error) {
  BOOST_TEST((error.kind() == ErrorKind::bad_data || error.kind() == ErrorKind::not_supported));
  const std::string what = error.what();
  BOOST_TEST(what.find('\n') == std::string::npos);
  return what;
}

using Files = std::map<std::string, std::string>;  // texts by name

/// A server with the model of sentences, and files beside it.
struct SentenceRig : Rig {
  explicit SentenceRig(const Files& files = {}, const std::string& model = "sentences") : Rig({}) {
    folder.add(model, "tiny/model");
    folder.write("tiny/tokenizer.json", tiny_tokenizer);
    for (const auto& [name, text] : files) folder.write("tiny/" + name, text);
    look();
  }
};

std::string request_for(const std::string& input, const std::string& more = {}) {
  return R"({"model":"tiny","input":)" + input + more + "}";
}

std::vector<float> vector_in(const boost::json::value& answer, std::size_t place = 0) {
  std::vector<float> vector;
  const auto& data = answer.at("data").at(place);
  BOOST_TEST(data.at("index") == place);
  for (const auto& each : data.at("embedding").as_array())
    vector.push_back(each.to_number<float>());
  return vector;
}

/// The mean of the rows that the model gives these tokens, of length 1.
std::vector<float> mean_of(const std::vector<int>& tokens, bool normalized = true) {
  std::vector<double> sums(4);
  for (const int each : tokens) {
    const std::array<int, 4> row{each + 1, 1, 2 * each + 1, 1};
    for (std::size_t i = 0; i < 4; ++i) sums[i] += row[i] / static_cast<double>(tokens.size());
  }
  double square = 0;
  for (const auto each : sums) square += each * each;
  std::vector<float> mean;
  for (const auto each : sums)
    mean.push_back(static_cast<float>(each / (normalized ? std::sqrt(square) : 1)));
  return mean;
}

void check_near(const std::vector<float>& got, const std::vector<float>& expected) {
  BOOST_REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) BOOST_TEST(std::abs(got[i] - expected[i]) < 1e-6F);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(embeddings)

BOOST_AUTO_TEST_CASE(words_become_their_longest_pieces) {
  const WordPiece tokenizer(tiny_tokenizer);
  const std::pair<std::string, std::string> cases[] = {
      {"hello world", "2 5 6 3 "},
      {"", "2 3 "},
      {" \t\n\xc2\xa0 ", "2 3 "},
      {"hellos worldss", "2 5 7 6 7 7 3 "},
      {"hello!world", "2 5 9 6 3 "},
      {"HÉLLO, Wörld", "2 5 1 6 3 "},
      {"he\xcc\x81llo", "2 5 3 "},                  // a mark of its own
      {"he\xe2\x80\x8bllo he\x07llo", "2 5 5 3 "},  // characters that nobody sees
      {"日日hello", "2 10 10 5 3 "},
      {"İ", "2 12 3 "},
      {"hellox", "2 1 3 "},
      {"hello" + std::string(6, 's'), "2 1 3 "},  // more characters than a word may have
      {"hello" + std::string(5, 's'), "2 5 7 7 7 7 7 3 "},
      {"[MASK]hello[MASK] [mask]", "2 4 5 4 1 1 1 3 "},
      {"[MASK", "2 1 1 3 "},
      {"\xff\xfehello", "2 5 3 "},
  };
  for (const auto& [text, ids] : cases) BOOST_TEST(ids_of(tokenizer, text) == ids, text);
}

BOOST_AUTO_TEST_CASE(a_long_text_loses_its_end) {
  const WordPiece tokenizer(tiny_tokenizer);
  BOOST_TEST(ids_of(tokenizer, "hello world hello", 4) == "2 5 6 3 ");
  BOOST_TEST(ids_of(tokenizer, "hellosssss", 5) == "2 5 7 7 3 ");
  BOOST_TEST(ids_of(tokenizer, "[MASK][MASK][MASK]", 3) == "2 4 3 ");
  BOOST_TEST(ids_of(tokenizer, "hello", 1) == "2 3 ");
}

BOOST_AUTO_TEST_CASE(options_of_the_normalizer) {
  const WordPiece cased(changed_tokenizer(R"("lowercase": true)", R"("lowercase": false)"));
  BOOST_TEST(ids_of(cased, "hello Hello héllo") == "2 5 1 1 3 ");
  const WordPiece accented(
      changed_tokenizer(R"("strip_accents": null)", R"("strip_accents": false)"));
  BOOST_TEST(ids_of(accented, "HELLO héllo") == "2 5 1 3 ");
  BOOST_TEST(ids_of(accented, "i İ") == "2 12 1 3 ");
  const WordPiece joined(
      changed_tokenizer(R"("handle_chinese_chars": true)", R"("handle_chinese_chars": false)"));
  BOOST_TEST(ids_of(joined, "日 日日") == "2 10 1 3 ");
  const WordPiece unclean(changed_tokenizer(R"("clean_text": true)", R"("clean_text": false)"));
  BOOST_TEST(ids_of(unclean, "he\x07llo") == "2 1 3 ");
  const WordPiece ended(
      changed_tokenizer(R"("type": "TemplateProcessing",)",
                        R"("type": "BertProcessing", "cls": ["[MASK]", 4], "sep": ["!", 9],)"));
  BOOST_TEST(ids_of(ended, "hello") == "4 5 9 ");
}

BOOST_AUTO_TEST_CASE(other_tokenizers_are_named) {
  const std::array<std::string, 3> cases[] = {
      {R"("type": "WordPiece")", R"("type": "BPE")", "the model 'BPE' is not supported"},
      {"BertNormalizer", "NFC", "the normalizer 'NFC' is not supported"},
      {"BertPreTokenizer", "Metaspace", "the pre_tokenizer 'Metaspace' is not supported"},
      {"TemplateProcessing", "Roberta", "the post_processor 'Roberta' is not supported"},
      {R"("normalized": false)", R"("lstrip": true)", "the added token '[MASK]' with 'lstrip'"},
      {R"("[UNK]": 1)", R"("[UNK]": -1)", "a token's number"},
      {R"("[UNK]": 1)", R"("[UNK]": 1.5)", "a token's number"},
      {R"("[UNK]": 1)", R"("[UNK]": 99999999999)", "a token's number"},
      {R"("[UNK]": 1)", R"("other": 1)", "'[UNK]' is not in the vocabulary"},
      {R"("ids": [2])", R"("ids": [13])", "13 is no token"},
      {R"("ids": [2])", R"("ids": [])", "has no number"},
      {"\"##\"", "\"\"", "without continuing_subword_prefix"},
      {": 10,", ": 100000,", "words of 100000 characters"},
      {R"("content": "[MASK]")", R"("content": "")", "an added token needs"},
  };
  for (const auto& [from, to, message] : cases) {
    const auto trouble = trouble_with(changed_tokenizer(from, to));
    BOOST_TEST(trouble.find(message) != std::string::npos, to + ": " + trouble);
  }
  BOOST_TEST(!trouble_with(std::string(1000, '[')).empty());
  BOOST_TEST(!trouble_with("[]").empty());
  BOOST_TEST(!trouble_with("{}").empty());
}

/// Every beginning of the file, and 2,000 damaged ones: an error of one line, or a tokenizer.
BOOST_AUTO_TEST_CASE(damaged_tokenizers_are_errors) {
  for (std::size_t size = 0; size + 2 < tiny_tokenizer.size(); ++size)
    BOOST_TEST(!trouble_with(tiny_tokenizer.substr(0, size)).empty());
  const auto* const given = std::getenv("POLYCHRON_SEED");
  const auto seed = given ? std::strtoul(given, nullptr, 10) : std::random_device{}();
  BOOST_TEST_MESSAGE("POLYCHRON_SEED=" << seed);
  std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
  const std::array<std::string, 8> parts{"null",  "[]",   "{}",          "-1",
                                         "1e999", "\"\"", "\"\\u0000\"", "1"};
  for (int i = 0; i < 2000; ++i) {
    auto text = tiny_tokenizer;
    const auto at = random() % text.size();
    if (i % 2 == 0)
      text[at] = static_cast<char>(random());
    else if (const auto colon = text.find(':', at); colon != std::string::npos)
      text.replace(colon + 1, random() % 20, parts[random() % parts.size()]);
    if (trouble_with(text).empty()) WordPiece(text).encode("Hello [MASK] wörlds 日!", 64);
  }
}

BOOST_AUTO_TEST_CASE(a_text_becomes_the_mean_of_its_tokens) {
  const SentenceRig rig;
  Client client(rig.port());
  const auto response = client.post(embeddings_path, request_for(R"("Hello worlds")"));
  BOOST_TEST(response.status == 200, response.body);
  const auto answer = json_in(response);
  BOOST_TEST(answer.at("object") == "list");
  BOOST_TEST(answer.at("model") == "tiny");
  BOOST_TEST(answer.at("data").at(0).at("object") == "embedding");
  BOOST_TEST(answer.at("usage").at("prompt_tokens") == 5);
  BOOST_TEST(answer.at("usage").at("total_tokens") == 5);
  check_near(vector_in(answer), mean_of({2, 5, 6, 7, 3}));
  const auto tokens = json_in(client.post(embeddings_path, request_for("[2,5,6,7,3]")));
  BOOST_TEST(tokens.at("data") == answer.at("data"));
  const auto coded = json_in(
      client.post(embeddings_path, request_for(R"("!")", R"(,"encoding_format":"base64")")));
  // 2, 9 and 3: the mean is 17/3, 1, 31/3, 1.
  BOOST_TEST(string_of(coded.at("data").at(0).at("embedding")).size() == 24U);
  BOOST_TEST(rig.model("tiny")->in_flight() == 0U);
  BOOST_TEST(rig.app->service().budget.used() == 0U);
}

BOOST_AUTO_TEST_CASE(base64_has_the_bytes_of_floats) {
  // Not normalized: the first token's row, [3, 1, 5, 1].
  const SentenceRig rig(Files{{"1_Pooling/config.json", R"({"pooling_mode_cls_token":true})"},
                              {"modules.json", "[]"}});
  Client client(rig.port());
  const auto answer = json_in(
      client.post(embeddings_path, request_for(R"("!")", R"(,"encoding_format":"base64")")));
  BOOST_TEST(string_of(answer.at("data").at(0).at("embedding")) == "AABAQAAAgD8AAKBAAACAPw==");
}

/// Each text's vector is the one that it has alone, whatever the others' lengths.
BOOST_AUTO_TEST_CASE(many_texts_keep_their_places) {
  const SentenceRig rig;
  Client client(rig.port());
  std::string all;
  std::vector<std::vector<int>> tokens;
  for (std::size_t i = 0; i < 61; ++i) {
    std::string text;
    tokens.push_back({2});
    for (std::size_t j = 0; j < i * 7 % 50; ++j) {
      text += (i + j) % 3 == 0 ? "hello " : "! ";
      tokens.back().push_back((i + j) % 3 == 0 ? 5 : 9);
    }
    tokens.back().push_back(3);
    all += (i == 0 ? "[\"" : ",\"") + text + "\"";
  }
  const auto answer = json_in(client.post(embeddings_path, request_for(all + "]")));
  BOOST_REQUIRE(answer.at("data").as_array().size() == tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i)
    check_near(vector_in(answer, i), mean_of(tokens[i]));
}

BOOST_AUTO_TEST_CASE(the_files_beside_a_model_say_how) {
  const auto vector = [](const Files& files, const std::string& text,
                         const std::string& model = "sentences") {
    const SentenceRig rig(files, model);
    return vector_in(json_in(rig.client().post(embeddings_path, request_for("\"" + text + "\""))));
  };
  const std::string plain = R"([{"type":"sentence_transformers.models.Transformer"}])";
  check_near(vector({{"modules.json", plain}}, "hello"), mean_of({2, 5, 3}, false));
  check_near(vector({{"1_Pooling/config.json",
                      R"({"pooling_mode_cls_token":true,"pooling_mode_mean_tokens":false})"}},
                    "hello"),
             mean_of({2}));
  check_near(vector({{"sentence_bert_config.json", R"({"max_seq_length":4})"}}, "! ! ! ! hello"),
             mean_of({2, 9, 9, 3}));
  check_near(vector({{"config.json", R"({"context_length":3})"}}, "! ! !"), mean_of({2, 9, 3}));
  // A fixed shape of two texts, and a vector of the model's own: the sums of the tokens that count.
  check_near(vector({{"modules.json", plain}}, "hello", "pairs"), {13, 3, 23, 3});
}

BOOST_AUTO_TEST_CASE(a_fixed_shape_takes_any_number_of_texts) {
  const SentenceRig rig(Files{{"modules.json", "[]"}}, "pairs");
  const auto answer = json_in(
      rig.client().post(embeddings_path, request_for(R"(["!","hello","! ! ! ! ! ! ! ! !"])")));
  check_near(vector_in(answer, 0), {17, 3, 31, 3});
  check_near(vector_in(answer, 1), {13, 3, 23, 3});
  check_near(vector_in(answer, 2), {67, 8, 126, 8});
  BOOST_TEST(answer.at("usage").at("total_tokens") == 3 + 3 + 8);
}

/// It serves tensors all the same.
BOOST_AUTO_TEST_CASE(a_model_without_sentences_says_why) {
  const std::pair<Files, std::string> cases[] = {
      {{{"tokenizer.json", changed_tokenizer("\"WordPiece\"", "\"BPE\"")}},
       "is no sentence model: tokenizer.json: the model 'BPE' is not supported"},
      {{{"1_Pooling/config.json", R"({"pooling_mode_max_tokens":true})"}},
       "'pooling_mode_max_tokens' is not supported"},
      {{{"modules.json", R"([{"type":"sentence_transformers.models.Dense"}])"}},
       "Dense' is not supported"},
      {{{"sentence_bert_config.json", R"({"max_seq_length":0})"}}, "max_seq_length is no length"},
      {{{"modules.json", "{"}}, "'modules.json': not JSON"}};
  for (const auto& [files, why] : cases) {
    const SentenceRig rig(files);
    Client client(rig.port());
    const auto refused = client.post(embeddings_path, request_for(R"("hello")"));
    BOOST_TEST(refused.status == 404);
    BOOST_TEST(refused.body.find(why) != std::string::npos, refused.body);
    BOOST_TEST(json_in(refused).at("error").at("param") == "model");
    const std::string tensor = R"("datatype":"INT64","shape":[1,2],"data":[5,6]})";
    const auto served =
        client.post("/v2/models/tiny/infer", R"({"inputs":[{"name":"input_ids",)" + tensor +
                                                 R"(,{"name":"attention_mask",)" + tensor + "]}");
    BOOST_TEST(served.status == 200, served.body);
  }
}

BOOST_AUTO_TEST_CASE(a_new_tokenizer_is_taken) {
  SentenceRig rig(Files{{"tokenizer.json", "{}"}});
  Client client(rig.port());
  BOOST_TEST(client.post(embeddings_path, request_for(R"("hello")")).status == 404);
  rig.folder.write("tiny/tokenizer.json", tiny_tokenizer);
  rig.look();
  BOOST_TEST(client.post(embeddings_path, request_for(R"("hello")")).status == 200);
}

BOOST_AUTO_TEST_CASE(wrong_requests_of_vectors_name_the_field) {
  const SentenceRig rig;
  Client client(rig.port());
  const std::pair<std::string, std::string> cases[] = {
      {"1", "input"},
      {"null", "input"},
      {"[]", "input"},
      {R"(["a",[1]])", "input"},
      {R"([[1],"a"])", "input"},
      {"[[]]", "input"},
      {"[-1]", "input"},
      {"[1.5]", "input"},
      {"[13]", "input"},
      {R"("a","dimensions":3)", "dimensions"},
      {R"("a","dimensions":0)", "dimensions"},
      {R"("a","encoding_format":"int8")", "encoding_format"},
      {R"("a","truncate":true)", "truncate"}};
  for (const auto& [input, field] : cases) {
    const auto response = client.post(embeddings_path, request_for(input));
    BOOST_TEST(response.status == 400, response.body);
    BOOST_TEST(string_of(json_in(response).at("error").at("param")) == field, response.body);
  }
  const auto texts = [](std::size_t count) {
    std::string list = "[\"!\"";
    for (std::size_t i = 1; i < count; ++i) list += ",\"!\"";
    return list + "]";
  };
  BOOST_TEST(client.post(embeddings_path, request_for(texts(2048))).status == 200);
  BOOST_TEST(client.post(embeddings_path, request_for(texts(2049))).status == 400);
  const auto fine = R"("a","dimensions":4,"user":"me","encoding_format":"float")";
  BOOST_TEST(client.post(embeddings_path, request_for(fine)).status == 200);
  BOOST_TEST(client.post(embeddings_path, R"({"model":"none","input":"a"})").status == 404);
  BOOST_TEST(client.post(chat_path, chat_request("")).status == 404);
  const auto list = json_in(client.get("/v1/models"));
  BOOST_TEST(list.at("data").at(0).at("id") == "tiny");
  BOOST_TEST(json_in(client.get("/v1/models/tiny")).at("id") == "tiny");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::server::tests
