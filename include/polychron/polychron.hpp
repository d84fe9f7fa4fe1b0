// Includes all that an embedder needs; ONNX, CAF and stress have headers of their own.
#pragma once

#include "polychron/attributes.hpp"
#include "polychron/buffer.hpp"
#include "polychron/context.hpp"
#include "polychron/descriptor.hpp"
#include "polychron/error.hpp"
#include "polychron/error_filter.hpp"
#include "polychron/future.hpp"
#include "polychron/graph.hpp"
#include "polychron/graph_builder.hpp"
#include "polychron/limits.hpp"
#include "polychron/log.hpp"
#include "polychron/lost.hpp"
#include "polychron/operand.hpp"
#include "polychron/result.hpp"
#include "polychron/runtime.hpp"
#include "polychron/tensor.hpp"
