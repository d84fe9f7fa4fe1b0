// Files from strangers: damage of every kind is an error that names it, and takes no memory. And
// the types of weights.
#include <algorithm>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "apps/text/blocks.hpp"
#include "polychron/runtime.hpp"
#include "polychron/text.hpp"
#include "tests/text/tiny_model.hpp"

using namespace polychron;
using text_tests::Bytes;
using text_tests::File;
using text_tests::TemporaryFile;
using text_tests::TinyModel;

namespace {

struct GgufFixture {
  Runtime runtime;
  Context context = runtime.create_context().get();
  File file = TinyModel().file();

  /// The error of loading these bytes.
  Error error_of(const std::string& bytes) const {
    const TemporaryFile written(bytes);
    try {
      static_cast<void>(text::Model::load(context, written.path()));
    } catch (const Error& error) {
      return error;
    }
    return {ErrorKind::internal, "it was loaded"};
  }
  void check(const std::string& bytes, ErrorKind kind, const std::string& message) const {
    const auto error = error_of(bytes);
    BOOST_TEST((error.kind() == kind), error.what());
    BOOST_TEST(error.message().find(message) != std::string::npos, error.what());
  }
  void check(ErrorKind kind, const std::string& message) const {
    check(file.bytes(), kind, message);
  }
};

std::vector<float> expanded(std::uint32_t type, const std::vector<std::uint8_t>& block) {
  const auto* const known = text::detail::block_type(type);
  BOOST_REQUIRE(known != nullptr);
  BOOST_REQUIRE(known->bytes == block.size());
  std::vector<float> weights(known->weights);
  text::detail::expand(*known, std::as_bytes(std::span(block)), weights);
  return weights;
}

constexpr std::uint8_t one_low = 0x00, one_high = 0x3c, half_high = 0x38;  // 1 and 0.5 in float16

}  // namespace

BOOST_FIXTURE_TEST_SUITE(gguf, GgufFixture)

BOOST_AUTO_TEST_CASE(a_whole_file_is_loaded) {
  const TemporaryFile written(file.bytes());
  const auto model = text::Model::load(context, written.path(), {.label = "tiny"});
  BOOST_TEST(model.label() == "tiny");
  BOOST_TEST(model.context_length() == TinyModel::context);
  BOOST_TEST(model.has_chat());
}

BOOST_AUTO_TEST_CASE(a_file_that_is_cut_anywhere_is_refused) {
  const auto whole = file.bytes();
  for (std::size_t length = 0; length < whole.size(); length += length < 600 ? 7 : 9973) {
    const auto error = error_of(whole.substr(0, length));
    BOOST_TEST((error.kind() == ErrorKind::bad_data), length << ": " << error.what());
  }
  check("", ErrorKind::bad_data, "header");
  BOOST_CHECK_THROW(static_cast<void>(text::Model::load(context, "no such file.gguf")), Error);
}

BOOST_AUTO_TEST_CASE(huge_counts_take_no_memory) {
  for (const auto at : {8U, 16U}) {  // of tensors, of values
    auto bytes = file.bytes();
    for (std::size_t i = 0; i < 8; ++i) bytes[at + i] = '\x7f';
    check(bytes, ErrorKind::bad_data, "header");
  }
  for (const std::uint32_t type : {0U, 8U, 12U}) {
    auto damaged = file;
    damaged.values.emplace_back(
        "huge", Bytes{}.number(std::uint32_t{9}).number(type).number(~std::uint64_t{0}));
    check(damaged.bytes(), ErrorKind::bad_data, "header");
  }
  auto name = file;
  name.value("general.architecture") = Bytes{}.number(std::uint32_t{8}).number(~std::uint64_t{0});
  check(name.bytes(), ErrorKind::bad_data, "name");
}

