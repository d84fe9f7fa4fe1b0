// Precompiled header of the folders that use CAF: its headers cost 2 to 3 seconds for each file.
#pragma once

#include <caf/all.hpp>
