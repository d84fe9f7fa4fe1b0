#include "apps/tool/progress.hpp"

#include <cstdio>
#include <string>

#include "apps/tool/platform.hpp"
#include "apps/tool/printable.hpp"

namespace tool {

Progress::Progress(bool forced) : terminal_(stderr_is_terminal()), forced_(forced) {}

Progress::~Progress() { clear(); }

void Progress::show(std::string_view what) {
  if (!terminal_ && !forced_) return;
  auto text = printable(what);
  if (text == shown_) return;
  shown_ = std::move(text);
  std::fprintf(stderr, terminal_ ? "\r\033[K%s ..." : "%s ...\n", shown_.c_str());
  std::fflush(stderr);
}

void Progress::show(std::string_view what, std::size_t done, std::size_t total) {
  show(std::string(what) + ' ' + std::to_string(done) + '/' + std::to_string(total));
}

void Progress::clear() {
  if (terminal_ && !shown_.empty()) std::fputs("\r\033[K", stderr);
  shown_.clear();
}

}  // namespace tool
