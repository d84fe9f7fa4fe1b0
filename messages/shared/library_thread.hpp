// Which threads the end of a runtime waits for.
#pragma once

namespace polychron::msg {

/// True if this thread carries actors: it is one of the library's own, or a caller's that runs a
/// job at this moment. Such a thread must not run jobs while it waits for a reply. Nor may it wait
/// for the end of a runtime, which waits for it.
bool carries_actors() noexcept;

/// This thread carries actors from here on.
void carry_actors_for_good() noexcept;

/// This thread, which did not, carries actors while this lives.
class CarriesActors {
 public:
  CarriesActors() noexcept;
  CarriesActors(const CarriesActors&) = delete;
  CarriesActors& operator=(const CarriesActors&) = delete;
  ~CarriesActors();
};

}  // namespace polychron::msg
