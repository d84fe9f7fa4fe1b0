// Precompiled for the folders that speak CAF: its headers cost 2 to 3 seconds a file.
#pragma once

#include <caf/all.hpp>
