// The reference: every operator in plain loops and double precision. It serves what the others
// refuse and checks them in the tests. Plain layouts only; post-operations one after the other.
#pragma once

#include "kernels/kernel.hpp"

namespace polychron::kernels::reference {

/// What a reference function computes from. Functions allocate nothing.
struct Call {
  const Problem& problem;
  std::span<const std::byte* const> inputs;
  std::span<std::byte* const> outputs;

  template <class T>
  const T* in(std::size_t index) const {
    return reinterpret_cast<const T*>(inputs[index]);
  }
  template <class T>
  T* out(std::size_t index = 0) const {
    return reinterpret_cast<T*>(outputs[index]);
  }
  bool has(std::size_t index) const {
    return index < problem.own_inputs && inputs[index] != nullptr;
  }
  const Shape& in_shape(std::size_t index) const { return problem.inputs[index].descriptor.shape; }
  const Shape& out_shape(std::size_t index = 0) const {
    return problem.outputs[index].descriptor.shape;
  }
  DataType in_type(std::size_t index = 0) const {
    return problem.inputs[index].descriptor.data_type;
  }
  DataType out_type() const { return problem.outputs[0].descriptor.data_type; }
};

using Function = void (*)(const Call&);

/// The function of `op`, or nullptr.
Function find(ops::OpId op) noexcept;

KernelResult prepare(const Problem& problem);

/// A family of operators: what each file of this folder offers.
struct Entry {
  ops::OpId op;
  Function function;
};
std::span<const Entry> unary_entries() noexcept;
std::span<const Entry> binary_entries() noexcept;
std::span<const Entry> reduce_entries() noexcept;
std::span<const Entry> convolution_entries() noexcept;
std::span<const Entry> matrix_entries() noexcept;
std::span<const Entry> pool_entries() noexcept;
std::span<const Entry> normalization_entries() noexcept;
std::span<const Entry> movement_entries() noexcept;

}  // namespace polychron::kernels::reference
