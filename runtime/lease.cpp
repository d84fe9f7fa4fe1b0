#include "polychron/lease.hpp"

#include "runtime/handles.hpp"

namespace polychron {

TensorLease::TensorLease(std::shared_ptr<detail::LeaseHandle> handle)
    : handle_(std::move(handle)) {}

TensorLease::~TensorLease() = default;  // the handle's destructor gives the memory back

TensorLease& TensorLease::operator=(TensorLease&& other) noexcept = default;

detail::LeaseHandle& TensorLease::handle() const {
  if (!handle_) detail::refuse(ErrorKind::invalid_state, "the lease was returned");
  if (handle_->forked()) throw Error(detail::forked_error());
  return *handle_;
}

std::span<std::byte> TensorLease::bytes() const { return handle().lease->bytes; }

bool TensorLease::revoked() const {
  return handle_ && (handle_->lease->revoked() || handle_->forked());
}

void TensorLease::on_revoked(std::function<void()> callback) {
  detail::with_errors([&] { handle().lease->on_revoked(std::move(callback)); });
}

void TensorLease::return_now() { handle_.reset(); }

}  // namespace polychron
