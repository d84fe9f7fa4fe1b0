// .npy files: arrays survive writing and reading, and other files are refused with the reason.
#include "apps/tool/npy.hpp"

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <random>
#include <vector>

#include "apps/tool/npy_header.hpp"
#include "apps/tool/program.hpp"

namespace {

using polychron::DataType;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string npy_file(const std::string& dictionary, const std::string& elements = "",
                     char version = 1) {
  std::string file = "\x93NUMPY";
  file += {version, '\0', static_cast<char>(dictionary.size()), '\0'};
  if (version > 1) file += std::string(2, '\0');
  return file + dictionary + elements;
}

std::string refusal_of(const std::string& file) {
  try {
    tool::parse_npy(bytes_of(file), "x.npy");
  } catch (const tool::UserError& error) {
    return error.what();
  }
  return "accepted";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(npy)

BOOST_AUTO_TEST_CASE(every_type_and_rank_comes_back) {
  for (const auto type : polychron::all_data_types) {
    if (is_packed(type)) {
      BOOST_CHECK_THROW(tool::npy_header({type, {2}}), tool::UserError);
      continue;
    }
    for (std::uint32_t rank = 0; rank <= polychron::max_rank; ++rank) {
      const polychron::OperandDescriptor descriptor{type, polychron::Shape(rank, 2)};
      const auto header = tool::npy_header(descriptor);
      BOOST_TEST(header.size() % 64 == 0);
      std::string elements(*polychron::byte_length(descriptor), '\0');
      for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<char>(i);
      const auto array = tool::parse_npy(bytes_of(header + elements), "x.npy");
      BOOST_TEST((array.descriptor == descriptor));
      BOOST_TEST(array.carried.empty());
      BOOST_TEST(std::memcmp(array.bytes.data(), elements.data(), elements.size()) == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(files_as_numpy_writes_them) {
  const std::string dictionary = "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }   \n";
  for (const char version : {'\1', '\2', '\3'}) {
    const auto array =
        tool::parse_npy(bytes_of(npy_file(dictionary, {'\1', '\0', '\1'}, version)), "x");
    BOOST_TEST(array.carried == "bool");
    BOOST_TEST((array.descriptor == polychron::OperandDescriptor{DataType::uint8, {3}}));
  }
}

BOOST_AUTO_TEST_CASE(doubles_are_kept_and_bools_are_written) {
  const double number = 0.1;
  std::string elements(reinterpret_cast<const char*>(&number), sizeof number);
  const std::string dictionary = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }   \n";
  const auto array = tool::parse_npy(bytes_of(npy_file(dictionary, elements)), "x");
  BOOST_TEST(array.carried == "double");
  BOOST_TEST(to_string(array) == "float64 [1]");
  BOOST_TEST(std::memcmp(array.bytes.data(), elements.data(), elements.size()) == 0);
  const auto file = tool::npy_header({DataType::uint8, {2}}, true) + std::string("\0\1", 2);
  BOOST_TEST(tool::parse_npy(bytes_of(file), "y").carried == "bool");
}

BOOST_AUTO_TEST_CASE(integers_of_16_bits_are_kept) {
  for (const std::string sign : {"i", "u"}) {
    const std::string dictionary =
        "{'descr': '<" + sign + "2', 'fortran_order': True, 'shape': (2, 2), }";
    const auto array = tool::parse_npy(bytes_of(npy_file(dictionary, "aAbBcCdD")), "x");
    BOOST_TEST(array.carried == (sign == "i" ? "int16" : "uint16"));
    BOOST_TEST((array.descriptor == polychron::OperandDescriptor{DataType::int32, {2, 2}}));
    BOOST_TEST(std::memcmp(array.bytes.data(), "aAcCbBdD", 8) == 0);
  }
}

// Element [i, j, k] is 50 i + 10 j + k, written with i the fastest.
BOOST_AUTO_TEST_CASE(fortran_order_becomes_c_order) {
  const polychron::Shape shape{2, 3, 4};
  std::vector<std::int8_t> given, expected;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) given.push_back(static_cast<std::int8_t>(50 * i + 10 * j + k));
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) expected.push_back(static_cast<std::int8_t>(50 * i + 10 * j + k));
  const auto read = [&]<class T>(const std::string& descr, const std::string& dimensions,
                                 const std::vector<T>& elements) {
    return tool::parse_npy(
        bytes_of(npy_file(
            "{'descr': '" + descr + "', 'fortran_order': True, 'shape': " + dimensions + "}",
            {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T)})),
        "x.npy");
  };
  const auto small = read("|i1", "(2, 3, 4)", given);
  BOOST_TEST((small.descriptor == polychron::OperandDescriptor{DataType::int8, shape}));
  BOOST_TEST(small.bytes.as<std::int8_t>() == expected, boost::test_tools::per_element());
  const std::vector<std::int64_t> wide_given(given.begin(), given.end());
  const std::vector<std::int64_t> wide_expected(expected.begin(), expected.end());
  const auto wide = read("<i8", "(2, 3, 4)", wide_given);
  BOOST_TEST(wide.bytes.as<std::int64_t>() == wide_expected, boost::test_tools::per_element());
  const auto scalar = read("<f4", "()", std::vector<float>{3});
  BOOST_TEST(scalar.bytes.as<float>()[0] == 3);
  BOOST_TEST(read("<f4", "(0, 3)", std::vector<float>{}).bytes.size() == 0);
}

BOOST_AUTO_TEST_CASE(refusals_name_the_file_and_the_reason) {
  const auto with = [](const std::string& descr, const std::string& order,
                       const std::string& shape) {
    return npy_file(
        "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + "}",
        "1234");
  };
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "no .npy file"},
      {"PK\3\4 is a zip file", "no .npy file"},
      {"\x93NUMPY\1", "truncated"},
      {npy_file("{'descr'").substr(0, 12), "truncated"},
      {npy_file("{}", "", 9), "version 9"},
      {npy_file("{}"), "malformed"},
      {with(">f4", "False", "(1,)"), "big-endian"},
      {with(">f4", "False", "(1,)"), ".astype('<f4')"},
      {with(">f8", "False", "(1,)"), "'>f8', expected float32"},
      {with(">f8", "False", "(1,)"), "numpy.load(OLD).astype('<f8')"},
      {with("<f8", "False", "(1,)"), "4 bytes of elements, expected 8 for float64 [1]"},
      {with(">i2", "False", "(2,)"), ".astype('<i2')"},
      {with("<u2", "False", "(1,)"), "4 bytes of elements, expected 2 for uint16 [1]"},
      {with("|O", "False", "(1,)"), "'|O'"},
      {with("<i\n", "False", "(1,)"), "malformed"},  // found by fuzzing: two lines of an error
      {with(std::string(65, 'f'), "False", "(1,)"), "malformed"},
      {with("<f4", "False", "(2,)"), "4 bytes of elements, expected 8 for float32 [2]"},
      {with("<f4", "False", "(1)"), "malformed"},
      {with("<f4", "False", "(-1,)"), "malformed"},
      {with("<f4", "False", "(1,1,1,1,1,1,1,1,1)"), "9 dimensions, expected at most 8"},
      {with("<f4", "False", "(4294967295,4294967295,4294967295)"), "expected more than exist"},
      {with("<f4", "False", "(4294967296,)"), "malformed"}};
  for (const auto& [file, reason] : cases) {
    const auto refusal = refusal_of(file);
    BOOST_TEST(contains(refusal, "x.npy"), refusal);
    BOOST_TEST(contains(refusal, reason), refusal << " should tell: " << reason);
  }
}

BOOST_AUTO_TEST_CASE(damaged_headers_are_read_or_refused) {
  const unsigned seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  const polychron::OperandDescriptor descriptor{DataType::float32, {2, 3}};
  const auto whole = tool::npy_header(descriptor) + std::string(24, 'e');
  int refused = 0;
  for (int round = 0; round < 5000; ++round) {
    auto file = whole;
    file[random() % 80] = static_cast<char>(random());
    if (random() % 4 == 0) file.resize(random() % file.size());
    const auto outcome = refusal_of(file);
    if (outcome != "accepted") ++refused;
  }
  BOOST_TEST(refused > 1000);
}

BOOST_AUTO_TEST_SUITE_END()
