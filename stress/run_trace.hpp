// A run as a picture: which actor handled which message from whom, in the order of the steps.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "messages/observer.hpp"

namespace polychron::stress {

/// Hears the actors of a World, in its thread, and writes what it heard as Chrome trace events
/// (Chromium's "Trace Event Format"), which Perfetto opens: a track for each actor, a slice for
/// each message that it handled, an arrow from where it was sent. Time is logical: whatever happens
/// takes one microsecond.
class RunTrace final : public msg::Observer {
 public:
  void started(msg::ActorId actor, const char* kind) noexcept override;
  void ended(msg::ActorId actor) noexcept override;
  void sent(msg::ActorId from, msg::ActorId to, const msg::MessageView& message) noexcept override;
  void received(msg::ActorId by, const msg::MessageView& message) noexcept override;
  void finished(msg::ActorId by, const msg::MessageView& message) noexcept override;
  void has_turn(msg::ActorId lane, const msg::carry_out& operation) noexcept override;

  /// `title` is told in the trace's metadata.
  std::string chrome_json(const std::string& title) const;

 private:
  using Time = std::uint64_t;
  /// A message that was handled; or of a caller (actor 0), the sending of one.
  struct Slice {
    msg::ActorId actor = 0;
    std::string name;
    Time begin = 0, end = 0;
    std::optional<std::size_t> arrow;  ///< that ends here
  };
  struct Arrow {
    msg::ActorId from = 0, to = 0;
    std::string name;
    Time sent = 0, received = 0;
  };
  struct Mark {
    msg::ActorId actor = 0;
    std::string name;
    Time at = 0;
  };

  Time now_ = 0;
  std::map<msg::ActorId, std::string> actors_{{0, "callers"}};
  std::vector<Slice> slices_;
  std::vector<Arrow> arrows_;
  std::vector<Mark> marks_;
  std::map<msg::ActorId, std::size_t> in_hand_;  ///< the slice that an actor is in
  /// Of each receiver and kind of message: arrows that have not ended, in order.
  std::map<std::pair<msg::ActorId, std::size_t>, std::deque<std::size_t>> on_the_way_;
};

/// "carry_out dispatch 'label'", "submit", ...
std::string describe(const msg::MessageView& message);

}  // namespace polychron::stress
