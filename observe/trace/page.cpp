#include "observe/trace/page.hpp"

#include <zlib.h>
#include <boost/archive/iterators/base64_from_binary.hpp>
#include <boost/archive/iterators/transform_width.hpp>
#include <string_view>

#include "polychron/error.hpp"

namespace polychron::trace {

/// The built page of observe/viewer/: page_template.cpp, made by CMake of observe/viewer/page.html.
std::string_view page_template();

namespace {

std::string deflated(const std::string& text) {
  auto size = compressBound(text.size());
  std::string result(size, '\0');
  const auto status =
      compress2(reinterpret_cast<Bytef*>(result.data()), &size,
                reinterpret_cast<const Bytef*>(text.data()), text.size(), Z_DEFAULT_COMPRESSION);
  if (status != Z_OK) throw Error(ErrorKind::out_of_memory, "no memory for the page");
  result.resize(size);
  return result;
}

std::string base64(std::string bytes) {
  namespace it = boost::archive::iterators;
  using Iterator = it::base64_from_binary<it::transform_width<std::string::const_iterator, 6, 8>>;
  const auto padding = (3 - bytes.size() % 3) % 3;
  bytes.append(padding, '\0');
  std::string text(Iterator(bytes.cbegin()), Iterator(bytes.cend()));
  text.replace(text.size() - padding, padding, padding, '=');
  return text;
}

}  // namespace

std::string page(const Titled& shown, const Titled* other) {
  constexpr std::string_view place = "@TRACE@";
  std::string html(page_template());
  const auto at = html.find(place);
  if (at == std::string::npos)
    throw Error(ErrorKind::internal, "the page has no place for a trace");
  html.replace(at, place.size(), base64(deflated(page_data(shown, other))));
  return html;
}

}  // namespace polychron::trace
