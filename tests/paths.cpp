#include "tests/paths.hpp"

namespace polychron::testing {

std::string source_directory() { return POLYCHRON_SOURCE_DIR; }
std::string binary_directory() { return POLYCHRON_BINARY_DIR; }
std::string nm_program() { return POLYCHRON_NM; }

}  // namespace polychron::testing
