# A file as C++: `cmake -D FROM=page.html -D TO=page_template.cpp -P embed.cmake`. As numbers, because a
# text literal has a largest size.
file(READ ${FROM} hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," numbers "${hex}")
file(WRITE ${TO} "// Made of the built page of observe/viewer/ by observe/trace/embed.cmake.
#include <string_view>

namespace polychron::trace {
std::string_view page_template();
std::string_view page_template() {
  static constexpr unsigned char bytes[] = {${numbers}};
  return {reinterpret_cast<const char*>(bytes), sizeof bytes};
}
}  // namespace polychron::trace
")
