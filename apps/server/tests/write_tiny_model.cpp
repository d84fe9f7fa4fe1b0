// Writes the tiny model of tests/text, for clients in other languages. Usage: write_tiny_model FILE
#include <fstream>

#include "../../../tests/text/tiny_model.hpp"

int main(int, char** arguments) {
  std::ofstream file(arguments[1], std::ios::binary);
  file << text_tests::TinyModel().file().bytes();
  return file.flush() ? 0 : 1;
}
