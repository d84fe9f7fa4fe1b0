#include "core/service.hpp"

#include <polychron/invariant.hpp>

namespace polychron::server {

bool Budget::take(std::uint64_t bytes) {
  auto used = used_.load();
  do {
    if (bytes > most_ - used) return false;
  } while (!used_.compare_exchange_weak(used, used + bytes));
  return true;
}

namespace {

Refusal no_room(const Budget& budget) {
  return {Status::unavailable,
          "the bodies of requests in flight have " + describe_bytes(budget.used()) + ", at most " +
              describe_bytes(budget.most()),
          1};
}

}  // namespace

void Budget::refuse_beyond(std::uint64_t bytes) const {
  if (bytes > most_ - used_) throw no_room(*this);
}

void BudgetShare::set(std::uint64_t bytes) {
  check_invariant(bytes_ <= budget_.used(), "a share is a part of what is used");
  check_invariant(budget_.used() <= budget_.most(), "the budget is kept");
  if (bytes < bytes_) budget_.give_back(bytes_ - bytes);
  if (bytes > bytes_ && !budget_.take(bytes - bytes_)) throw no_room(budget_);
  bytes_ = bytes;
}

void Service::check_token(std::string_view authorization) const {
  if (!tokens.accept(authorization))
    throw Refusal(Status::unauthorized, "a valid bearer token is needed");
}

void Service::check_repository() const {
  if (!options.repository_interface)
    throw Refusal(Status::forbidden,
                  "the repository interface is off: start the server with --repository");
}

void Service::answered(const std::string& model, Status status, const std::string& message) {
  metrics.answered(model, status);
  if (status == Status::ok) return;
  constexpr std::size_t kept = 50;
  const std::lock_guard lock(mutex_);
  errors_.push_front({timestamp(), model, status, message});
  if (errors_.size() > kept) errors_.pop_back();
}

std::vector<RecentError> Service::recent_errors() const {
  const std::lock_guard lock(mutex_);
  return {errors_.begin(), errors_.end()};
}

}  // namespace polychron::server
