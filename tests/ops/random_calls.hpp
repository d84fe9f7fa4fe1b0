// Random calls that the specification allows, of every row.
#pragma once

#include "tests/ops/check.hpp"
#include "tests/ops/random.hpp"

namespace polychron::test {

/// Random shapes and attributes for the row's operator. Fails the test if its shape rule has no
/// generator.
Case random_call(const ops::Row& row, Random& random);

/// Gives the case's operands types that the row allows, and leaves some optional ones out.
Descriptors typed(const ops::Row& row, const Case& call, Random& random);

}  // namespace polychron::test
