// The device actor: a lane of a context's device timeline.
//
// Carries operations out, one at a time, in the order that its Timeline gives. Only lanes open the
// slots of tensors and graphs. The device tells an object's actor when its state changes, and
// answers loans. It runs on a thread of its own, because kernels block it; it never waits for a
// reply.
//
// A backend may finish a dispatch later (Backend::submit). Meanwhile the lane carries out
// operations on other objects, as it does during a lease. A graph whose instance is at work waits
// for it.
//
// Errors follow the data. A failed operation tags its outputs. An operation with a tagged input
// does not run and tags its own outputs. A successful overwrite clears the tag. Once the context is
// lost it carries out nothing more. When the device itself fails it tells the context, which ends.
#pragma once

#include <vector>

#include "actors/actor.hpp"
#include "actors/timeline.hpp"
#include "messages/shared/lane_scratch.hpp"
#include "messages/shared/revocable.hpp"

namespace polychron::actors {

class DeviceState : public Member<DeviceState, device_actor> {
 public:
  static inline const char* name = "device";
  static constexpr bool may_be_helped = true;
  explicit DeviceState(Body& self);
  DeviceState(const DeviceState&) = delete;
  DeviceState& operator=(const DeviceState&) = delete;
  /// Waits for the device, which still uses the memory of submitted operations.
  ~DeviceState();

  void start(std::uint32_t lane);
  void receive(msg::carry_out& m);
  void receive(const msg::await_turn& m);
  void receive(const msg::reached& m);
  void receive(const msg::end_lease& m);
  void receive(const msg::executed& m);
  void receive(const msg::survey_lane& m);
  void receive(const msg::meet& m);

 private:
  /// The state of an operation once carried out: it is over, or it goes on as a lease, or the
  /// device is at work on it.
  enum class Course : std::uint8_t { over, granted, submitted };
  /// A submitted operation, from submit() to finish(). Keeps the memory alive that the device uses.
  struct Submitted {
    msg::Ticket turn = 0, ticket = 0;
    std::size_t kind = 0;  ///< of operation
    msg::GraphRef graph;
    msg::Tensors inputs, outputs;
    std::shared_ptr<msg::Revocable<device_actor>> lane;  ///< as the device knows it
  };

  // -- order (device.cpp)
  Course run_one(msg::carry_out& m);
  /// The end of an operation, or of its being carried out if it goes on as a lease.
  void end_one(const msg::carry_out& m);
  /// True if the operation runs a graph whose instance is at work.
  bool finds_busy(const msg::carry_out& m) const;
  void carry_out_ready();
  void carry_out_held();
  /// Carries out an operation that the timeline keeps.
  void carry_on(msg::carry_out& operation);
  void publish();
  /// Called at the end of every message: an idle lane lets waiting callers in.
  void rest();
  bool has_mail() const;
  /// The duration of the next message, if that is an operation which starts as soon as it arrives.
  /// A caller that waits may run a brief one instead of this lane's thread.
  msg::DurationClass next_duration();
  bool lost() const { return gone_ || environment().lost->lost(); }
  /// lost(), for a step that then skips its work: a recording orders this look and the loss.
  bool finds_lost() const { return environment().find_lost() || gone_; }
  /// Ends the operation in hand, before anybody is told. A thread that is told finds its permit
  /// free.
  void leave();
  /// Answers the loan of a finished operation; with the loss, if the context was lost meanwhile.
  template <class Content>
  void give_back(msg::Loan<Content>& loan) {
    leave();
    if (environment().lost->lost())
      loan.answer(environment().lost->error());
    else
      loan.answer();
  }

