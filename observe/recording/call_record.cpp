#include "observe/recording/call_record.hpp"

#include <algorithm>
#include <cstring>

#include "messages/call_codec.hpp"

namespace polychron::recording {

namespace {

std::string_view text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint64_t mixed(std::uint64_t x) {
  x *= 0x9e3779b97f4a7c15U;
  return x ^ (x >> 32U);
}

}  // namespace

Called describe(const msg::submit& call, bool contents, CallBytes& bytes) {
  auto& [writer, lent] = bytes;
  writer.bytes.clear();
  lent.clear();
  writer.contents = contents;
  writer(call.call);
  Called called;
  if (const auto* const loan = std::get_if<msg::BatchRef>(&call.local.reply)) {
    // No other thread uses it yet: it is on its way to a lane.
    const auto& batch = (*loan)->content;
    for (const auto& buffer : batch.inputs) {
      called.inputs.push_back(buffer.size());
      if (contents) lent.insert(lent.end(), buffer.bytes().begin(), buffer.bytes().end());
    }
    for (const auto& buffer : batch.outputs) called.outputs.push_back(buffer.size());
  }
  called.call = text_of(writer.bytes);
  called.contents = text_of(lent);
  return called;
}

std::size_t content_bytes(const msg::submit& call) noexcept {
  std::size_t bytes = 0;
  if (const auto* const write = std::get_if<msg::WriteTensor>(&call.call)) {
    bytes = write->payload->view().size();
  } else if (const auto* const create = std::get_if<msg::CreateTensor>(&call.call)) {
    if (create->constant) bytes = create->constant->view().size();
  } else if (const auto* const build = std::get_if<msg::Build>(&call.call)) {
    for (const auto& value : build->description->values)
      if (value.constant) bytes += value.constant->size();
  } else if (const auto* const loan = std::get_if<msg::BatchRef>(&call.local.reply)) {
    for (const auto& buffer : (*loan)->content.inputs) bytes += buffer.size();
  }
  return bytes;
}

std::uint64_t digest_of(std::span<const Buffer> buffers) {
  std::uint64_t digest = 1;
  for (const auto& buffer : buffers) {
    auto bytes = buffer.bytes();
    digest = mixed(digest + bytes.size());
    while (!bytes.empty()) {
      std::uint64_t word = 0;
      const auto size = std::min(bytes.size(), sizeof word);
      std::memcpy(&word, bytes.data(), size);
      digest = mixed(digest ^ word) + digest;
      bytes = bytes.subspan(size);
    }
  }
  return std::max<std::uint64_t>(digest, 1);
}

}  // namespace polychron::recording
