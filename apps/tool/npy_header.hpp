// The text in the header of a .npy file: a Python dictionary with three entries.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "polychron/descriptor.hpp"

namespace tool {

struct NpyHeader {
  std::string descr;  ///< "<f4"
  bool fortran_order = false;
  polychron::Shape shape;
};

/// nullopt unless `text` is a dictionary of 'descr', 'fortran_order' and 'shape', each once. The
/// shape has at most 32 dimensions (NumPy's limit), which fit 32 bits.
std::optional<NpyHeader> parse_npy_header(std::string_view text);

}  // namespace tool
