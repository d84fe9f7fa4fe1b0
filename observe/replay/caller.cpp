#include "observe/replay/caller.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace polychron::replay {

namespace {

template <class T>
Promise<T> promise(Stage& stage, std::size_t index, const Site& site) {
  auto reply = Promise<T>::make(site.port->origin());
  const auto future = std::make_shared<Future<T>>(reply.future());
  stage.answers.emplace(index, [future] { return future->ready(); });
  return reply;
}

msg::BatchReply buffers_of(const Call& recorded) {
  msg::BatchReply batch;
  auto contents = std::as_bytes(std::span(recorded.contents));
  for (const auto size : recorded.inputs) {
    if (contents.empty()) {
      batch.inputs.emplace_back(static_cast<std::size_t>(size));
      continue;
    }
    batch.inputs.push_back(Buffer::copy_of(contents.first(static_cast<std::size_t>(size))));
    contents = contents.subspan(static_cast<std::size_t>(size));
  }
  for (const auto size : recorded.outputs)
    batch.outputs.emplace_back(static_cast<std::size_t>(size));
  return batch;
}

}  // namespace

bool Stage::may_make(std::size_t index) const {
  const auto& call = script.calls[index];
  // Without this wait, a caller would give a lease back before it comes.
  if (call.returns && !answers.contains(*call.returns)) return false;
  return std::ranges::all_of(call.needs, [&](std::size_t needed) {
    const auto answer = answers.find(needed);
    return answer != answers.end() && answer->second();
  });
}

void Stage::end_leases() {
  for (auto& site : sites)
    for (const auto& [id, out] : std::exchange(site.leases, {}))
      site.port->prepare_end(msg::ReturnLease{out.tensor, id})->send();
}

msg::Reply Caller::reply_for(const msg::Call& call, std::size_t index) {
  const auto& recorded = stage_.script.calls[index];
  auto& site = stage_.sites[recorded.context];
  return std::visit(
      [&](const auto& c) -> msg::Reply {
        using C = std::remove_cvref_t<decltype(c)>;
        if constexpr (std::is_same_v<C, msg::CreateTensor>) {
          return promise<void>(stage_, index, site);
        } else if constexpr (std::is_same_v<C, msg::ReadTensor>) {
          return std::make_shared<msg::ReadRef::element_type>(
              msg::ReadReply{}, promise<msg::ReadReply>(stage_, index, site), site.port->origin());
        } else if constexpr (std::is_same_v<C, msg::Compute>) {
          return std::make_shared<msg::BatchRef::element_type>(
              buffers_of(recorded), promise<msg::BatchReply>(stage_, index, site),
              site.port->origin());
        } else if constexpr (std::is_same_v<C, msg::QueryError> ||
                             std::is_same_v<C, msg::PopScope>) {
          return promise<std::optional<Error>>(stage_, index, site);
        } else if constexpr (std::is_same_v<C, msg::LendTensor>) {
          const auto lease = std::make_shared<msg::Lease>(c.mode, site.port->origin());
          site.leases[c.lease] = {c.tensor, lease, recorded.given_back};
          return msg::LeaseReply{lease, promise<void>(stage_, index, site)};
        } else if constexpr (std::is_same_v<C, msg::Build>) {
          return msg::BuildReply{promise<msg::Built>(stage_, index, site),
                                 std::make_shared<msg::Reservation>()};
        } else if constexpr (std::is_same_v<C, msg::AskPending>) {
          return promise<std::vector<PendingOperation>>(stage_, index, site);
        } else if constexpr (std::is_same_v<C, msg::SetErrorHandler>) {
          return msg::ErrorHandler();
        } else {
          return std::monostate();
        }
      },
      call);
}

void Caller::make(std::size_t index) {
  const auto& recorded = stage_.script.calls[index];
  auto& site = stage_.sites[recorded.context];
  site.listener->expect(index);
  if (recorded.ends) return site.port->destroy();
  auto call = decoded(recorded.bytes, stage_.script);
  msg::LocalPart local{reply_for(call, index), {}, nullptr};
  std::visit(
      [&](auto& c) {
        // Time stands still: what had passed is past, and nothing else will pass.
        if constexpr (requires { c.deadline; }) {
          c.deadline.reset();
          if (recorded.expired) c.deadline = msg::Clock::time_point::min();
        }
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(c)>, msg::WriteTensor>) {
          if (recorded.given_back.size() == c.payload->view().size())
            c.payload = std::make_shared<msg::Payload>(
                Buffer::copy_of(std::as_bytes(std::span(recorded.given_back))), msg::Reservation());
          if (!recorded.given_up) return;
          const auto gone = std::make_shared<msg::Rendezvous>(std::span<const std::byte>());
          gone->finish(std::nullopt);
          c.payload = std::make_shared<msg::Payload>(gone, site.port->origin());
        }
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(c)>, msg::ReturnLease>) {
          const auto out = site.leases.find(c.lease);
          if (out == site.leases.end()) return;
          const auto& [tensor, lease, bytes] = out->second;
          if (!bytes.empty() && lease->bytes.size() == bytes.size())
            std::memcpy(lease->bytes.data(), bytes.data(), bytes.size());
          site.leases.erase(out);
        }
      },
      call);
  if (recorded.cancelled) {
    local.cancellation = std::make_shared<detail::CancellationState>();
    local.cancellation->cancel();
  }
  site.port->submit(std::move(call), std::move(local));
}

}  // namespace polychron::replay
