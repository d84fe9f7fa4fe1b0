// Where the project and its build are. In one file's definitions, not in those of all: what a folder's
// name changes has to be compiled for each clone.
#pragma once

#include <string>

namespace polychron::testing {

std::string source_directory();
std::string binary_directory();
/// The program that lists symbols.
std::string nm_program();

}  // namespace polychron::testing
