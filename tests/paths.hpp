// The paths of the project and of its build. Only one file has them as definitions, since a file
// that depends on the folder's name has to be compiled for each clone.
#pragma once

#include <string>

namespace polychron::testing {

std::string source_directory();
std::string binary_directory();
/// The program that lists symbols.
std::string nm_program();

}  // namespace polychron::testing
