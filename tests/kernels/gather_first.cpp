// A gather of dequantized rows reads and dequantizes these rows alone, to the same bits.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/cpu_backend.hpp"
#include "ops/table.hpp"
#include "tests/kernels/graphs.hpp"

namespace polychron {
namespace {

using ops::op;
using ops::ValueId;
using tests::GraphMaker;
using tests::Runner;

/// A table that is gathered from. Its values are inputs, so that no pass computes it in advance.
struct Table {
  Shape shape{40, 6};
  Shape scales{1, 1};
  std::uint32_t axis = 0;
  Shape indices{3};
  DataType type = DataType::int8, index_type = DataType::int32, result_type = DataType::float32;

  GraphMaker maker = {};
  ValueId values = 0, gathered = 0;

  /// Inputs 0 to 3 are the table, the scales, the zero points and the indices.
  void make() {
    const auto x = maker.input(shape, type), s = maker.input(scales, result_type);
    const auto z = maker.input(scales, type), at = maker.input(indices, index_type);
    values = maker.node(op("dequantizeLinear"), {x, s, z}, shape, {}, result_type);
    Shape taken(shape.begin(), shape.begin() + axis);
    taken.insert(taken.end(), indices.begin(), indices.end());
    taken.insert(taken.end(), shape.begin() + axis + 1, shape.end());
    gathered = maker.node(op("gather"), {values, at}, taken, GatherAttributes{axis}, result_type);
    maker.output(gathered);
  }
};

/// Bytes for an input: any, except that scales are small numbers and indices go beyond the ends.
std::vector<std::byte> bytes_for(const OperandDescriptor& of, std::size_t input) {
  std::vector<std::byte> bytes(*byte_length(of));
  std::uint32_t state = 17 + static_cast<std::uint32_t>(input);
  const auto next = [&] { return state = state * 1664525 + 1013904223; };
  const auto fill = [&]<class T>(T) {
    for (std::size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
      const auto number = static_cast<std::int32_t>(next() >> 24) - 128;
      const T value = static_cast<T>(std::is_integral_v<T> ? number / 2 : number * 0x1p-9);
      std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
    }
  };
  if (of.data_type == DataType::float32)
    fill(float{});
  else if (of.data_type == DataType::int64)
    fill(std::int64_t{});
  else if (of.data_type == DataType::int32 || of.data_type == DataType::uint32)
    fill(std::int32_t{});
  else if (of.data_type == DataType::float16)
    for (std::size_t i = 0; i < bytes.size(); i += 2)  // between 1 and 2
      bytes[i] = static_cast<std::byte>(next() >> 24), bytes[i + 1] = std::byte{0x3c};
  else
    for (auto& byte : bytes) byte = static_cast<std::byte>(next() >> 24);
  return bytes;
}

/// The steps of the plan. Its results have the bits of a plan without passes.
std::vector<std::string> steps_of(const GraphMaker& maker) {
  Runner with(kernels::make_cpu_backend(), maker.share());
  Runner without(kernels::make_cpu_backend({.optimize = false}), maker.share());
  const auto& graph = *maker.share();
  for (Runner* runner : {&with, &without}) {
    for (std::size_t i = 0; i < graph.inputs.size(); ++i)
      runner->set(i, bytes_for(graph.values[graph.inputs[i].second].descriptor, i));
    runner->run();
  }
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const auto one = with.get<std::uint8_t>(i), other = without.get<std::uint8_t>(i);
    BOOST_TEST(one == other, boost::test_tools::per_element());
  }
  return with.plan().describe();
}

/// True if the plan dequantizes a value of this shape.
bool dequantizes(const std::vector<std::string>& steps, DataType type, const Shape& shape) {
  const auto text = "dequantizeLinear " + to_string(OperandDescriptor{type, shape}) + ",";
  return std::ranges::any_of(
      steps, [&](const std::string& step) { return step.find(text) != std::string::npos; });
}

std::vector<std::string> steps_of(Table table) {
  table.make();
  return steps_of(table.maker);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gather_first)

BOOST_AUTO_TEST_CASE(only_gathered_elements_are_dequantized) {
  const std::vector<std::pair<Table, Shape>> tables{
      {{.scales = {1, 1}}, {3, 6}},   // one scale
      {{.scales = {40, 1}}, {3, 6}},  // one a row
      {{.scales = {1, 6}}, {3, 6}},   // one a column
      {{.scales = {40, 3}}, {3, 6}},  // one for 2 elements of a row
      {{.scales = {40, 6}}, {3, 6}},  // one an element
      {{.scales = {40, 3}, .indices = {2, 2}}, {2, 2, 6}},
      {{.scales = {1, 2}, .indices = {2, 2}}, {2, 2, 6}},
      {{.scales = {40, 1}, .indices = {}}, {6}},
      {{.scales = {1, 3}, .indices = {}}, {6}},
      {{.scales = {20, 1}, .axis = 1, .indices = {2}}, {40, 2}},  // blocks along another axis
      {{.scales = {4, 6}, .axis = 1, .indices = {2, 1}}, {40, 2, 1}},
      {{.shape = {4, 9, 5}, .scales = {2, 9, 1}, .axis = 1, .indices = {2}}, {4, 2, 5}},
      {{.shape = {4, 9, 5}, .scales = {4, 1, 5}, .axis = 1, .indices = {1, 2}}, {4, 1, 2, 5}},
      {{.shape = {9}, .scales = {9}, .indices = {}}, {}},
      {{.shape = {9}, .scales = {1}, .indices = {4}}, {4}},
      {{.shape = {1, 7}, .scales = {1, 7}, .axis = 1, .indices = {2}}, {1, 2}},
  };
  for (const auto& [table, taken] : tables)
    for (const auto type : {DataType::int8, DataType::uint8, DataType::int32})
      for (const auto index : {DataType::int32, DataType::int64, DataType::uint32})
        for (const auto result : {DataType::float32, DataType::float16}) {
          Table made = table;
          made.type = type, made.index_type = index, made.result_type = result;
          const auto steps = steps_of(made);
          BOOST_TEST(dequantizes(steps, type, taken), to_string(table.scales)
                                                          << " at " << to_string(table.indices));
          BOOST_TEST(!dequantizes(steps, type, table.shape));
        }
}

// (values - zero point) * scale, in three operators.
BOOST_AUTO_TEST_CASE(a_table_may_be_dequantized_in_pieces) {
  const auto steps_with = [](const Shape& scales, bool is_read_again) {
    GraphMaker maker;
    const Shape whole{40, 6}, taken{2, 3, 6};
    const auto x = maker.input(whole, DataType::int8), z = maker.input(scales, DataType::int8);
    const auto s = maker.input(scales, DataType::float32);
    const auto at = maker.input({2, 3}, DataType::int64);
    const auto cast = [&](ValueId from, const Shape& shape) {
      return maker.node(op("cast"), {from}, shape, CastAttributes{DataType::float32});
    };
    const auto difference = maker.node(op("sub"), {cast(x, whole), cast(z, scales)}, whole);
    const auto table = maker.node(op("mul"), {s, difference}, whole);
    maker.output(maker.node(op("gather"), {table, at}, taken, GatherAttributes{0}));
    if (is_read_again) maker.output(maker.node(op("neg"), {table}, whole));
    return steps_of(maker);
  };
  const auto casts = [](const std::vector<std::string>& steps, const std::string& values) {
    return std::ranges::any_of(steps, [&](const std::string& step) {
      return step.find("cast") != std::string::npos && step.find(values) != std::string::npos;
    });
  };
  for (const Shape& scales : {Shape{40, 1}, Shape{1, 6}, Shape{1, 1}, Shape{40, 6}}) {
    const auto steps = steps_with(scales, false);
    BOOST_TEST(!casts(steps, "int8 [40, 6]"));
    BOOST_TEST(casts(steps, "int8 [2, 3, 6]"));
    BOOST_TEST(casts(steps_with(scales, true), "int8 [40, 6]"));
  }
}

// Two gathers of one table, with other indices and along different axes.
BOOST_AUTO_TEST_CASE(a_table_may_be_gathered_from_twice) {
  Table table{.scales = {40, 1}};
  table.make();
  const auto at = table.maker.input({2}, DataType::int64);
  table.maker.output(
      table.maker.node(op("gather"), {table.values, at}, {40, 2}, GatherAttributes{1}));
  const auto steps = steps_of(table.maker);
  BOOST_TEST(dequantizes(steps, DataType::int8, {3, 6}));
  BOOST_TEST(dequantizes(steps, DataType::int8, {40, 2}));
  BOOST_TEST(!dequantizes(steps, DataType::int8, table.shape));
}

// Blocks of several elements along the gathered axis; elements of half a byte; more elements than
// the table has, by one gather or by two.
BOOST_AUTO_TEST_CASE(other_tables_are_dequantized_as_they_are) {
  for (const Table& table :
       {Table{.scales = {20, 1}}, Table{.scales = {4, 6}},
        Table{.scales = {40, 3}, .axis = 1, .indices = {2}},
        Table{.scales = {40, 1}, .type = DataType::int4}, Table{.scales = {1, 1}, .indices = {40}},
        Table{.scales = {1, 1}, .indices = {6, 7}}})
    BOOST_TEST(dequantizes(steps_of(table), table.type, table.shape), to_string(table.scales));
  Table twice{.indices = {20}};
  twice.make();
  const auto at = twice.maker.input({20}, DataType::int32);
  twice.maker.output(
      twice.maker.node(op("gather"), {twice.values, at}, {20, 6}, GatherAttributes{0}));
  BOOST_TEST(dequantizes(steps_of(twice.maker), twice.type, twice.shape));
}

// Somebody else needs the whole table.
BOOST_AUTO_TEST_CASE(a_table_with_another_reader_stays) {
  for (const bool is_output : {true, false}) {
    Table table;
    table.make();
    table.maker.output(is_output ? table.values
                                 : table.maker.node(op("neg"), {table.values}, table.shape));
    const auto steps = steps_of(table.maker);
    BOOST_TEST(dequantizes(steps, table.type, table.shape));
    BOOST_TEST(!dequantizes(steps, table.type, {3, 6}));
  }
}

// Other operators that pick elements are not gathers of rows.
BOOST_AUTO_TEST_CASE(elements_are_gathered_afterwards) {
  Table table;
  table.make();
  const auto at = table.maker.input({2, 6}, DataType::int32);
  table.maker.output(
      table.maker.node(op("gatherElements"), {table.values, at}, {2, 6}, GatherAttributes{0}));
  BOOST_TEST(dequantizes(steps_of(table.maker), table.type, table.shape));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
