// The JSON documents about the server and its models.
#pragma once

#include <string>
#include <vector>

#include "core/service.hpp"

namespace polychron::server {

/// The protocol's extensions that are on.
std::vector<std::string> extensions_of(const Service& service);
std::string server_document(const Service& service);
std::string metadata_document(const Service& service, const Model& model);
std::string config_document(const Model& model);
/// Triton's statistics of one model, or of all if `name` is empty. Throws Refusal.
std::string stats_document(const Service& service, const std::string& name,
                           const std::string& version);
std::string index_document(const Service& service);
/// What the page shows.
std::string state_document(const Service& service);

/// Sets the gauges from the models' contexts, for /metrics.
void refresh_gauges(Service& service);

}  // namespace polychron::server
