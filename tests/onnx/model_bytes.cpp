// A model's bytes, which protobuf may write in several ways, and its weights, which are read apart
// from it. Models that protobuf takes are taken, and mean the same.
#include <google/protobuf/stubs/logging.h>

#include <cstdlib>
#include <random>

#include "tests/onnx/fixture.hpp"

using namespace onnx_tests;
using polychron::ErrorKind;

BOOST_AUTO_TEST_SUITE(model_bytes)

namespace {

constexpr char graph_tag = 7 << 3 | 2, initializer_tag = 5 << 3 | 2, data_tag = 9 << 3 | 2;

std::string varint(std::size_t number) {
  std::string bytes;
  for (; number > 127; number >>= 7U) bytes += static_cast<char>(number % 128 + 128);
  return bytes + static_cast<char>(number);
}

/// A field of bytes, or of a message.
std::string field(char tag, const std::string& bytes) { return tag + varint(bytes.size()) + bytes; }

/// w, without what it holds.
std::string head() {
  proto::TensorProto tensor;
  tensor.set_name("w");
  tensor.set_data_type(proto::TensorProto::FLOAT);
  tensor.add_dims(2);
  return tensor.SerializeAsString();
}
std::string numbers(double a, double b) { return to_bytes(floats({2}, {a, b})); }
std::string tensor_of(const std::string& data) {
  return field(initializer_tag, head() + field(data_tag, data));
}

/// y = x + w, without w.
Model sum() {
  Model model;
  model.node("Add", {"x", "w"}, {"y"}).input("x", floats({2}, {0, 0})).output("y");
  return model;
}
/// The same, with what else a graph's field 7 holds.
std::string sum_with(const std::string& graph, const std::string& around = {}) {
  return sum().bytes() + around + field(graph_tag, graph) + around;
}

void gives(const std::string& bytes, const Reals& w) {
  compare(build(load(bytes)), {{"x", floats({2}, {1, 1})}},
          {{"y", floats({2}, {1 + w[0], 1 + w[1]})}}, 0);
}

void damaged(const std::string& bytes) {
  try {
    load(bytes);
    BOOST_ERROR("it was taken");
  } catch (const polychron::Error& error) {
    BOOST_TEST(to_string(error.kind()) == to_string(ErrorKind::bad_data), error.what());
    BOOST_TEST(std::string(error.what()).find("truncated or damaged") != std::string::npos,
               error.what());
  }
}

/// Fields that no version of ONNX has, one of each kind that protobuf can write.
std::string unknown_fields() {
  const auto tag = [](std::size_t type) { return varint(900U << 3U | type); };
  const auto inner = field(graph_tag, field(initializer_tag, field(data_tag, "not of the path")));
  return tag(0) + varint(1U << 30U) + tag(1) + std::string(8, 'f') + tag(2) + varint(3) + "abc" +
         tag(3) + inner + tag(3) + tag(4) + tag(4) + tag(5) + "four";
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_last_data_of_a_tensor_counts) {
  gives(sum_with(tensor_of(numbers(2, 3))), {2, 3});
  const auto twice = field(data_tag, "less") + field(data_tag, numbers(4, 5));
  gives(sum_with(field(initializer_tag, head() + twice)), {4, 5});
  gives(sum_with(field(initializer_tag, field(data_tag, numbers(6, 7)) + head())), {6, 7});
}

BOOST_AUTO_TEST_CASE(graphs_that_come_in_parts) {
  const auto named = [](char name, double a, double b) {
    auto tensor = tensor_of(numbers(a, b));
    tensor[tensor.find('w')] = name;
    return tensor;
  };
  const auto w = named('w', 2, 3);
  gives(field(graph_tag, named('u', 8, 9)) + field(graph_tag, w) + sum().bytes(), {2, 3});
  gives(sum_with(named('u', 8, 9) + w + named('v', 4, 5)), {2, 3});
}

BOOST_AUTO_TEST_CASE(unknown_fields_are_passed_over) {
  const auto unknown = unknown_fields();
  const auto tensor = head() + unknown + field(data_tag, numbers(2, 3)) + unknown;
  gives(sum_with(unknown + field(initializer_tag, tensor) + unknown, unknown), {2, 3});
}

BOOST_AUTO_TEST_CASE(fields_of_another_type_than_onnx_has) {
  // A graph, an initializer or data that is a number: protobuf passes it over.
  const auto number = [](char tag) { return std::string{static_cast<char>(tag & ~7)} + "\x05"; };
  const auto tensor = head() + field(data_tag, numbers(2, 3)) + number(data_tag);
  gives(sum_with(number(initializer_tag) + field(initializer_tag, tensor), number(graph_tag)),
        {2, 3});
}

BOOST_AUTO_TEST_CASE(lengths_that_lie) {
  const auto tensor = head() + field(data_tag, numbers(2, 3));
  const auto whole = field(initializer_tag, tensor);
  const auto with_length = [](char tag, std::size_t length, const std::string& bytes) {
    return tag + varint(length) + bytes;
  };
  for (const auto more : {std::size_t{1}, std::size_t{1} << 20U, (std::size_t{1} << 31U) - 1,
                          std::size_t{1} << 31U, (std::size_t{1} << 32U) + 1}) {
    // Data that reach beyond their tensor, a tensor beyond the graph, and a graph beyond the file.
    damaged(sum_with(
        field(initializer_tag, head() + with_length(data_tag, 8 + more, numbers(2, 3))) + whole));
    damaged(sum_with(with_length(initializer_tag, tensor.size() + more, tensor)));
    damaged(sum().bytes() + with_length(graph_tag, whole.size() + more, whole));
  }
  // A tensor and a graph that end within a field.
  damaged(sum_with(with_length(initializer_tag, tensor.size() - 1, tensor)));
  damaged(sum().bytes() + with_length(graph_tag, whole.size() - 1, whole));
}

BOOST_AUTO_TEST_CASE(numbers_in_more_bytes_than_protobuf_takes) {
  const auto long_zero = [](std::size_t bytes) { return std::string(bytes - 1, '\x80') + '\0'; };
  const auto long_tag = [&](char tag, std::size_t bytes) {
    return static_cast<char>(tag | 0x80) + long_zero(bytes - 1);
  };
  for (const char tag : {graph_tag, char{2 << 3 | 2}}) {
    // An empty graph, or an empty string.
    BOOST_CHECK_NO_THROW(load(sum_with(tensor_of(numbers(2, 3)), long_tag(tag, 5) + '\0')));
    BOOST_CHECK_NO_THROW(load(sum_with(tensor_of(numbers(2, 3)), tag + long_zero(5))));
    damaged(sum_with(tensor_of(numbers(2, 3)), long_tag(tag, 6) + '\0'));
    damaged(sum_with(tensor_of(numbers(2, 3)), tag + long_zero(6)));
  }
  const auto beyond_32_bits = std::string("\xba\x80\x80\x80\x80\x01", 6) + '\0';
  damaged(sum_with(tensor_of(numbers(2, 3)), beyond_32_bits));
}

BOOST_AUTO_TEST_CASE(groups_without_an_end) {
  const auto begin = varint(900U << 3U | 3U), end = varint(900U << 3U | 4U);
  const auto other_end = varint(901U << 3U | 4U);
  for (const auto& bytes : {begin, end, begin + other_end, begin + begin + end}) {
    damaged(sum().bytes() + bytes);
    damaged(sum_with(bytes));
    damaged(sum_with(field(initializer_tag, head() + bytes)));
  }
  std::string deep;
  for (int i = 0; i < 1000000; ++i) deep += begin;
  damaged(sum().bytes() + deep);
}

BOOST_AUTO_TEST_CASE(what_protobuf_takes_is_taken) {
  const auto* fixed = std::getenv("POLYCHRON_SEED");
  const auto seed = fixed ? std::strtoul(fixed, nullptr, 10) : std::random_device{}();
  BOOST_TEST_MESSAGE("POLYCHRON_SEED=" << seed);
  std::mt19937_64 random(seed);
  const google::protobuf::LogSilencer silence;
  const auto whole =
      sum_with(unknown_fields() + tensor_of(numbers(2, 3)) + unknown_fields(), unknown_fields());
  int taken = 0;
  constexpr int cases = 20000;
  for (int i = 0; i < cases; ++i) {
    auto bytes = whole;
    for (auto changes = 1 + random() % 3; changes > 0; --changes) {
      const auto at = random() % bytes.size();
      switch (random() % 4) {
        case 0:
          bytes[at] = static_cast<char>(random());
          break;
        case 1:
          bytes.erase(at, 1 + random() % 4);
          break;
        case 2:
          bytes.insert(at, 1, static_cast<char>(random()));
          break;
        default:
          bytes[at] = static_cast<char>(bytes[at] ^ 1 << random() % 8);
      }
    }
    if (bytes.empty()) continue;
    proto::ModelProto model;
    const bool expected = model.ParseFromString(bytes);
    bool found = true;
    std::string why;
    std::size_t weights = 0;
    bool plain = true;  // all of it raw data, of floats
    for (const auto& tensor : model.graph().initializer()) {
      weights += tensor.raw_data().size();
      plain = plain && tensor.has_raw_data() && tensor.data_type() == proto::TensorProto::FLOAT &&
              tensor.data_location() == proto::TensorProto::DEFAULT;
    }
    try {
      const auto loaded = load(bytes);
      BOOST_TEST((!plain || loaded.summary().initializer_bytes == weights),
                 "POLYCHRON_SEED=" << seed << ", case " << i << ": " << weights
                                   << " bytes expected, " << loaded.summary().initializer_bytes
                                   << " came");
    } catch (const polychron::Error& error) {
      why = error.what();
      found = why.find("truncated or damaged") == std::string::npos;
    }
    taken += expected;
    BOOST_TEST(found == expected, "POLYCHRON_SEED=" << seed << ", case " << i << ": protobuf "
                                                    << (expected ? "takes" : "refuses") << " it; "
                                                    << why);
  }
  BOOST_TEST_MESSAGE(cases << " damaged models, " << taken << " of them messages");
  BOOST_TEST(taken > cases / 20);
  BOOST_TEST(taken < cases);
}

BOOST_AUTO_TEST_SUITE_END()
