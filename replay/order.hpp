// The schedule of a recording, for a driven world.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "replay/listener.hpp"
#include "stress/strategy.hpp"

namespace polychron::replay {

/// Lets everybody do what he did in the recording, in that order. Who cannot is passed over: his
/// message is there already, or is none of this world's. When the order has ended, the others go
/// on until all is done.
class RecordedOrder final : public stress::Strategy, public Progress {
 public:
  explicit RecordedOrder(const Script& script) : script_(script) {}

  /// The contexts' listeners, in their order. The actors of the world have numbers above `first`.
  /// Until then everybody goes on as he comes.
  void begin(msg::ActorId first, std::vector<const Listener*> listeners);

  std::size_t pick(std::span<const stress::Runnable> runnables) override;
  void took(std::size_t call) override;
  void handled(msg::ActorId by, std::string_view message, msg::Ticket ticket) override;

  std::size_t passed_over() const { return passed_over_; }

 private:
  std::optional<msg::ActorId> wanted() const;
  /// Who makes the next turn; nullopt: nobody can.
  std::optional<std::size_t> find(std::span<const stress::Runnable> runnables);
  void next();

  const Script& script_;
  msg::ActorId first_ = 0;
  std::vector<const Listener*> listeners_;
  std::size_t at_ = 0;
  bool called_ = false;  ///< the call of this turn is on its way
  std::size_t passed_over_ = 0;
};

}  // namespace polychron::replay
