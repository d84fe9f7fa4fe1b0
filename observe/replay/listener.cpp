#include "observe/replay/listener.hpp"

#include <algorithm>
#include <string_view>
#include <type_traits>

#include "messages/names.hpp"

namespace polychron::replay {

msg::Ticket ticket_of(const msg::MessageView& message) {
  return std::visit(
      [](const auto* m) -> msg::Ticket {
        if constexpr (requires { m->stamp.ticket; })
          return m->stamp.ticket;
        else if constexpr (requires { m->ticket; })
          return m->ticket;
        else if constexpr (requires { m->lane; })
          return number_of_question(m->wait.at.turn, m->lane);
        else if constexpr (requires { m->wait; })
          return number_of_question(m->wait.at.turn, m->wait.at.lane);
        else
          return 0;
      },
      message);
}

Listener::Listener(const Script& script, std::size_t context, std::shared_ptr<AtWork> at,
                   Progress* progress, std::shared_ptr<msg::Observer> also)
    : script_(script),
      context_(context),
      at_(std::move(at)),
      progress_(progress),
      also_(std::move(also)) {
  at_->context = &script.contexts[context];
}

std::optional<msg::ActorId> Listener::actor_of(const Role& role) const {
  const auto known = actors_.find(role);
  return known == actors_.end() ? std::nullopt : std::optional(known->second);
}

std::optional<Role> Listener::role_of(msg::ActorId actor) const {
  const auto known = roles_.find(actor);
  return known == roles_.end() ? std::nullopt : std::optional(known->second);
}

void Listener::plays(const char* kind, std::uint64_t number, msg::ActorId actor) {
  const Role role{context_, kind, number};
  actors_.try_emplace(role, actor);
  roles_.try_emplace(actor, role);
}

void Listener::started(msg::ActorId actor, const char* kind) noexcept {
  also_->started(actor, kind);
  if (progress_ != nullptr) progress_->began(actor);
  if (kind == std::string_view("context") || kind == std::string_view("compiler"))
    plays(kind, 0, actor);
}

void Listener::sent(msg::ActorId from, msg::ActorId to, const msg::MessageView& message) noexcept {
  also_->sent(from, to, message);
  const auto* const* const m = std::get_if<const msg::carry_out*>(&message);
  if (m == nullptr) return;
  if (taken_ != nullptr) operations_[(*m)->stamp.ticket] = taken_;
  plays("device", (*m)->stamp.at.lane, to);
  // The first operation on an object is issued by the actor that has just made the object's.
  if (const auto* made = std::get_if<msg::op::Allocate>(&(*m)->operation))
    plays("tensor", made->tensor->id, made->tensor->actor->id());
  if (const auto* made = std::get_if<msg::op::Load>(&(*m)->operation))
    plays("graph", made->graph->id, made->graph->actor->id());
}

void Listener::received(msg::ActorId by, const msg::MessageView& message,
                        msg::LogicalTime sent) noexcept {
  also_->received(by, message, sent);
  if (const auto* const* m = std::get_if<const msg::compile*>(&message))
    at_->graph = (*m)->call.graph;
  if (progress_ == nullptr) return;
  progress_->handled(by, static_cast<std::uint32_t>(message.index()), ticket_of(message));
}

void Listener::finished(msg::ActorId by, const msg::MessageView& message) noexcept {
  also_->finished(by, message);
  if (std::holds_alternative<const msg::submit*>(message)) taken_ = nullptr;
}

void Listener::has_turn(msg::ActorId lane, const msg::carry_out& operation) noexcept {
  also_->has_turn(lane, operation);
  if (progress_ != nullptr)
    progress_->reaches(Turn::Kind::operation, context_, lane, operation.stamp.ticket);
  // The object's actor ended meanwhile, or its mail did: no turn of the order stands for that.
  if (progress_ != nullptr &&
      script_.answered_before.contains({context_, operation.stamp.ticket})) {
    if (const auto* const read = std::get_if<msg::op::Read>(&operation.operation))
      read->loan->give_up();
    if (const auto* const compute = std::get_if<msg::op::Compute>(&operation.operation))
      compute->batch->give_up();
  }
  const auto known = operations_.find(operation.stamp.ticket);
  at_->call = known == operations_.end() ? nullptr : known->second;
  at_->ticket = operation.stamp.ticket;
}

void Listener::takes(msg::ActorId context, const msg::submit& call) noexcept {
  also_->takes(context, call);
  // The end of a context is urgent, and comes before what was called earlier.
  const bool ends = std::holds_alternative<msg::DestroyContext>(call.call);
  const auto at = std::ranges::find_if(
      submitted_, [&](std::size_t index) { return script_.calls[index].ends == ends; });
  if (at == submitted_.end()) return;  // the end of what is left, after all calls
  const auto index = *at;
  submitted_.erase(at);
  taken_ = &script_.calls[index];
  if (progress_ != nullptr) progress_->took(index);
}

}  // namespace polychron::replay
