#include "polychron/lease.hpp"

#include "runtime/handles.hpp"

namespace polychron {

TensorLease::TensorLease(std::shared_ptr<detail::LeaseHandle> handle)
    : handle_(std::move(handle)) {}

TensorLease::~TensorLease() = default;  // the handle's destructor gives the memory back

TensorLease& TensorLease::operator=(TensorLease&& other) noexcept = default;

std::span<std::byte> TensorLease::bytes() const {
  if (!handle_) throw Error(ErrorKind::invalid_state, "the lease was returned");
  return handle_->lease->bytes;
}

bool TensorLease::revoked() const { return handle_ && handle_->lease->revoked(); }

void TensorLease::on_revoked(std::function<void()> callback) {
  if (!handle_) throw Error(ErrorKind::invalid_state, "the lease was returned");
  handle_->lease->on_revoked(std::move(callback));
}

void TensorLease::return_now() { handle_.reset(); }

}  // namespace polychron
