// More than 200 damaged files: each is refused by name, and none takes memory beyond its size.
#include <sys/resource.h>

#include <boost/test/unit_test.hpp>
#include <functional>
#include <utility>

#include "polychron/runtime.hpp"
#include "polychron/text.hpp"
#include "tests/text/tiny_model.hpp"

using namespace polychron;
using text_tests::Bytes;
using text_tests::File;
using text_tests::FileTensor;
using text_tests::TemporaryFile;
using text_tests::TinyModel;

namespace {

constexpr std::uint64_t huge = ~std::uint64_t{0};

Bytes array_of(std::uint32_t type, std::uint64_t count) {
  return Bytes{}.number(std::uint32_t{text_tests::array}).number(type).number(count);
}

struct Damage {
  std::string what;
  std::function<void(File& file)> make;
};

/// Wrong values of each key.
std::vector<Damage> damages_of(const std::string& key) {
  const auto is = [&](const std::string& what, Bytes value) {
    return Damage{key + " is " + what, [=](File& file) { file.value(key) = value; }};
  };
  constexpr std::uint32_t u64 = 10, f64 = 12, none = 77;
  return {
      {key + " comes twice", [=](File& file) { file.values.emplace_back(key, file.value(key)); }},
      is("NaN", Bytes{}.number(f64).number(std::uint64_t{0x7ff8} << 48U)),
      is("above 2^63", Bytes{}.number(u64).number(huge)),
      is("of no type", Bytes{}.number(none)),
      is("a string without end", Bytes{}.number(std::uint32_t{text_tests::text}).number(huge)),
      is("an array without end", array_of(u64, huge >> 3U)),
      is("as many strings as there are bytes", array_of(text_tests::text, 100'000)),
      is("an array of arrays", array_of(text_tests::array, 1)),
  };
}

std::vector<Damage> damages_of(const FileTensor& tensor) {
  const auto with = [&](const std::string& what, std::function<void(FileTensor&)> change) {
    return Damage{tensor.name + " " + what,
                  [name = tensor.name, change](File& file) { change(file.tensor(name)); }};
  };
  return {
      with("has another name", [](FileTensor& it) { it.name = "blk.\xff\xfe\n"; }),
      with("has no dimensions", [](FileTensor& it) { it.dimensions.clear(); }),
      with("has many dimensions", [](FileTensor& it) { it.dimensions.assign(1U << 16U, 1); }),
      with("is empty", [](FileTensor& it) { it.dimensions.back() = 0; }),
      with("is larger than the file", [](FileTensor& it) { it.dimensions.back() = 0xffff'ffff; }),
      with("overflows", [](FileTensor& it) { it.dimensions.assign(4, 0xffff'ffff); }),
      with("has one row more", [](FileTensor& it) { ++it.dimensions.back(); }),
      with("is of no type", [](FileTensor& it) { it.type = 0xffff'ffff; }),
      with("is of half the bytes", [](FileTensor& it) { it.type = 1, it.dimensions[0] *= 2; }),
      with("is at an odd place", [](FileTensor& it) { it.offset = 1; }),
      with("is far away", [](FileTensor& it) { it.offset = huge - 31; }),
      with("lies on others", [](FileTensor& it) { it.offset = 32; }),
  };
}

std::vector<Damage> damages(const File& file) {
  std::vector<Damage> all;
  const auto add = [&](std::vector<Damage> more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  for (const auto& [key, value] : file.values) add(damages_of(key));
  for (const auto& tensor : file.tensors) add(damages_of(tensor));
  for (const std::uint32_t alignment : {0U, 3U, 1U << 21U, 1U << 31U})
    all.push_back({"an alignment of " + std::to_string(alignment),
                   [=](File& it) { it.add("general.alignment", alignment); }});
  return all;
}

std::size_t most_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) << 10U;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hostile)

void check_refused(const File& whole, const std::vector<Damage>& all) {
  Runtime runtime;
  const auto context = runtime.create_context().get();
  const auto before = most_resident_bytes();
  for (const auto& damage : all) {
    auto file = whole;
    damage.make(file);
    const TemporaryFile written(file.bytes());
    try {
      static_cast<void>(text::Model::load(context, written.path()));
      BOOST_ERROR("loaded: " + damage.what);
    } catch (const Error& error) {
      const std::string message = error.what();
      BOOST_TEST((error.kind() == ErrorKind::bad_data || error.kind() == ErrorKind::not_supported),
                 damage.what << ": " << message);
      BOOST_TEST(message.find('\n') == std::string::npos, damage.what << ": " << message);
      BOOST_TEST(message.size() < 400U, damage.what << ": " << message);
    }
  }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  BOOST_TEST(most_resident_bytes() - before < 32U << 20U);
#else
  static_cast<void>(before);
#endif
}

BOOST_AUTO_TEST_CASE(damaged_files_are_refused) {
  const auto whole = TinyModel().file();
  const auto all = damages(whole);
  BOOST_TEST(all.size() >= 200U);
  check_refused(whole, all);
}

// Gemma's keys: a window, and SentencePiece.
BOOST_AUTO_TEST_CASE(damaged_keys_of_gemma_are_refused) {
  const auto whole = TinyModel(1, "gemma3").file();
  std::vector<Damage> all;
  for (const auto& [key, value] : whole.values)
    for (auto& damage : damages_of(key)) all.push_back(std::move(damage));
  check_refused(whole, all);
}

BOOST_AUTO_TEST_SUITE_END()
