// The comparison itself: a runner that could not see a difference would pass everything.
#include "apps/tool/conformance/values.hpp"

#include <boost/test/unit_test.hpp>
#include <limits>

#include "apps/tool/conformance/attributes.hpp"
#include "apps/tool/conformance/compare.hpp"

using namespace polychron;
using namespace polychron::conformance;

BOOST_AUTO_TEST_SUITE(values)

namespace {

json operand(const std::string& type, const json& data) {
  return {{"dataType", type}, {"shape", {data.size()}}, {"data", data}};
}

double distance(const std::string& type, const json& actual, const json& expected,
                const std::string& metric = "ULP") {
  const auto bytes = bytes_of(operand(type, actual));
  return compare(bytes.bytes(), operand(type, expected), metric).distance;
}

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

BOOST_AUTO_TEST_CASE(ulp_distance_counts_places) {
  BOOST_TEST(distance("float32", {1.0, 2.0}, {1.0, 2.0}) == 0);
  BOOST_TEST(distance("float32", {1.0, 2.0}, {1.0, 2.0000002384185791}) == 1);
  BOOST_TEST(distance("float16", {1.0}, {1.00390625}) == 4);
  BOOST_TEST(distance("float32", {1e-45}, {-1e-45}) == 2);
  BOOST_TEST(distance("float32", {"-0"}, {0}) == 0);
  BOOST_TEST(distance("int8", {-128}, {127}) == 255);
  BOOST_TEST(distance("uint64", {"18446744073709551615n"}, {"0n"}) > 1.8e19);
  BOOST_TEST(distance("int64", {"9007199254740993n"}, {"9007199254740992n"}) == 1);
}

BOOST_AUTO_TEST_CASE(zeros_have_signs_where_that_is_asked_for) {
  for (const auto* type : {"float32", "float16"})
    for (const auto* metric : {"ULP", "ATOL"})
      for (const bool same : {false, true}) {
        const auto bytes = bytes_of(operand(type, {1, "-0"}));
        const json expected = operand(type, {1, same ? json("-0") : json(0)});
        const auto found = compare(bytes.bytes(), expected, metric, Zeros::signed_);
        BOOST_TEST(found.distance == (same ? 0 : infinity));
        BOOST_TEST(compare(bytes.bytes(), expected, metric).distance == 0);
        if (!same) BOOST_TEST(found.text() == "element 1 is -0, expected 0");
      }
  const auto bytes = bytes_of(operand("int8", {0}));
  BOOST_TEST(compare(bytes.bytes(), operand("int8", {0}), "ULP", Zeros::signed_).distance == 0);
}

BOOST_AUTO_TEST_CASE(nan_equals_nan_and_nothing_else) {
  BOOST_TEST(distance("float32", {"NaN"}, {"NaN"}) == 0);
  BOOST_TEST(distance("float32", {"NaN"}, {1}) == infinity);
  BOOST_TEST(distance("float16", {1}, {"NaN"}) == infinity);
  BOOST_TEST(distance("float32", {"NaN"}, {1}, "ATOL") == infinity);
  BOOST_TEST(distance("float32", {"Infinity"}, {"Infinity"}, "ATOL") == 0);
  BOOST_TEST(distance("float32", {"Infinity"}, {"-Infinity"}, "ATOL") == infinity);
}

BOOST_AUTO_TEST_CASE(absolute_distance_is_from_the_number_as_written) {
  BOOST_TEST(distance("float32", {0.5}, {0.25}, "ATOL") == 0.25);
  BOOST_TEST(distance("float16", {0.1}, {0.1}, "ATOL") > 0);
}

BOOST_AUTO_TEST_CASE(a_single_number_fills_the_shape) {
  json filled = operand("int32", json::array({7, 7, 7}));
  filled["data"] = 7;
  const auto bytes = bytes_of(filled);
  BOOST_TEST(bytes.size() == 12U);
  BOOST_TEST(compare(bytes.bytes(), operand("int32", {7, 7, 7}), "ULP").distance == 0);
  BOOST_TEST(compare(bytes.bytes(), operand("int32", {7, 8, 7}), "ULP").distance == 1);
}

BOOST_AUTO_TEST_CASE(close_is_relative_to_the_expected_number_and_exact_for_integers) {
  const auto close = [](const std::string& type, const json& actual, const json& expected) {
    const auto a = bytes_of(operand(type, actual)), b = bytes_of(operand(type, expected));
    return compare_close(a.bytes(), b.bytes(), *data_type_from_string(type), 1e-3, 1e-7);
  };
  BOOST_TEST(close("float32", {1000.0, 1.0}, {1000.5, 1.0}).distance <= 1);
  BOOST_TEST(close("float32", {1000.0, 1.0}, {1001.5, 1.0}).distance > 1);
  BOOST_TEST(close("float32", {1.0, 2.0}, {1.0, 3.0}).text() == "element 1 is 2, expected 3");
  BOOST_TEST(close("float32", {"NaN"}, {"NaN"}).distance == 0);
  BOOST_TEST(close("float32", {"NaN"}, {"Infinity"}).distance == infinity);
  BOOST_TEST(close("float16", {1}, {"Infinity"}).distance == infinity);
  BOOST_TEST(close("float32", {"Infinity"}, {1}).distance == infinity);
  BOOST_TEST(close("int64", {"5000000n"}, {"5000001n"}).distance == infinity);
}

BOOST_AUTO_TEST_CASE(the_largest_is_finite) {
  const auto largest = [](const std::string& type, const json& data) {
    const auto bytes = bytes_of(operand(type, data));
    return largest_of(bytes.bytes(), *data_type_from_string(type));
  };
  BOOST_TEST(largest("float32", {1.0, -3.5, 2.0}) == 3.5);
  BOOST_TEST(largest("float16", {"Infinity", 2.0, "NaN", "-Infinity"}) == 2);
  BOOST_TEST(largest("float32", {"NaN"}) == 0);
  BOOST_TEST(largest("int32", {7}) == 0);
}

BOOST_AUTO_TEST_CASE(what_is_no_number_is_told) {
  const auto malformed = [](const json& value, const std::string& words) {
    BOOST_CHECK_EXCEPTION(bytes_of(value), Malformed, [&](const Malformed& error) {
      BOOST_TEST(std::string(error.what()).find(words) != std::string::npos, error.what());
      return true;
    });
  };
  for (const char* text :
       {"", "n", "-", "nan", "1.5", "12", "0x1n", "1e3n", "99999999999999999999n"})
    malformed(operand("int64", json::array({text})), "expected a number");
  malformed(operand("float32", {json::array(), 1}), "expected a number");
  malformed(operand("float3", {1}), "no data type \"float3\"");
  malformed({{"dataType", "int8"}, {"shape", {2, 2}}, {"data", {1, 2, 3}}}, "shape [2, 2] takes 4");
  malformed({{"dataType", "int8"}, {"shape", {-1}}, {"data", 1}}, "found -1");
  malformed({{"dataType", "int8"}, {"shape", {1e99}}, {"data", 1}}, "found 1e+99");
  malformed({{"dataType", "int8"}, {"shape", {4294967295, 4294967295}}, {"data", 1}}, "256 MiB");
  malformed({{"dataType", "int8"}, {"shape", 3}, {"data", 1}}, "a list of dimensions");
  malformed({{"dataType", "int8"}, {"data", 1}}, "'shape' is missing");
  malformed({{"dataType", 5}, {"shape", {1}}, {"data", 1}}, "expected a string, found 5");
  malformed(json::array(), "expected an object");
}

BOOST_AUTO_TEST_CASE(fields_are_set_by_name) {
  auto attributes = default_attributes(ops::alternative<Pool2dAttributes>());
  BOOST_TEST(set_field(attributes, "windowDimensions", {3, 4}));
  BOOST_TEST(set_field(attributes, "layout", "nhwc"));
  BOOST_TEST(!set_field(attributes, "roundingType", "ceil"));
  const auto& pool = std::get<Pool2dAttributes>(attributes);
  BOOST_TEST((pool.window_dimensions == std::vector<std::uint32_t>{3, 4}));
  BOOST_TEST((pool.layout == InputOperandLayout::nhwc));
}

BOOST_AUTO_TEST_SUITE_END()
