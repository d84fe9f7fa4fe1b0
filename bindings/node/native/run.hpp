// What runs of graphs and of sessions share.
#pragma once

#include "environment.hpp"

namespace webnn {

/// Buffers with copies of the Uint8Arrays, in the order of the declared inputs.
polychron::NamedBuffers copied_inputs(const polychron::NamedDescriptors& declared,
                                      const Value& bytes);
/// Buffers over the Uint8Arrays, whose memory JavaScript owns; own memory where there is undefined.
polychron::NamedBuffers lent_outputs(const polychron::NamedDescriptors& declared,
                                     const Value& memory);
/// `timeout` is in milliseconds from now; it and `cancellation` may be undefined.
polychron::DispatchOptions run_options(const Value& label, const Value& timeout,
                                       const Value& cancellation);
/// A promise of `result`, which keeps the lent memory alive, once the run that `start` begins has
/// filled it.
template <class F>
napi_value run_promise(Environment& environment, const Value& result, F start) {
  auto* const kept = environment.keep(result.raw());
  polychron::Future<polychron::ComputeResult> future;
  try {
    future = start();
  } catch (...) {
    environment.drop(kept);
    throw;
  }
  return environment.promise(
      std::move(future), [&environment, kept](polychron::Result<polychron::ComputeResult> done) {
        const auto value = environment.kept(kept).raw();
        environment.drop(kept);
        done.value().status.value();
        return value;
      });
}

}  // namespace webnn
