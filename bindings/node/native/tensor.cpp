// Tensors and their bytes.
#include <cstring>

#include "calls.hpp"
#include "handles.hpp"

namespace webnn {

using namespace polychron;

namespace {

napi_value tensor_promise(Environment& environment, Future<Tensor> future) {
  const auto env = environment.env();
  return environment.promise(std::move(future), [env](Result<Tensor> tensor) {
    return make(env, std::make_unique<TensorHandle>(env, std::move(tensor).value()));
  });
}

}  // namespace

napi_value create_tensor(const Call& call) {
  const auto given = call[1];
  TensorDescriptor descriptor{given.descriptor()};
  descriptor.readable = given["readable"].boolean();
  descriptor.writable = given["writable"].boolean();
  descriptor.label = given["label"].text();
  return tensor_promise(call.environment,
                        call[0].as<ContextHandle>().context.create_tensor(descriptor));
}

napi_value create_constant_tensor(const Call& call) {
  const std::span<const std::byte> bytes = call[2].bytes();
  return tensor_promise(
      call.environment,
      call[0].as<ContextHandle>().context.create_constant_tensor(call[1].descriptor(), bytes));
}

napi_value write_tensor(const Call& call) {
  WriteOptions options;
  if (call[3].present()) options.label = call[3].text();
  const std::span<const std::byte> bytes = call[2].bytes();
  call.environment.called();
  call[0].as<ContextHandle>().context.write_tensor(call[1].as<TensorHandle>().tensor, bytes,
                                                   options);
  return undefined(call.env());
}

/// Reads into memory that nobody can take away meanwhile: a buffer that the caller does not have
/// yet, or a shared one. A lane writes it. The promise resolves with the fourth argument.
napi_value read_tensor(const Call& call) {
  auto& environment = call.environment;
  const auto bytes = call[2].bytes();
  auto* const kept = environment.keep(call[2].raw());
  auto* const result = call[3].present() ? environment.keep(call[3].raw()) : nullptr;
  // JavaScript owns the memory, and `kept` keeps it until the reply.
  auto lent = Buffer::adopt(bytes.data(), bytes.size(), [](std::byte*, std::size_t) {});
  auto future = call[0].as<ContextHandle>().context.read_tensor(call[1].as<TensorHandle>().tensor,
                                                                std::move(lent));
  return environment.promise(
      std::move(future), [&environment, kept, result](Result<ReadResult> read) {
        const auto value =
            result == nullptr ? undefined(environment.env()) : environment.kept(result).raw();
        environment.drop(kept);
        if (result != nullptr) environment.drop(result);
        read.value().status.value();
        return value;
      });
}

/// Reads into a buffer that the caller may detach meanwhile. So the bytes arrive in a buffer of our
/// own, and the loop copies them, if it still can.
napi_value read_tensor_late(const Call& call) {
  auto& environment = call.environment;
  auto* const kept = environment.keep(call[2].raw());
  auto future = call[0].as<ContextHandle>().context.read_tensor(call[1].as<TensorHandle>().tensor);
  return environment.promise(std::move(future), [&environment, kept](Result<Buffer> result) {
    const auto destination = environment.kept(kept).bytes();
    environment.drop(kept);
    const auto& buffer = result.value();
    if (destination.size() != buffer.size())
      throw Error(ErrorKind::type_error, "the output buffer was detached during the read");
    std::memcpy(destination.data(), buffer.data(), buffer.size());
    return undefined(environment.env());
  });
}

}  // namespace webnn
