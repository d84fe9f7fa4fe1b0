// The importer and its sessions from an installed tree: a file that is no model is a typed error.
#include <cstdio>
#include <polychron/session.hpp>

int main(int, char** arguments) {
  try {
    const polychron::onnx::Session session(arguments[0]);  // this program itself
  } catch (const polychron::Error& error) {
    std::printf("%s", std::string(to_string(error.kind())).c_str());
    return error.kind() == polychron::ErrorKind::bad_data ? 0 : 1;
  }
  return 1;
}
