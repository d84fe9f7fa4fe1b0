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

/// nullopt if `text` is anything but a dictionary of 'descr', 'fortran_order' and 'shape', each
/// once, with a shape of at most 32 dimensions (NumPy's limit) that fit 32 bits.
std::optional<NpyHeader> parse_npy_header(std::string_view text);

}  // namespace tool
