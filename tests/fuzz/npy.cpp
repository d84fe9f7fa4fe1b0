// Damaged .npy files through the tool's reader: an array with as many bytes as it says, or a
// reason. An array that was read is written and read again, and is the same.
#include "apps/tool/npy.hpp"

#include <algorithm>
#include <string>

#include "apps/tool/program.hpp"
#include "tests/fuzz/site.hpp"

namespace {

tool::NpyArray written_and_read(const tool::NpyArray& array) {
  auto file = tool::npy_header(array.descriptor);
  file.append(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  return tool::parse_npy(std::as_bytes(std::span(file)), "again");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  try {
    const auto array = tool::parse_npy(std::as_bytes(std::span(bytes, count)), "fuzzed");
    const auto size = byte_length(array.descriptor).value_or(0);
    const bool same = array.carried.empty() || array.carried == "bool";
    const bool longer = array.carried == "double";
    if (array.bytes.size() != (same ? size : longer ? size * 2 : size / 2))
      fuzz::finding("an array of another size than its descriptor's");
    if (!same) return 0;  // these files are only read
    const auto again = written_and_read(array);
    if (again.descriptor != array.descriptor ||
        !std::ranges::equal(again.bytes.bytes(), array.bytes.bytes()))
      fuzz::finding("written and read again, the array is another");
  } catch (const tool::UserError& refusal) {
    if (std::string_view(refusal.what()).find('\n') != std::string_view::npos)
      fuzz::finding("a refusal of several lines");
  }
  return 0;
}
