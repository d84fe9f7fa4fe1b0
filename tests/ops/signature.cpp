// The signature parser, which reads the rows.
#include <boost/test/unit_test.hpp>

#include "ops/row.hpp"

using namespace polychron;
using namespace polychron::ops;

BOOST_AUTO_TEST_SUITE(signature)

namespace {
std::string_view expected_by(std::string_view text) {
  try {
    SignatureParser(text).parse();
  } catch (const SignatureError& error) {
    return error.expected;
  }
  return "accepted";
}
}  // namespace

BOOST_AUTO_TEST_CASE(reads_operands_and_results) {
  constexpr auto call =
      ops::signature("input: floats[4], filter: input[4], bias?: filter[1] -> input");
  BOOST_REQUIRE_EQUAL(call.operands().size(), 3U);
  const auto& filter = call.operands()[1];
  BOOST_TEST(filter.name == "filter");
  BOOST_TEST((filter.types == type_sets::floats));
  BOOST_TEST(filter.same_as == 0);
  BOOST_TEST(!filter.optional);
  const auto& bias = call.operands()[2];
  BOOST_TEST(bias.optional);
  BOOST_TEST(bias.same_as == 0);  // through filter
  BOOST_TEST((bias.rank_min == 1 && bias.rank_max == 1));
  BOOST_REQUIRE_EQUAL(call.results().size(), 1U);
  BOOST_TEST(call.results()[0].name == "output");
  BOOST_TEST(call.results()[0].rank_min == 4);  // the input's
}

BOOST_AUTO_TEST_CASE(reads_types_and_ranks) {
  constexpr auto call = ops::signature("a: uint8|int64 , b: any[2..N]->int32|int64[0..3]");
  BOOST_TEST((call.operands()[0].types == TypeSet{DataType::uint8, DataType::int64}));
  BOOST_TEST((call.operands()[0].rank_min == 0 && call.operands()[0].rank_max == max_rank));
  BOOST_TEST((call.operands()[1].rank_min == 2 && call.operands()[1].rank_max == max_rank));
  BOOST_TEST((call.results()[0].types == TypeSet{DataType::int32, DataType::int64}));
  BOOST_TEST(call.results()[0].rank_max == 3);
}

BOOST_AUTO_TEST_CASE(reads_variadic_operands_and_named_results) {
  constexpr auto concat = ops::signature("inputs...: any[1..N] -> inputs");
  BOOST_TEST(concat.variadic());
  constexpr auto lstm = ops::signature("input: floats[3] -> output0: input, output2?: input[4]");
  BOOST_TEST(!lstm.variadic());
  BOOST_REQUIRE_EQUAL(lstm.results().size(), 2U);
  BOOST_TEST(lstm.results()[1].name == "output2");
  BOOST_TEST(lstm.results()[1].optional);
}

BOOST_AUTO_TEST_CASE(says_what_it_expected) {
  BOOST_TEST(expected_by("") == "a name");
  BOOST_TEST(expected_by("input floats -> input") == ":");
  BOOST_TEST(expected_by("input: floats") == "->");
  BOOST_TEST(expected_by("input: float33 -> input") ==
             "a data type, a set of them, or an operand before");
  BOOST_TEST(expected_by("a: b, b: any -> a") ==
             "a data type, a set of them, or an operand before");
  BOOST_TEST(expected_by("input: floats[9] -> input") == "a rank up to N");
  BOOST_TEST(expected_by("input: floats[x] -> input") == "a rank");
  BOOST_TEST(expected_by("input: floats[3..2] -> input") == "ranks in ascending order");
  BOOST_TEST(expected_by("input: floats[4 -> input") == "]");
  BOOST_TEST(expected_by("input: floats -> input extra") == "the end");
  BOOST_TEST(expected_by("a: any, b: any, c: any, d: any, e: any, f: any, g: any, h: any, i: any "
                         "-> a") == "fewer operands");
}

// Signatures that could be parsed, but from which nothing could be inferred.
BOOST_AUTO_TEST_CASE(refuses_what_cannot_be_inferred) {
  BOOST_TEST(expected_by("a...: any, b: a -> a") == "a variadic operand alone");
  BOOST_TEST(expected_by("a: any, b...: a -> a") == "a variadic operand alone");
  BOOST_TEST(expected_by("a: any -> b...: a, c: a") == "a variadic result alone");
  BOOST_TEST(expected_by("a: any, b: a|int8 -> a") == "one operand's type");
  BOOST_TEST(expected_by("a: any, b: int8|a -> a") == "one operand's type");
  const auto inferable = [](std::string_view text) {
    ops::Row row;
    row.call = SignatureParser(text).parse();
    return row.inferable();
  };
  BOOST_TEST(inferable("a: any -> uint8"));
  BOOST_TEST(!inferable("a: any -> int32|int64"));
  BOOST_TEST(!inferable("a: any, b?: floats -> b"));
}

BOOST_AUTO_TEST_SUITE_END()
