// The reference: every operator in plain loops and double precision. It takes the problems that
// other implementations refuse, and tests compare these with it. It has only plain layouts, and
// applies post-operations one after the other.
#pragma once

#include "kernels/kernel.hpp"

namespace polychron::kernels::reference {

/// The arguments of a reference function. Functions allocate nothing.
struct Call {
  const Problem& problem;
  std::span<const std::byte* const> inputs;
  std::span<std::byte* const> outputs;
  std::byte* scratch = nullptr;  ///< as many bytes as the Entry asks for

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

/// An operator and the function that computes it.
struct Entry {
  ops::OpId op;
  Function function;
  /// Bytes of scratch memory that the function needs; null: none.
  std::size_t (*scratch)(const Problem& problem) = nullptr;
};

/// The operator's entry; null if it has none.
const Entry* find(ops::OpId op) noexcept;

KernelResult prepare(const Problem& problem);
/// The same with an entry of the caller's.
KernelResult prepare_with(const Entry& entry, const Problem& problem);

/// Copies input 0's bytes.
void copy(const Call& call);

// The families: the tables of this folder's files.
std::span<const Entry> elementwise_entries() noexcept;
std::span<const Entry> activation_entries() noexcept;
std::span<const Entry> matrix_entries() noexcept;
std::span<const Entry> convolution_entries() noexcept;
std::span<const Entry> pooling_entries() noexcept;
std::span<const Entry> resampling_entries() noexcept;
std::span<const Entry> normalization_entries() noexcept;
std::span<const Entry> reduction_entries() noexcept;
std::span<const Entry> movement_entries() noexcept;
std::span<const Entry> indexing_entries() noexcept;
std::span<const Entry> quantization_entries() noexcept;
std::span<const Entry> recurrent_entries() noexcept;

}  // namespace polychron::kernels::reference
