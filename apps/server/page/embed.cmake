# Writes a C++ file with the bytes of INPUT: a raw string cannot be longer than 64 KiB everywhere.
file(READ ${INPUT} hex HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(................................................................................)"
  "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "#include \"page/page.hpp\"

namespace polychron::server {

namespace {
constexpr unsigned char bytes[] = {
${bytes}};
}  // namespace

std::string_view page_html() { return {reinterpret_cast<const char*>(bytes), sizeof(bytes)}; }

}  // namespace polychron::server
")
