// A story as one page for a browser, which needs nothing but itself.
#pragma once

#include <string>

#include "trace/story.hpp"

namespace polychron::trace {

/// The page of viewer/, with the story in it. `title` is shown.
std::string page(const Story& story, const std::string& title);

/// What the page is given: viewer/README.md describes it.
std::string page_data(const Story& story, const std::string& title);

}  // namespace polychron::trace
