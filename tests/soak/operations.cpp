// Writes, dispatches, reads and computes of the soak.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/soak/worker.hpp"

namespace polychron::soak {

std::string compare(std::span<const std::byte> bytes, std::optional<float> value) {
  if (bytes.size() != 16) return "expected 16 bytes, got " + std::to_string(bytes.size());
  float got[4];
  std::memcpy(got, bytes.data(), sizeof got);
  const bool same = value && std::ranges::all_of(got, [&](float x) { return x == *value; });
  if (same) return {};
  std::string text =
      value ? "expected " + std::to_string(*value) + " four times" : "expected an error";
  text += ", got";
  for (const float x : got) text += " " + std::to_string(x);
  return text;
}

void Worker::write(Held& held) {
  doing_ = "write";
  const auto next = static_cast<float>(below(1000));
  const std::vector<float> values(4, next);
  if (once_in(2)) {
    context().write_tensor(held.tensor, values, {label_});
  } else {
    auto bytes = Buffer::copy_of(std::span<const float>(values));
    try {
      context().write_tensor(held.tensor, std::move(bytes), {label_});
    } catch (const Error&) {
      if (bytes.detached()) tally_.complain("a write that threw kept the caller's buffer");
      throw;
    }
  }
  held.value = next;
  ++tally_.writes;
}

void Worker::dispatch() {
  doing_ = "dispatch";
  const auto n = tensors_.size(), first = below(n);
  auto &a = tensors_[first], &b = tensors_[(first + 1) % n], &out = tensors_[(first + 2) % n];
  DispatchOptions options;
  options.label = label_;
  bool certainly_not = false;
  switch (below(20)) {
    case 0:
      options.cancellation.emplace();
      options.cancellation->cancel();
      certainly_not = true;
      break;
    case 1:
      options.deadline = std::chrono::steady_clock::now() - std::chrono::milliseconds(1);
      certainly_not = true;
      break;
    case 2:
      options.deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(below(2000));
      break;
    default:
      break;
  }
  NamedTensors inputs{{"a", a.tensor}};
  if (!sum_.shift) inputs.emplace_back("b", b.tensor);
  context().dispatch(sum_.graph, inputs, {{"out", out.tensor}}, options);
  const auto other = sum_.shift ? sum_.shift : b.value;
  if (certainly_not || !a.value || !other)
    out.value.reset();
  else
    out.value = *a.value + *other;
  ++tally_.dispatches;
  // Sums stay small enough to be exact. This write is a call of its own, and may throw.
  if (out.value && *out.value > 1e6F) write(out);
}

void Worker::read(const Held& held) {
  doing_ = "read";
  if (once_in(3))  // what is lent comes back, whatever happens
    return expect(tally_, site_->open, context().read_tensor(held.tensor, Buffer(16)),
                  "read into a buffer", [value = held.value](const Result<ReadResult>& read) {
                    if (!read) return std::string("the buffer did not come back");
                    if (read.value().buffer.size() != 16) return std::string("another buffer");
                    if (!read.value().status) return std::string();
                    return compare(read.value().buffer.bytes(), value);
                  });
  expect(tally_, site_->open, context().read_tensor(held.tensor), "read",
         [value = held.value](const Result<Buffer>& bytes) {
           return bytes ? compare(bytes.value().bytes(), value) : std::string();
         });
}

void Worker::read_into_span(const Held& held) {
  doing_ = "read into a span";
  const auto memory = std::make_shared<std::vector<float>>(4, -1.0F);
  const auto bytes = std::as_writable_bytes(std::span(*memory));
  expect(tally_, site_->open, context().read_tensor(held.tensor, bytes), "read into a span",
         [memory, bytes, value = held.value](const Result<void>& done) {
           return compare(bytes, done ? value : -1.0F);  // a rejection leaves it alone
         });
}

void Worker::compute() {
  doing_ = "compute";
  ++tally_.computes;
  const auto x = static_cast<float>(below(1000));
  const auto input = [&] { return Buffer::copy_of(std::span<const float>(std::vector(4, x))); };
  NamedBuffers in, out;
  in.emplace_back("a", input());
  if (!sum_.shift) in.emplace_back("b", input());
  out.emplace_back("out", Buffer(16));
  try {
    expect(tally_, site_->open,
           context().compute(sum_.graph, std::move(in), std::move(out), {.label = label_}),
           "compute", [expected = x + sum_.shift.value_or(x)](const Result<ComputeResult>& done) {
             if (!done) return std::string("the buffers did not come back");
             const auto& [inputs, outputs, status, steps] = done.value();
             if (outputs.at(0).second.size() != 16 || inputs.at(0).second.size() != 16)
               return std::string("other buffers");
             return status ? compare(outputs[0].second.bytes(), expected) : std::string();
           });
  } catch (const Error&) {
    if (in.empty() || in[0].second.detached() || out.empty() || out[0].second.detached())
      tally_.complain("a compute that threw kept the caller's buffers");
    throw;
  }
}

}  // namespace polychron::soak
