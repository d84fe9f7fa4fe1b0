// The limit of vectors: one for our loops and for the library, and a refusal of unknown ones.
#include "kernels/processor.hpp"

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>

#include "kernels/devices.hpp"
#include "kernels/fusion.hpp"

namespace polychron {
namespace {

using kernels::Vectors;

struct Level {
  const char* name;
  Vectors vectors;
  dnnl::cpu_isa library;
  kernels::Layout pictures;
};
constexpr std::array levels{
    Level{"sse41", Vectors::sse41, dnnl::cpu_isa::sse41, kernels::Layout::plain},
    Level{"avx2", Vectors::avx2, dnnl::cpu_isa::avx2, kernels::Layout::blocked8},
    Level{"avx512", Vectors::avx512, dnnl::cpu_isa::avx512_core, kernels::Layout::blocked16}};

/// Sets the variable, and sets it back at the end. Loops keep their first limit.
class Variable {
 public:
  explicit Variable(const char* value) {
    if (const char* const before = std::getenv(kernels::vectors_variable)) before_ = before;
    setenv(kernels::vectors_variable, value, 1);
  }
  ~Variable() { setenv(kernels::vectors_variable, before_.c_str(), 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  std::string before_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(processor)

BOOST_AUTO_TEST_CASE(the_device_says_which_loops_run) {
  const std::string text = kernels::find_devices().front().description;
#if defined(__x86_64__)
  constexpr std::array loops{"own loops: SSE4.1 (", "own loops: AVX2 (", "own loops: AVX-512"};
  const char* const expected = loops.at(static_cast<std::size_t>(kernels::vectors()));
  const std::string instruction = "VNNI";
#else
  const char* const expected = "own loops: NEON";
  const std::string instruction = "dot product";
#endif
  BOOST_TEST(text.find(expected) != std::string::npos, text);
  const bool has = kernels::has_four_products();
  BOOST_TEST(text.ends_with(", 8-bit products: " +
                            (has ? instruction : "pairs (without " + instruction + ")")),
             text);
}

BOOST_AUTO_TEST_CASE(loops_and_library_have_one_limit) {
  const auto used = static_cast<unsigned>(kernels::vectors());
  const Level& level = levels.at(used);
  const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  for (const Level& other : levels) {
    const auto needed = static_cast<unsigned>(other.library);
    BOOST_TEST(((isa & needed) == needed || other.vectors == Vectors::sse41) ==
               (other.vectors <= level.vectors));
  }
  BOOST_TEST((kernels::picture_layout() == level.pictures));
  const char* const asked = std::getenv(kernels::vectors_variable);
  const auto limit = std::ranges::find(levels, std::string(asked == nullptr ? "" : asked),
                                       [](const Level& l) { return std::string(l.name); });
  if (limit != levels.end()) BOOST_TEST((level.vectors <= limit->vectors));
}

BOOST_AUTO_TEST_CASE(unknown_vectors_are_refused) {
  for (const Level& level : levels) {
    const Variable variable(level.name);
    BOOST_TEST(kernels::make_backend("cpu").has_value(), level.name);
  }
  for (const char* name : {"avx3", "AVX2", "avx", " "}) {
    const Variable variable(name);
    const auto backend = kernels::make_backend("cpu");
    BOOST_REQUIRE(!backend);
    BOOST_TEST((backend.error().kind() == ErrorKind::not_supported));
    const std::string what = backend.error().what();
    for (const std::string& part :
         {std::string(kernels::vectors_variable), "'" + std::string(name) + "'",
          std::string("known are sse41, avx2, avx512")})
      BOOST_TEST(what.find(part) != std::string::npos, what);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
