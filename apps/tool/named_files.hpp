// Checks the files that a command line names for conflicts.
#pragma once

#include <string>
#include <vector>

namespace tool {

/// `what` is its name on the command line: "MODEL", "--input x". An empty path: not given.
struct NamedFile {
  std::string what, path;
};

/// Called before any of them is opened. Standard input may be read at most once; an output file
/// must differ from all input files and other output files. Throws UserError.
void check_files(const std::vector<NamedFile>& read, const std::vector<NamedFile>& written = {});

}  // namespace tool
