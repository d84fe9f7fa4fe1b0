#include "protocol/repository_call.hpp"

#include <boost/json/object.hpp>

#include "protocol/document.hpp"
#include "protocol/refusal.hpp"

namespace polychron::server {

void check_repository_parameter(std::string_view name) {
  if (name == "unload_dependents") return;
  const auto what = "parameter '" + printable(name, 80) + "': ";
  if (name == "config")
    throw Refusal(Status::unsupported,
                  what + "not supported; a model's fields are in its file in the server's folder");
  if (name.starts_with("file:"))
    throw Refusal(Status::unsupported,
                  what +
                      "not supported; clients cannot upload models, put the file into the "
                      "server's folder");
  throw Refusal(Status::bad_request, what + "unknown to this call");
}

void check_repository_body(std::string_view body) {
  if (body.empty()) return;
  const auto document = parse_document(body);
  const auto* root = document.root.if_object();
  if (!root) throw Refusal(Status::bad_request, "the body: expected a JSON object, or nothing");
  const auto* value = root->if_contains("parameters");
  if (!value || value->is_null()) return;
  const auto* parameters = value->if_object();
  if (!parameters) throw Refusal(Status::bad_request, "'parameters': expected an object");
  for (const auto& [name, ignored] : *parameters)
    check_repository_parameter({name.data(), name.size()});
}

}  // namespace polychron::server
