// The calls that load and unload a model: what they may ask for.
// Source: Triton's extension model_repository.
#pragma once

#include <string_view>

namespace polychron::server {

/// A parameter of such a call. Throws Refusal: unsupported for `config` and `file:...`, which bring
/// a model with them; bad_request for one that is unknown. `unload_dependents` changes nothing
/// here: no model depends on another.
void check_repository_parameter(std::string_view name);

/// Such a call's body: nothing, or a JSON object with 'parameters'. Throws Refusal.
void check_repository_body(std::string_view body);

}  // namespace polychron::server
