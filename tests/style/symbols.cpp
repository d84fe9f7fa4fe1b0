// The links between the library's folders. An include is not the only way to depend on a folder: a
// function may be declared where everyone may look, and defined in a folder that is not allowed.
#include <cxxabi.h>
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>

#include "tests/paths.hpp"
#include "tests/style/folders.hpp"

namespace fs = std::filesystem;

namespace {

struct Symbols {
  std::set<std::string> defined;
  std::set<std::string> undefined;  ///< by at least one object
};

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  BOOST_REQUIRE(pipe != nullptr);
  std::string text;
  char part[1 << 16];
  while (const auto bytes = std::fread(part, 1, sizeof part, pipe.get())) text.append(part, bytes);
  return text;
}

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? name.get() : symbol;
}

/// The object files of a set of objects, as a shell takes them.
std::string object_files(const std::string& name) {
  const auto target = "polychron_" + fs::path(name).filename().string();
  const auto objects =
      fs::path(polychron::testing::binary_directory()) / "CMakeFiles" / (target + ".dir");
  std::string files;
  if (!fs::exists(objects)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(objects)) {
    // A build tree keeps objects of sources that are gone. A unity build's sources are in it.
    const auto source = fs::relative(entry.path(), objects).replace_extension();
    if (entry.path().extension() == ".o" &&
        (fs::exists(objects / source) ||
         fs::exists(fs::path(polychron::testing::source_directory()) / source)))
      files += " '" + entry.path().string() + "'";
  }
  return files;
}

/// The symbols of namespace polychron in a folder's objects; none for a folder of headers.
Symbols symbols_of(const std::string& folder) {
  Symbols symbols;
  const auto files = object_files(folder) + (folder == "kernels" ? object_files("loops") : "");
  if (files.empty()) return symbols;
  std::istringstream lines(
      output_of("'" + polychron::testing::nm_program() + "' --format=posix" + files));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, kind;
    if (!(words >> name >> kind) || name.find("9polychron") == std::string::npos) continue;
    if (kind == "U") symbols.undefined.insert(name);
    // Weak ones too: a vtable with a home is one. Inline functions are defined by each user itself.
    if (std::string("TDBRVW").find(kind) != std::string::npos) symbols.defined.insert(name);
  }
  return symbols;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(symbols)

BOOST_AUTO_TEST_CASE(links_point_in_the_allowed_directions) {
  std::map<std::string, Symbols> folders;
  std::map<std::string, std::set<std::string>> owners;  // symbol -> folders that define it
  for (const auto& [folder, targets] : style::allowed) {
    folders[folder] = symbols_of(folder);
    for (const auto& symbol : folders[folder].defined) owners[symbol].insert(folder);
  }
  for (const char* folder : {"base", "ops", "kernels", "actors", "runtime"})
    BOOST_TEST(!folders[folder].defined.empty(), "no objects of " << folder);
  for (const auto& [folder, symbols] : folders)
    for (const auto& symbol : symbols.undefined) {
      const auto& homes = owners[symbol];
      const bool allowed = std::ranges::any_of(homes, [&, &name = folder](const auto& home) {
        return home == name || style::allowed.at(name).contains(home);
      });
      BOOST_TEST(allowed, folder << " links to " << demangled(symbol) << ": " << folder
                                 << " must not depend on "
                                 << (homes.empty() ? "what no folder defines" : *homes.begin()));
    }
}

// An application may have another CAF, or another copy of a template of it, in the same process.
BOOST_AUTO_TEST_CASE(the_libraries_show_nothing_but_their_own) {
  for (const std::string library :
       {"polychron", "polychron_onnx", "polychron_text", "polychron_simulation"}) {
    const auto path = polychron::testing::binary_directory() + "/lib/lib" + library + ".so";
    std::istringstream lines(output_of("'" + polychron::testing::nm_program() +
                                       "' --dynamic --defined-only --format=posix '" + path + "'"));
    std::size_t own = 0;
    for (std::string line; std::getline(lines, line);) {
      const auto name = demangled(line.substr(0, line.find(' ')));
      auto subject = name;
      for (const std::string about :
           {"typeinfo name for ", "typeinfo for ", "vtable for ", "VTT for "})
        if (name.starts_with(about)) subject = name.substr(about.size());
      // Names of more than 1024 characters are not demangled.
      const bool is_own =
          subject.starts_with("polychron::") || subject.starts_with("_ZN9polychron");
      BOOST_TEST(is_own, library << " shows " << name);
      ++own;
    }
    BOOST_TEST(own > 10, library << " shows " << own << " symbols");
  }
}

BOOST_AUTO_TEST_SUITE_END()
