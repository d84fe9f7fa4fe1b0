// The reply that a call brings.
#pragma once

#include "base/invariant.hpp"
#include "messages/local_part.hpp"

namespace polychron::actors {

template <class T>
T& reply_of(msg::LocalPart& local) {
  auto* const reply = std::get_if<T>(&local.reply);
  ensure(reply != nullptr, "a call brings a reply of its kind");
  return *reply;
}

}  // namespace polychron::actors
