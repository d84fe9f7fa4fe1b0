#include "observe/stress/strategy.hpp"

#include <charconv>

#include "messages/names.hpp"
#include "messages/observer.hpp"
#include "polychron/error.hpp"

namespace polychron::stress {

namespace {

/// The message in `element`, of any protocol.
template <class... Messages>
std::optional<msg::MessageView> view_of(const caf::mailbox_element& element,
                                        std::type_identity<std::variant<const Messages*...>>) {
  std::optional<msg::MessageView> view;
  static_cast<void>(((element.content().template match_elements<Messages>() &&
                      (view = &element.content().template get_as<Messages>(0), true)) ||
                     ...));
  return view;
}

}  // namespace

Runnable::Runnable(caf::resumable& job, caf::actor_id first_id)
    // All that this scheduler runs are such actors, and a dynamic_cast costs as much as some steps.
    : actor_(static_cast<engine::MailboxActor*>(&job)),
      kind_(actor_->kind()),
      name_(actor_->id() - first_id) {}

const caf::mailbox_element* Runnable::next() const {
  return actor_ == nullptr ? nullptr : actor_->mailbox().peek();
}

std::string Runnable::message() const {
  const auto* const element = next();
  if (element == nullptr) return "";
  const auto view = view_of(*element, std::type_identity<msg::MessageView>{});
  return view ? msg::name_of(*view) : "";
}

std::vector<std::pair<msg::Object, bool>> Runnable::footprint() const {
  std::vector<std::pair<msg::Object, bool>> footprint;
  const auto* const element = next();
  if (element != nullptr && element->content().match_elements<msg::carry_out>())
    msg::footprint_of(
        element->content().get_as<msg::carry_out>(0).operation,
        [&](msg::Object object, bool changes) { footprint.emplace_back(object, changes); });
  return footprint;
}

bool Runnable::prefer(const std::function<bool(const msg::MessageView&)>& wanted) const {
  if (next() == nullptr) return false;
  const auto find_in = [&](const engine::Mail& mail) {
    const caf::mailbox_element* found = nullptr;
    mail.for_each([&](const caf::mailbox_element& element) {
      if (found != nullptr) return;
      const auto view = view_of(element, std::type_identity<msg::MessageView>{});
      if (view && wanted(*view)) found = &element;
    });
    return found;
  };
  auto& mailbox = actor_->mailbox();
  if (const auto* const urgent = find_in(mailbox.urgent()))
    mailbox.put_first(*urgent, true);
  else if (const auto* const normal = find_in(mailbox.normal()))
    mailbox.put_first(*normal, false);
  else
    return false;
  return true;
}

std::string to_string(const Schedule& schedule) {
  std::string text;
  for (const auto pick : schedule) text += (text.empty() ? "" : ".") + std::to_string(pick);
  return text;
}

Schedule schedule_from_string(const std::string& text) {
  Schedule schedule;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    std::uint32_t pick = 0;
    const auto [rest, error] = std::from_chars(at, end, pick);
    if (error != std::errc() || (rest != end && (*rest != '.' || rest + 1 == end)))
      throw Error(ErrorKind::bad_data, "a schedule is numbers with dots between them");
    schedule.push_back(pick);
    at = rest == end ? end : rest + 1;
  }
  return schedule;
}

std::uint32_t ReplayStrategy::next(std::size_t bound) {
  if (at_ == schedule_.size()) return 0;
  const auto pick = schedule_[at_++];
  if (pick < bound) return pick;
  const auto place = std::exchange(at_, schedule_.size());  // the world has yet to end
  throw Error(ErrorKind::bad_data, "this schedule is another world's: pick " +
                                       std::to_string(place) + " is " + std::to_string(pick) +
                                       " of " + std::to_string(bound));
}

std::size_t ReplayStrategy::pick(std::span<const Runnable> runnables) {
  return next(runnables.size());
}

std::optional<std::size_t> ReplayStrategy::interrupt(const Runnable&,
                                                     std::span<const Runnable> runnables) {
  const auto pick = next(runnables.size() + 1);
  return pick == 0 ? std::nullopt : std::optional<std::size_t>(pick - 1);
}

}  // namespace polychron::stress
