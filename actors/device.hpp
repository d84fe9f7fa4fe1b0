// The device actor: a lane of a context's device timeline.
//
// Carries operations out, one at a time, when its Timeline says that their turn has come. It alone
// opens the slots of the tensors and graphs in them. Keeps the rule that errors follow the data: a
// failed operation tags its outputs; an operation with a tagged input does not run and tags its
// own; a successful overwrite clears. Never waits and never asks; runs on a thread of its own,
// because kernels block it. When the device itself is gone it ends, and the context with it.
#pragma once

#include <vector>

#include "actors/actor.hpp"
#include "actors/timeline.hpp"
#include "messages/types.hpp"

namespace polychron::actors {

class DeviceState : public State<device_actor> {
 public:
  static inline const char* name = "device";
  explicit DeviceState(device_actor::pointer self);

  device_actor::behavior_type start(EnvironmentRef environment, std::uint32_t lane,
                                    caf::actor_addr context);

 private:
  /// Whether an operation is over when it has been carried out, or goes on (a lease).
  enum class Outcome : std::uint8_t { done, goes_on };

  template <class M>
  Outcome run_one(const M& m);
  template <class M>
  void arrive(const M& m);
  void carry_out_ready();
  void after_progress();

  void await_turn(const msg::await_turn& m);
  void reached(const msg::reached& m);
  void end_lease(const msg::end_lease& m);
  void survey(const msg::survey_lane& m);
  void meet(const msg::meet& m);

  Outcome carry_out(const msg::allocate& m);
  Outcome carry_out(const msg::write_bytes& m);
  Outcome carry_out(const msg::read_bytes& m);
  Outcome carry_out(const msg::query_tag& m);
  Outcome carry_out(const msg::lend_memory& m);
  Outcome carry_out(const msg::release& m);
  Outcome carry_out(const msg::load& m);
  Outcome carry_out(const msg::execute& m);
  Outcome carry_out(const msg::execute_batch& m);
  Outcome carry_out(const msg::fail& m);
  Outcome carry_out(const msg::release_plan& m);
  Outcome carry_out(const msg::fence& m);

  /// Why a dispatch or compute must not start, if it must not: cancelled, late.
  std::optional<Error> unmet(const msg::Conditions& conditions, const char* operation,
                             const std::string& label, msg::Ticket ticket) const;
  /// The error of an operation on a graph that is invalid, or nullopt.
  static std::optional<Error> invalid(const msg::GraphSlot& graph, const char* operation,
                                      const std::string& label, msg::Ticket ticket);
  /// The first errored input as an error of this dispatch, or nullopt.
  std::optional<Error> errored_input(const msg::execute& m) const;
  Result<void> fill(const msg::TensorSlot& slot, Buffer& target);
  /// Runs the graph's plan on this lane; makes its instance first if there is none.
  kernels::ExecuteStatus run(msg::GraphSlot& graph);
  Result<void> instantiate(msg::GraphSlot& graph);
  Result<void> run_batch(msg::GraphSlot& graph, msg::BatchReply& batch, bool& inherent);
  Error failure(const char* operation, const std::string& label, msg::Ticket ticket,
                const Error& error) const;

  static void set_tags(const msg::Tensors& tensors, const Error& error);
  void completed();
  /// Counts a failure and tells the context, and ends this actor if the device itself is gone.
  void failed(const Error& error, msg::Ticket ticket);
  /// An operation that a caller was admitted for is over.
  void leave();

  std::uint32_t lane_ = 0;
  bool gone_ = false;  ///< the device failed: nothing is carried out any more
  Timeline timeline_;
  std::vector<device_actor> lanes_;
  std::vector<msg::await_turn> awaited_;                           ///< by other lanes
  std::vector<kernels::Storage*> input_storage_, output_storage_;  ///< reused by every dispatch
};

}  // namespace polychron::actors
