// The side of the runtime's actors that CAF sees: an address, a mailbox, and a job to run. CAF's
// own actors can also change behaviour, ask and be answered, time out and stream. Nothing here uses
// that, and it takes a kilobyte in each actor.
#pragma once

#include <caf/all.hpp>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <utility>

#include "actors/engine/mailbox.hpp"
#include "actors/engine/own_thread.hpp"

namespace polychron::engine {

/// An address that nobody outside of the runtime has: nobody monitors it or links to it.
class PrivateAddress : public caf::abstract_actor {
 public:
  using caf::abstract_actor::abstract_actor;
  using caf::abstract_actor::enqueue;
  void attach(caf::attachable_ptr) override;
  std::size_t detach(const caf::attachable::token&) override { return 0; }
  void add_link(caf::abstract_actor*) override;
  void remove_link(caf::abstract_actor*) override {}
  bool add_backlink(caf::abstract_actor*) override { return false; }
  bool remove_backlink(caf::abstract_actor*) override { return false; }
  /// Nobody monitors this. CAF's own addresses tell their monitors here.
  void cleanup(caf::error&&, caf::execution_unit*) {}
};

/// One that embedders have: as every actor of CAF it can be monitored and linked to.
using PublicAddress = caf::monitorable_actor;

/// All of an actor except its address. A request gets the answer that nobody answers requests. An
/// actor ends by quit(), by a message of CAF's that says so (caf::exit_msg), when one of its
/// handlers throws, or when nobody holds it. Its mailbox is emptied then.
class MailboxActor : public caf::resumable {
 public:
  /// `thread`: its own; without one the scheduler runs it.
  explicit MailboxActor(std::unique_ptr<OwnThread> thread) : thread_(std::move(thread)) {}
  MailboxActor(const MailboxActor&) = delete;
  MailboxActor& operator=(const MailboxActor&) = delete;

  virtual caf::abstract_actor& address() noexcept = 0;
  virtual const char* kind() const noexcept = 0;
  caf::actor_id id() noexcept { return address().id(); }

  // -- by who makes it
  /// Once: lets it begin.
  void launch(caf::execution_unit* unit);

  // -- by anybody
  void put(caf::mailbox_element_ptr element, caf::execution_unit* unit);

  // -- by itself, and by who has its job
  /// What runs it.
  caf::execution_unit* context() const noexcept { return unit_; }
  /// Ends it after what it is doing.
  void quit() noexcept { quitting_ = true; }
  Mailbox& mailbox() noexcept { return mailbox_; }
  /// How it classifies its next message, for callers that may run it instead of its thread.
  void set_next_duration(std::function<msg::DurationClass()> next) {
    if (thread_) thread_->slot()->set_next_duration(std::move(next));
  }

  // -- by CAF
  resume_result resume(caf::execution_unit* unit, std::size_t most_messages) override;
  void intrusive_ptr_add_ref_impl() override;
  void intrusive_ptr_release_impl() override;

 protected:
  /// By its address, as the last share of it goes.
  void abandon() noexcept;

  /// Its first step.
  virtual void begin() = 0;
  /// A message that is not CAF's. False if it is not of its protocol.
  virtual bool handle(caf::type_erased_tuple& message) = 0;
  /// It is told to end, by a link or by who has its address; quit() follows.
  virtual void told_to_end(const caf::error& reason) = 0;
  /// A step threw; quit() follows.
  virtual void failed(const std::exception_ptr& thrown) noexcept = 0;
  /// Its last step, if it has begun or not: it lets go of what it has.
  virtual void end() noexcept = 0;
  /// After that, and after what was in its mailbox has gone: those who monitor it hear of it.
  virtual void ended(caf::execution_unit* unit) noexcept = 0;
  /// True if it has begun.
  bool begun() const noexcept { return begun_; }

 private:
  template <class Step>
  void attempt(const Step& step) noexcept;
  void receive(caf::mailbox_element& element);
  void finish() noexcept;
  void wake(caf::execution_unit* unit);

  const std::unique_ptr<OwnThread> thread_;
  Mailbox mailbox_;
  caf::execution_unit* unit_ = nullptr;
  bool begun_ = false, quitting_ = false;
};

}  // namespace polychron::engine
