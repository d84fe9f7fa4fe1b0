// Processes that end while graphs are built: oneDNN's static variables go, and no thread uses them.
#include "tests/tool/command.hpp"

using test_tool::run_program;

BOOST_AUTO_TEST_SUITE(process_ends)

BOOST_AUTO_TEST_CASE(in_the_middle_of_a_build) {
  for (const std::string how : {"static", "leaked", "callback"})
    for (int yields = 1; yields < 1 << 14; yields *= 2)
      for (const int moment : {yields, yields + yields / 2}) {
        const auto ended = run_program("ends_early", {how, std::to_string(moment)});
        BOOST_TEST(ended.exit_code == 0, "ends_early " << how << " " << moment << " ended with "
                                                       << ended.exit_code << ": " << ended.errors);
      }
}

BOOST_AUTO_TEST_SUITE_END()
