// A joined, or two beside each other, as one page for a browser, which needs nothing but itself.
#pragma once

#include <string>

#include "observe/trace/joined_trace.hpp"

namespace polychron::trace {

/// `title` is shown.
struct Titled {
  const JoinedTrace& joined;
  std::string title;
};

/// The page of observe/viewer/, with the trace in it, and another that it is compared with, if
/// there is one.
std::string page(const Titled& shown, const Titled* other = nullptr);

/// The data of the page: observe/viewer/README.md describes them.
std::string page_data(const Titled& shown, const Titled* other = nullptr);

}  // namespace polychron::trace
