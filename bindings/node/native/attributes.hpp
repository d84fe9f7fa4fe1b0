// Attributes of operators from JavaScript objects, whose members have the names of WebNN's IDL.
#pragma once

#include <string_view>

#include <polychron/attributes.hpp>

#include "js.hpp"

namespace webnn {

/// An MLNumber: a number, or a BigInt of 64 bits.
polychron::Number number(napi_env env, const Value& value);

/// The attributes of the operator that WebNN calls `operation`. Absent members keep WebNN's
/// default.
polychron::Attributes attributes(napi_env env, std::string_view operation, const Value& members);

}  // namespace webnn