  // -- what each operation does (device_operations.cpp, device_graphs.cpp)
  Course carry_out(const msg::op::Allocate& o, msg::Ticket ticket);
  Course carry_out(const msg::op::Write& o, msg::Ticket ticket);
  Course carry_out(const msg::op::Read& o, msg::Ticket ticket);
  Course carry_out(const msg::op::Query& o, msg::Ticket ticket);
  Course carry_out(const msg::op::Lend& o, msg::Ticket ticket);
  Course carry_out(const msg::op::Release& o, msg::Ticket ticket);
  Course carry_out(const msg::op::Load& o, msg::Ticket ticket);
  Course carry_out(const msg::op::Dispatch& o, msg::Ticket ticket);
  Course carry_out(const msg::op::Compute& o, msg::Ticket ticket);
  Course carry_out(const msg::op::Fail& o, msg::Ticket ticket);
  Course carry_out(const msg::op::Unload& o, msg::Ticket ticket);
  Course carry_out(const msg::op::Fence& o, msg::Ticket ticket);

  /// Zeroed memory for a slot, with its bytes reserved from the budget.
  Result<msg::Memory> allocate(std::size_t bytes);
  Result<void> store(msg::TensorSlot& slot, msg::Payload& payload);
  Result<void> fill(const msg::TensorSlot& slot, Buffer& target);
  void take_back(msg::TensorSlot& slot, msg::Lease& lease, bool revoked, msg::Ticket ticket);
  std::optional<Error> refusal(msg::GraphSlot& graph, const msg::Conditions& conditions,
                               const char* operation, const std::string& label,
                               msg::Ticket ticket) const;
  /// The first errored input as an error of this dispatch, or nullopt.
  static std::optional<Error> errored_input(const msg::op::Dispatch& o, msg::Ticket ticket);
  Result<void> bind(const msg::op::Dispatch& o);
  /// Runs the graph's plan on this lane; makes the lane's instance first if there is none. Times
  /// each step that has an entry in `seconds`.
  kernels::ExecuteStatus run(msg::GraphSlot& graph, std::span<double> seconds = {});
  Result<void> instantiate(msg::GraphSlot& graph);
  msg::LaneScratch& scratch() const { return (*environment().scratch)[lane_]; }
  /// Instantiates it unless that is done, and gives its arena room.
  Result<void> make_ready(msg::GraphSlot& graph);
  /// The arena that instances of this lane share, with room for this plan. Only for the holder of
  /// the lane's scratch memory.
  Result<std::shared_ptr<msg::SharedArena>> arena_for(const kernels::Plan& plan);
  /// True if somebody records the time of each step.
  bool times_steps() const;
  /// Makes the lane's instance if there is none, and submits the dispatch.
  Result<void> submit(const msg::op::Dispatch& o, msg::Ticket ticket);
  /// Tags or clears the outputs of a dispatch that the device has carried out.
  void conclude(const msg::op::Dispatch& o, const kernels::ExecuteStatus& status,
                msg::Ticket ticket);
  Result<void> run_batch(msg::GraphSlot& graph, msg::BatchReply& batch, bool& inherent);
  void found_invalid(msg::GraphSlot& graph, const Error& why, msg::Ticket ticket);

  /// Changes a tensor's error state, and tells its actor.
  void set_tag(msg::TensorSlot& slot, const Error& error, msg::Ticket ticket);
  void set_tags(const msg::Tensors& tensors, const Error& error, msg::Ticket ticket);
  void clear_tag(msg::TensorSlot& slot, msg::Ticket ticket);
  void completed() { msg::count(environment().counters->completed); }
  /// Counts a failure and tells the context; loses the context if the device itself is gone.
  void failed(const Error& error, msg::Ticket ticket);

  std::uint32_t lane_ = 0;
  msg::carry_out* in_hand_ = nullptr;
  bool gone_ = false;  ///< the device failed: run nothing more
  Timeline timeline_;
  std::vector<device_actor> lanes_;
  /// Leases that ended before they began; true if revoked.
  std::map<msg::Ticket, bool> ended_early_;
  std::vector<Submitted> submitted_;
  std::vector<msg::Ticket> held_;  ///< turns of dispatches and computes whose graph is at work
  std::vector<kernels::Storage*> input_storage_, output_storage_;  ///< reused by every dispatch
};

}  // namespace polychron::actors
