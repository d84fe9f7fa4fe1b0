#include "actors/engine/mailbox_actor.hpp"

#include <new>
#include <thread>
#include <utility>

#include "base/invariant.hpp"

namespace polychron::engine {

namespace {

/// After this number of messages a reader looks whether something urgent has come, or more: each
/// look takes a cache line from those who write.
constexpr std::size_t messages_a_look = 4;

/// Answers the asker, which waits, with `reason`: as soon as there is memory to say so.
void answer(const caf::strong_actor_ptr& asker, const caf::message_id& mid,
            caf::sec reason) noexcept {
  while (asker != nullptr) try {
      return asker->enqueue(nullptr, mid.response_id(), caf::make_message(caf::make_error(reason)),
                            nullptr);
    } catch (const std::bad_alloc&) {
      std::this_thread::yield();
    }
}

void drop(const caf::mailbox_element& element) noexcept {
  if (element.mid.is_request())
    answer(element.sender, element.mid, caf::sec::request_receiver_down);
}

}  // namespace

void PrivateAddress::attach(caf::attachable_ptr) {
  ensure(false, "nobody has this actor's address");
}

void PrivateAddress::add_link(caf::abstract_actor*) {
  ensure(false, "nobody has this actor's address");
}

void MailboxActor::launch(caf::execution_unit* unit) {
  address().register_at_system();
  wake(unit);
}

void MailboxActor::wake(caf::execution_unit* unit) {
  caf::intrusive_ptr_add_ref(address().ctrl());  // the thread that runs it lets go of this share
  try {
    if (thread_)
      thread_->resume(this);
    else if (unit != nullptr)
      unit->exec_later(this);
    else
      address().home_system().scheduler().enqueue(this);
  } catch (...) {
    caf::intrusive_ptr_release(address().ctrl());
    throw;
  }
}

void MailboxActor::put(caf::mailbox_element_ptr element, caf::execution_unit* unit) {
  const auto mid = element->mid;
  const auto asker = mid.is_request() ? element->sender : nullptr;
  switch (mailbox_.push(std::move(element))) {
    case Mailbox::Result::unblocked_reader:
      return wake(unit);
    case Mailbox::Result::queue_closed:
      if (asker) answer(asker, mid, caf::sec::request_receiver_down);
      return;
    case Mailbox::Result::success:
      return;
  }
}

template <class Step>
void MailboxActor::attempt(const Step& step) noexcept {
  std::exception_ptr thrown;
  try {
    return step();
  } catch (...) {
    thrown = std::current_exception();
  }
  failed(thrown);
  quit();
}

void MailboxActor::receive(caf::mailbox_element& element) {
  auto& message = element.content();
  if (handle(message)) return;
  if (message.match_elements<caf::exit_msg>()) {
    told_to_end(message.get_as<caf::exit_msg>(0).reason);
    return quit();
  }
  if (element.mid.is_request()) answer(element.sender, element.mid, caf::sec::unexpected_message);
}

caf::resumable::resume_result MailboxActor::resume(caf::execution_unit* unit,
                                                   std::size_t most_messages) {
  unit_ = unit;
  ensure(!mailbox_.closed(), "an actor that has ended is not run");
  if (!begun_) {
    begun_ = true;
    attempt([this] { begin(); });
  }
  for (std::size_t handled = 0; !quitting_ && handled < most_messages;) {
    if (handled % messages_a_look == 0 || !mailbox_.fetched()) mailbox_.fetch();
    auto element = mailbox_.pop();
    if (!element) {
      if (mailbox_.try_block()) return awaiting_message;  // from here on it may run elsewhere
      continue;
    }
    ++handled;
    // The contents of the message do not outlive the actor.
    attempt([&] { receive(*std::exchange(element, nullptr)); });
  }
  if (quitting_) {
    finish();
    return done;
  }
  return mailbox_.try_block() ? awaiting_message : resume_later;
}

void MailboxActor::finish() noexcept {
  end();
  mailbox_.close(&drop);
  ended(unit_);
  address().unregister_from_system();
}

void MailboxActor::abandon() noexcept {
  if (mailbox_.closed()) return;
  unit_ = nullptr;  // it is nobody's turn
  finish();
}

void MailboxActor::intrusive_ptr_add_ref_impl() { caf::intrusive_ptr_add_ref(address().ctrl()); }
void MailboxActor::intrusive_ptr_release_impl() { caf::intrusive_ptr_release(address().ctrl()); }

}  // namespace polychron::engine