BOOST_AUTO_TEST_CASE(wrong_values_are_named) {
  const auto with = [&](const std::string& key, auto value, ErrorKind kind,
                        const std::string& message) {
    auto changed = file;
    changed.remove(key);
    check(changed.bytes(), ErrorKind::bad_data, key);
    changed.add(key, value);
    check(changed.bytes(), kind, message);
  };
  const auto bad = ErrorKind::bad_data, unknown = ErrorKind::not_supported;
  with("general.architecture", std::string("gpt\n"), unknown, "'gpt\\x0a'");
  with("tokenizer.ggml.model", std::string("bert"), unknown, "'bert'");
  with("tokenizer.ggml.model", std::string("llama"), bad, "'tokenizer.ggml.scores'");
  with("llama.embedding_length", 0U, bad, "'llama.embedding_length' is 0");
  with("llama.embedding_length", 66U, bad, "width of 66");
  with("llama.block_count", 3U, bad, "'blk.2.");
  with("llama.block_count", 1U, unknown, "'blk.1.");
  with("llama.feed_forward_length", 128U, bad, "ffn_");
  with("llama.context_length", 1U, ErrorKind::type_error, "context_length");
  with("llama.attention.head_count", std::string("4"), bad, "another type");
  with("tokenizer.ggml.merges", std::vector<std::string>{"x yz"}, bad, "'yz'");
  with("tokenizer.ggml.merges", std::vector<std::string>{"xyz"}, bad, "no space");
  with("tokenizer.ggml.tokens", std::vector<std::string>{"x"}, bad, "types");
  for (const auto* key : {"llama.block_count", "general.architecture"}) {
    auto twice = file;
    twice.values.emplace_back(key, twice.value(key));
    check(twice.bytes(), bad, "twice");
  }
  file.add("llama.rope.scaling.type", std::string("yarn"));
  check(unknown, "'yarn'");
}

BOOST_AUTO_TEST_CASE(other_versions_and_types_are_refused) {
  file.version = 4;
  check(ErrorKind::not_supported, "version 4");
  file.version = 3;
  check("GGML" + file.bytes().substr(4), ErrorKind::bad_data, "not a GGUF file");
  file.tensor("output_norm.weight").type = 9;
  check(ErrorKind::not_supported, "'output_norm.weight': weights of type 9");
  file.tensor("output_norm.weight").type = 0;
  file.values.emplace_back("odd", Bytes{}.number(std::uint32_t{13}));
  check(ErrorKind::bad_data, "type 13");
}

BOOST_AUTO_TEST_CASE(tensors_lie_in_the_file_each_alone) {
  auto& norm = file.tensor("output_norm.weight");
  norm.offset = 0;
  check(ErrorKind::bad_data, "overlap");
  norm.offset = 8;
  check(ErrorKind::bad_data, "not aligned");
  for (const auto far : {std::uint64_t{1} << 40U, ~std::uint64_t{31}}) {
    norm.offset = far;
    check(ErrorKind::bad_data, "behind the end");
  }
  norm.offset = ~std::uint64_t{0};
  const auto sizes = norm.dimensions;
  for (const auto& [dimensions, message] :
       std::vector<std::pair<std::vector<std::uint64_t>, std::string>>{
           {{}, "0 dimensions"},
           {{1, 1, 1, 1, 1}, "5 dimensions"},
           {{0}, "a dimension of 0"},
           {{64, std::uint64_t{1} << 32U}, "a dimension of"},
           {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, "a size above"},
           {{63}, "expected [64]"}}) {
    norm.dimensions = dimensions;
    check(ErrorKind::bad_data, message);
  }
  norm.dimensions = sizes;
  norm.name = "blk.0.attn_norm.weight";
  check(ErrorKind::bad_data, "twice");
  norm.name = "rope_freqs.weight";
  check(ErrorKind::bad_data, "'output_norm.weight'");
}

BOOST_AUTO_TEST_CASE(a_tensor_of_another_architecture_is_refused) {
  file.tensors.push_back({"blk.0.attn_q.bias", {64}, 0, std::string(256, '\0')});
  check(ErrorKind::not_supported, "'blk.0.attn_q.bias'");
}

BOOST_AUTO_TEST_CASE(blocks_are_expanded) {
  BOOST_TEST(expanded(0, {0, 0, 0xc0, 0x3f}) == std::vector<float>{1.5F});
  BOOST_TEST(expanded(1, {0x00, 0xc0}) == std::vector<float>{-2});
  BOOST_TEST(expanded(30, {0xc0, 0x3f}) == std::vector<float>{1.5F});
  std::vector<std::uint8_t> q4_0{one_low, half_high}, q4_1{one_low, half_high, one_low, one_high},
      q8_0{one_low, half_high};
  for (std::uint8_t i = 0; i < 16; ++i) {
    q4_0.push_back(static_cast<std::uint8_t>((15 - i) << 4U | i));
    q4_1.push_back(q4_0.back());
  }
  for (int i = 0; i < 32; ++i) q8_0.push_back(static_cast<std::uint8_t>(i * 8 - 128));
  const auto a = expanded(2, q4_0), b = expanded(3, q4_1), c = expanded(8, q8_0);
  for (int i = 0; i < 32; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto q = static_cast<float>(i < 16 ? i : 31 - i);
    BOOST_TEST(a[at] == (q - 8) * 0.5F);
    BOOST_TEST(b[at] == q * 0.5F + 1);
    BOOST_TEST(c[at] == static_cast<float>(i * 8 - 128) * 0.5F);
  }
}

