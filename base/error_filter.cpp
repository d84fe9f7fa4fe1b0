#include "polychron/error_filter.hpp"

namespace polychron {

std::string_view to_string(ErrorFilter filter) noexcept {
  switch (filter) {
    case ErrorFilter::validation:
      return "validation";
    case ErrorFilter::out_of_memory:
      return "out_of_memory";
    case ErrorFilter::internal:
      return "internal";
  }
  return "unknown";
}

ErrorFilter filter_of(const Error& error) noexcept {
  switch (error.root().kind()) {
    case ErrorKind::type_error:
    case ErrorKind::invalid_state:
    case ErrorKind::not_supported:
    case ErrorKind::quota_exceeded:
    case ErrorKind::graph_invalid:
      return ErrorFilter::validation;
    case ErrorKind::out_of_memory:
      return ErrorFilter::out_of_memory;
    default:
      return ErrorFilter::internal;
  }
}

}  // namespace polychron
