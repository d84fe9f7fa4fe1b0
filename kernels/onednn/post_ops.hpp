// WebNN's element-wise operators as oneDNN's, on their own or as post-operations of a primitive.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kernels/onednn/primitive_kernel.hpp"

namespace polychron::kernels::onednn {

/// A unary operator as functions of the library, applied in order.
struct Function {
  ops::OpId op;
  std::vector<Eltwise> (*of)(const Attributes& attributes);
};
/// A binary operator and its algorithm in the library.
struct Operation {
  ops::OpId op;
  dnnl::algorithm algorithm;
};
// The tables, which are in the families' files.
std::span<const Function> elementwise_functions() noexcept;
std::span<const Function> activation_functions() noexcept;
std::span<const Operation> elementwise_operations() noexcept;

/// A function of the library without parameters.
template <dnnl::algorithm algorithm>
std::vector<Eltwise> function(const Attributes&) {
  return {{algorithm}};
}

/// The reason why `problem` is not float32 in plain layout without post-operations; nullopt if it
/// is.
std::optional<std::string> not_plain(const Problem& problem);

/// Prepares a unary operator of either family.
KernelResult prepare_function(const Problem& problem);

/// The library's functions that make up a unary operator, in order; empty if there are none.
std::vector<Eltwise> eltwise_of(ops::OpId op, const Attributes& attributes);

/// The library's algorithm of a binary operator.
std::optional<dnnl::algorithm> binary_of(ops::OpId op) noexcept;

/// How an operand of a post-operation broadcasts to the result. `other`: the library does not
/// support it, or computes it wrongly.
enum class Broadcast : std::uint8_t { none, scalar, channel, other };
Broadcast broadcast_of(const Problem& problem, const Shape& operand);

/// A primitive's post-operations, and their operands.
struct PostOps {
  dnnl::primitive_attr attributes = caller_scratch();
  struct Operand {
    int arg;
    memory::desc desc;
    std::size_t index;  ///< number of the problem's input
  };
  std::vector<Operand> operands;

  void add_to(PrimitiveKernel& kernel) const;
};

/// True if the library has the unary operator `op` and computes it correctly after `problem` with
/// its first `count` post-operations.
bool can_join(const Problem& problem, std::size_t count, ops::OpId op,
              const Attributes& attributes);

KernelResult prepare_product(const Problem& problem);

bool is_product(ops::OpId op) noexcept;

/// The dimension of a problem's result along which vectors may broadcast: a picture's channels, or
/// the columns of a product.
std::size_t channel_axis(const Problem& problem);

/// Translates the post-operations from number `first` on. `desc` is the primitive's view of the
/// result. nullopt if the library does not have one of them, or computes it wrongly.
std::optional<PostOps> translate(const Problem& problem, const memory::desc& desc,
                                 std::size_t first = 0);

}  // namespace polychron::kernels::onednn
