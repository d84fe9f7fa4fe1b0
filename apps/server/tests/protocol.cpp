// Parsing and formatting, without a socket.
#include "protocol/json.hpp"

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <random>

#include "protocol/compression.hpp"
#include "protocol/document.hpp"
#include "protocol/target.hpp"

namespace polychron::server {

namespace {

Body body_of(const std::string& text) {
  auto block = std::make_shared<std::string>(text);
  return {block, std::as_writable_bytes(std::span(block->data(), block->size()))};
}

std::string refusal_of_parsing(const std::string& text,
                               std::optional<std::size_t> json_length = {}) {
  try {
    parse_infer(body_of(text), json_length);
  } catch (const Refusal& refusal) {
    return std::to_string(static_cast<int>(refusal.status())) + " " + refusal.message();
  }
  return "accepted";
}

std::string input(const std::string& rest) { return R"({"inputs":[{"name":"x",)" + rest + "}]}"; }

}  // namespace

BOOST_AUTO_TEST_SUITE(protocol)

BOOST_AUTO_TEST_CASE(flat_and_nested_data_are_the_same) {
  for (const std::string data : {"[1,2,3,4]", "[[1,2],[3,4]]", "[1.0,2.0e0,[3,4]]"}) {
    const auto request =
        parse_infer(body_of(input(R"("datatype":"FP32","shape":[2,2],"data":)" + data)), {});
    BOOST_TEST(request.inputs.at(0).bytes.to_vector<float>() == (std::vector<float>{1, 2, 3, 4}),
               boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(binary_tensors_are_parts_of_the_body) {
  const std::string json =
      R"({"id":"7","parameters":{"binary_data_output":true,"timeout":5},"inputs":[)"
      R"({"name":"a","datatype":"INT32","shape":[2],"parameters":{"binary_data_size":8}},)"
      R"({"name":"b","datatype":"INT8","shape":[1],"data":[5]},)"
      R"({"name":"c","datatype":"UINT8","shape":[3],"parameters":{"binary_data_size":3}}],)"
      R"("outputs":[{"name":"y","parameters":{"binary_data":false}}]})";
  const auto body = body_of(json + std::string("\1\0\0\0\2\0\0\0\7\10\11", 11));
  const auto request = parse_infer(body, json.size());
  BOOST_TEST(request.id == "7");
  BOOST_TEST(request.timeout.value().count() == 5);
  BOOST_TEST(request.binary_outputs);
  BOOST_TEST(!request.outputs.at(0).binary);
  // Not a copy: the same addresses.
  BOOST_TEST(request.inputs.at(0).bytes.data() == body.bytes.data() + json.size());
  BOOST_TEST(request.inputs.at(2).bytes.data() == body.bytes.data() + json.size() + 8);
  BOOST_TEST(request.inputs.at(1).bytes.size() == 1U);
}

BOOST_AUTO_TEST_CASE(refusals_name_the_thing) {
  const auto fp32 = [](const std::string& rest) {
    return refusal_of_parsing(input(R"("datatype":"FP32",)" + rest));
  };
  BOOST_TEST(fp32(R"("shape":[2],"data":[1])") ==
             "400 input 'x': expected FP32 [2], got 1 elements");
  BOOST_TEST(fp32(R"("shape":[2],"data":[1,"a"])") ==
             "400 input 'x': element 1 is \"a\", expected a number");
  BOOST_TEST(fp32(R"("shape":[1],"data":[1e39])") ==
             "400 input 'x': element 0 is 1E39, too large for FP32");
  BOOST_TEST(fp32(R"("shape":[-1],"data":[1])") ==
             "400 input 'x': dimension -1, expected a whole number below 2^32");
  BOOST_TEST(fp32(R"("shape":[1])") ==
             "400 input 'x': expected 'data' or the parameter binary_data_size");
  BOOST_TEST(fp32(R"("shape":[1],"parameters":{"binary_data_size":4})") ==
             "400 input 'x': binary_data_size is 4, but only 0 bytes follow");
  BOOST_TEST(fp32(R"("shape":[1],"data":[1],"parameters":{"shared_memory_region":"r"})") ==
             "501 input 'x': parameter 'shared_memory_region' is not supported");
  BOOST_TEST(refusal_of_parsing(input(R"("datatype":"INT8","shape":[1],"data":[300])")) ==
             "400 input 'x': element 0 is 300, expected an integer of type INT8");
  BOOST_TEST(refusal_of_parsing(input(R"("datatype":"FP31","shape":[1],"data":[1])")) ==
             "400 input 'x': unknown datatype 'FP31'");
  BOOST_TEST(refusal_of_parsing("{}") == "400 request: expected an array 'inputs'");
  BOOST_TEST(refusal_of_parsing("[]").starts_with("400 request: expected an object"));
  BOOST_TEST(refusal_of_parsing("").starts_with("400 the body is not JSON"));
  BOOST_TEST(refusal_of_parsing(R"({"inputs":[]} x)").starts_with("400 the body is not JSON"));
  BOOST_TEST(refusal_of_parsing(R"({"inputs":[]}x)", 13) ==
             "400 1 bytes follow the JSON that no input asks for");
  BOOST_TEST(refusal_of_parsing(R"({"inputs":[]})", 14) ==
             "400 Inference-Header-Content-Length is 14, but the body has 13 bytes");
}

BOOST_AUTO_TEST_CASE(a_shape_costs_nothing_until_its_data_is_there) {
  // 2^31 elements, and none of them.
  const auto huge = R"("shape":[2147483647],"data":[])";
  for (const std::string type : {"FP32", "INT8", "BYTES"})
    BOOST_TEST(refusal_of_parsing(input(R"("datatype":")" + type + R"(",)" + huge))
                   .starts_with("400 input 'x'"));
  const auto most = R"("shape":[4294967295,4294967295,4294967295],"parameters":{)"
                    R"("binary_data_size":0})";
  BOOST_TEST(
      refusal_of_parsing(input(R"("datatype":"FP32",)" + std::string(most))).find("is too large") !=
      std::string::npos);
}

BOOST_AUTO_TEST_CASE(data_in_every_form) {
  const auto read = [](const std::string& type, const std::string& data) {
    return refusal_of_parsing(input("\"datatype\":\"" + type + R"(","shape":[1],"data":)" + data));
  };
  for (const std::string one : {"5", "[5]", "[[[5]]]", "[[],[5],[]]"})
    BOOST_TEST(read("INT64", one) == "accepted");
  BOOST_TEST(read("INT64", "null") ==
             "400 input 'x': element 0 is null, expected an integer of type INT64");
  BOOST_TEST(read("INT64", "[]") == "400 input 'x': expected INT64 [1], got 0 elements");
  BOOST_TEST(read("BOOL", "[true]") == "accepted");
  BOOST_TEST(read("BOOL", "[2]") == "400 input 'x': element 0 is 2, expected true or false");
  BOOST_TEST(read("UINT64", "[18446744073709551615]") == "accepted");
  BOOST_TEST(read("BYTES", R"(["a\u0000b"])") == "accepted");
  BOOST_TEST(read("BYTES", "[1]") == "400 input 'x': element 0 is 1, expected a string");
  BOOST_TEST(read("FP32", "{}") == "400 input 'x': expected an array 'data'");
  BOOST_TEST(read("FP32", "[{}]").starts_with("400 'data' has an object"));
  // Its name may be quoted, and the same name elsewhere means nothing.
  const auto request = parse_infer(
      body_of(
          R"({"data":[{}],"inputs":[{"name":"x","datatype":"BYTES","shape":[2],)"
          R"("d\u0061ta":["\u00e4","b"]},{"data":7,"name":"y","datatype":"INT8","shape":[1]}]})"),
      {});
  const auto& bytes = request.inputs.at(0).bytes;
  BOOST_TEST(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()) ==
             std::string("\2\0\0\0\xC3\xA4\1\0\0\0b", 11));
  BOOST_TEST((request.inputs.at(1).bytes.data()[0] == std::byte{7}));
}

BOOST_AUTO_TEST_CASE(values_besides_data_are_bounded) {
  const auto with = [](std::size_t values) {
    std::string text = R"({"inputs":[],"a":[)";  // three values
    for (std::size_t i = 3; i < values; ++i) text += i > 3 ? ",0" : "0";
    return refusal_of_parsing(text + "]}");
  };
  BOOST_TEST(with(65'536) == "accepted");
  BOOST_TEST(with(65'537) == "400 the request has more than 65536 values besides those in 'data'");
}

/// Counts the memory of a document.
struct Counting final : boost::json::memory_resource {
  std::uint64_t now = 0, most = 0;
  void* do_allocate(std::size_t bytes, std::size_t) override {
    most = std::max(most, now += bytes);
    return ::operator new(bytes);
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t) override {
    now -= bytes;
    ::operator delete(memory);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

BOOST_AUTO_TEST_CASE(a_document_takes_no_more_than_was_counted) {
  const auto repeated = [](const std::string& each, int times, const std::string& last) {
    std::string text;
    for (int i = 0; i < times; ++i) text += each;
    return text + last;
  };
  for (const auto& text :
       {R"({"a":[)" + repeated(R"({"":0},)", 20'000, "0]}"),
        R"({"a":[)" + repeated("[],", 60'000, "0]}"), R"({"a":[)" + repeated("0,", 60'000, "0]}"),
        R"({"inputs":[{"data":[)" + repeated("0,", 500'000, "0]}]}"),
        R"({"inputs":[)" + repeated(R"({"data":0},)", 20'000, "0]}")}) {
    Counting memory;
    {
      const auto document = parse_document(text, &memory);
      memory.most += document.elements.capacity() * sizeof(Element);
    }
    BOOST_TEST(memory.now == 0U);
    BOOST_TEST(memory.most <= bytes_to_parse(text), text.substr(0, 20));
    BOOST_TEST(bytes_to_parse(text) <= 60 * text.size(), text.substr(0, 20));
  }
}

BOOST_AUTO_TEST_CASE(bytes_that_are_not_the_bodys_are_counted) {
  const std::string json =
      R"({"id":"abc","inputs":[{"name":"a","datatype":"FP64","shape":[2],"data":[1,2]},)"
      R"({"name":"b","datatype":"INT8","shape":[4],"parameters":{"binary_data_size":4}}]})";
  const auto body = body_of(json + "1234");
  BOOST_TEST(bytes_apart(parse_infer(body, json.size()), body) == 3U + 16U);
}

BOOST_AUTO_TEST_CASE(deep_nesting_is_refused) {
  const std::string deep(100'000, '[');
  BOOST_TEST(refusal_of_parsing(input(R"("datatype":"FP32","shape":[1],"data":)" + deep))
                 .starts_with("400 the body is not JSON"));
}

BOOST_AUTO_TEST_CASE(numbers_are_the_same_after_the_way_there_and_back) {
  const auto seed = std::random_device()();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  std::vector<float> values{0.1F, -0.0F, 1e-45F, 3.4028235e38F, 16777217.F};
  for (int i = 0; i < 1000; ++i) {
    const auto bits = static_cast<std::uint32_t>(random());
    float value = 0;
    std::memcpy(&value, &bits, 4);
    if (std::isfinite(value)) values.push_back(value);
  }
  InferAnswer answer{"m", "1", "", {}};
  answer.outputs.push_back(
      {"x", WireType::fp32, {static_cast<std::uint32_t>(values.size())}, Buffer::copy_of(values)});
  auto json = encode_answer(std::move(answer), {}).json;
  json.replace(json.find("outputs"), 7, "inputs");
  const auto back = parse_infer(body_of(json), {}).inputs.at(0).bytes.to_vector<float>();
  BOOST_TEST(std::memcmp(back.data(), values.data(), values.size() * 4) == 0, "seed " << seed);
}

BOOST_AUTO_TEST_CASE(infinities_and_nan_are_written_as_triton_does) {
  InferAnswer answer{"m", "1", "i", {}};
  const std::vector<float> values{std::numeric_limits<float>::quiet_NaN(),
                                  std::numeric_limits<float>::infinity(),
                                  -std::numeric_limits<float>::infinity(), 1.5F};
  answer.outputs.push_back({"x", WireType::fp32, {4}, Buffer::copy_of(values)});
  BOOST_TEST(encode_answer(std::move(answer), {}).json ==
             R"({"model_name":"m","model_version":"1","id":"i","outputs":[{"name":"x",)"
             R"("datatype":"FP32","shape":[4],"data":[NaN,Infinity,-Infinity,1.5]}]})");
}

BOOST_AUTO_TEST_CASE(targets) {
  const auto shown = [](std::string_view text) {
    const auto target = parse_target(text);
    return target.path + " " + target.model + " " + target.version;
  };
  BOOST_TEST(shown("/v2/models/a%2Fb/versions/3/infer?x=1") == "/v2/models/*/infer a/b 3");
  BOOST_TEST(shown("/v2/models/versions/infer") == "/v2/models/*/infer versions ");
  BOOST_TEST(shown("/v2/models/../../etc/passwd") == "/v2/models/*/../etc/passwd .. ");
  BOOST_TEST(shown("/v2/models/m") == "/v2/models/* m ");
  BOOST_TEST(shown("/v2/models/m/") == "/v2/models/* m ");
  BOOST_TEST(shown("/v2/models/%2a/infer") == "/v2/models/*/infer * ");
  BOOST_TEST(shown("/v2/models/%zz/infer") == "  ");
  BOOST_TEST(shown("/v2%2Fhealth/live") == "  ");
  BOOST_TEST(shown("/v2/models/stats") == "/v2/models/stats  ");
  BOOST_TEST(shown("/v2/repository/models/m/load") == "/v2/repository/models/*/load m ");
  BOOST_TEST(shown("http://host/v2") == "  ");
  BOOST_TEST(shown("") == "  ");
  BOOST_TEST(shown("/?a=b") == "/  ");
}

BOOST_AUTO_TEST_CASE(compression_has_a_limit) {
  const std::string text(1 << 20, 'a');
  const auto packed = compressed(text, "gzip");
  const auto bytes = std::as_bytes(std::span(packed));
  std::string plain;
  const auto unpack = [&](std::span<const std::byte> from) {
    std::vector<std::byte> space(1000);
    const auto add = [&](std::size_t used) {
      plain.append(reinterpret_cast<const char*>(space.data()), used);
    };
    add(decompress(from, [&](std::size_t used) { return add(used), std::span(space); }));
  };
  unpack(bytes);
  BOOST_TEST((plain == text));
  const auto is_damage = [](const Refusal& r) { return r.status() == Status::bad_request; };
  BOOST_CHECK_EXCEPTION(unpack(bytes.first(bytes.size() - 9)), Refusal, is_damage);
  BOOST_CHECK_EXCEPTION(unpack(std::as_bytes(std::span(text))), Refusal, is_damage);
  BOOST_CHECK_THROW(is_compressed("br"), Refusal);
  BOOST_TEST(chosen_encoding("br, gzip;q=0, deflate") == "deflate");
}

BOOST_AUTO_TEST_CASE(conversions_between_wire_and_operand) {
  const auto round_trip = [](WireType type, auto value) {
    auto operand = to_operand(type, Buffer::copy_of(std::as_bytes(std::span(&value, 1))));
    const auto wire = from_operand(type, std::move(operand));
    return wire.size() == sizeof(value) && std::memcmp(wire.data(), &value, sizeof(value)) == 0;
  };
  BOOST_TEST(round_trip(WireType::int16, std::int16_t{-32768}));
  BOOST_TEST(round_trip(WireType::uint16, std::uint16_t{65535}));
  BOOST_TEST(round_trip(WireType::fp64, 0.25));
  BOOST_TEST(round_trip(WireType::bf16, std::uint16_t{0x3FC0}));
  BOOST_TEST(!round_trip(WireType::boolean, std::uint8_t{7}));  // true is 1
}

BOOST_AUTO_TEST_CASE(printable_text) {
  BOOST_TEST(printable("a\nb\x7F\xFF\xC3\xA4") == "a?b??\xC3\xA4");
  BOOST_TEST(printable("\xED\xA0\x80\xC0\x80") == "?????");
  BOOST_TEST(printable("abcdef", 3) == "abc...");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::server