BOOST_AUTO_TEST_CASE(fifth_bits_are_expanded) {
  // Integer i is i: nibbles are i % 16, and the last 16 integers have the fifth bit.
  std::vector<std::uint8_t> q5_0{one_low, half_high, 0, 0, 0xff, 0xff},
      q5_1{one_low, half_high, one_low, one_high, 0, 0, 0xff, 0xff};
  for (std::uint8_t i = 0; i < 16; ++i) {
    q5_0.push_back(static_cast<std::uint8_t>(i << 4U | i));
    q5_1.push_back(q5_0.back());
  }
  const auto a = expanded(6, q5_0), b = expanded(7, q5_1);
  for (std::size_t i = 0; i < 32; ++i) {
    BOOST_TEST(a[i] == (static_cast<float>(i) - 16) * 0.5F);
    BOOST_TEST(b[i] == static_cast<float>(i) * 0.5F + 1);
  }
}

// The layouts of ggml's dequantize_row_q4_K(), dequantize_row_q5_K() and dequantize_row_q6_K(), by
// one weight that differs.
BOOST_AUTO_TEST_CASE(large_blocks_are_expanded) {
  std::vector<std::uint8_t> q4_k(144), q5_k(176), q6_k(210);
  q4_k[1] = one_high, q4_k[3] = half_high;  // factors of scales and of offsets
  q4_k[4 + 1] = 3, q4_k[4 + 5] = 2;         // part 1: scale 3, offset 2
  q4_k[4 + 8 + 2] = 0x54;                   // part 6: scale 4, offset 5; their high bits:
  q4_k[4 + 2] |= 0x40, q4_k[4 + 6] |= 0x80;
  q4_k[16 + 9] = 0x70;        // part 1, weight 9
  q4_k[16 + 96 + 31] = 0x0b;  // part 6, weight 31
  const auto a = expanded(12, q4_k);
  BOOST_TEST(a[0] == 0);
  BOOST_TEST(a[32 + 9] == 3 * 7 - 0.5F * 2);
  BOOST_TEST(a[32 + 8] == -0.5F * 2);
  BOOST_TEST(a[6 * 32 + 31] == (16 + 4) * 11 - 0.5F * (32 + 5));
  std::ranges::copy_n(q4_k.begin(), 16, q5_k.begin());  // the same scales and offsets
  q5_k[16 + 9] = 0x02, q5_k[16 + 31] = 0x40;            // fifth bits: part 1, weight 9; part 6, 31
  q5_k[48 + 9] = 0x70, q5_k[48 + 96 + 31] = 0x0b;
  const auto c = expanded(13, q5_k);
  BOOST_TEST(c[32 + 9] == 3 * (16 + 7) - 0.5F * 2);
  BOOST_TEST(c[32 + 8] == -0.5F * 2);
  BOOST_TEST(c[6 * 32 + 31] == (16 + 4) * (16 + 11) - 0.5F * (32 + 5));
  q6_k[209] = half_high;
  for (std::size_t i = 0; i < 16; ++i) q6_k[192 + i] = static_cast<std::uint8_t>(i + 1);
  q6_k[64 + 32 + 5] = 0x90;   // second half, row 3, column 5: low bits 9
  q6_k[128 + 32 + 5] = 0x80;  // its high bits 2
  const auto b = expanded(14, q6_k);
  BOOST_TEST(b[128 + 96 + 5] == 0.5F * 15 * (9 + 32 - 32));
  BOOST_TEST(b[0] == 0.5F * 1 * -32);
  BOOST_TEST(b[31] == 0.5F * 2 * -32);
  BOOST_TEST(text::detail::block_type(9) == nullptr);
}

BOOST_AUTO_TEST_SUITE_END()
