// The files that a command line names: which of them get into each other's way.
#pragma once

#include <string>
#include <vector>

namespace tool {

/// `what` it is on the command line: "MODEL", "--input x". An empty path: it was not given.
struct NamedFile {
  std::string what, path;
};

/// Before any of them is opened: standard input is read at most once, and what is written is no
/// file that is read, nor one that something else is written to. Throws UserError.
void check_files(const std::vector<NamedFile>& read, const std::vector<NamedFile>& written = {});

}  // namespace tool
