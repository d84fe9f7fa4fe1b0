// A kernel that is one oneDNN primitive, with its arguments and its reordered weights.
#pragma once

#include <memory>
#include <vector>

#include "kernels/kernel.hpp"
#include "kernels/onednn/library.hpp"

namespace polychron::kernels::onednn {

/// Built during preparation, immutable afterwards. The caller provides scratch memory, from the
/// arena.
class PrimitiveKernel final : public Kernel {
 public:
  /// `scratch` is the primitive descriptor's scratchpad_desc().
  PrimitiveKernel(dnnl::primitive primitive, const memory::desc& scratch);

  /// Argument `arg` is the step's input or output `index`, described by `desc`.
  void add_input(int arg, const memory::desc& desc, std::size_t index);
  void add_output(int arg, const memory::desc& desc, std::size_t index = 0);
  /// Argument `arg` is constant input `index`, reordered once from `from` to `to`, into the memory
  /// of the kernel's engine. The kernel no longer needs the original.
  void add_constant(int arg, const memory::desc& to, const memory::desc& from,
                    const Buffer& constant, std::size_t index);
  /// Calls add_constant() if the slot has a constant, otherwise add_input().
  void add_operand(int arg, const memory::desc& to, const memory::desc& from, const Slot& slot,
                   std::size_t index);
  void allow_in_place(std::size_t index) { in_place_ = index; }

  std::size_t scratch_bytes() const noexcept override { return scratch_.get_size(); }
  void add_constants(Constants& constants) const override;
  bool keeps_constant(std::size_t index) const noexcept override;
  bool in_place(std::size_t index) const noexcept override { return index == in_place_; }
  bool runs_reference() const noexcept override { return reference_; }
  std::unique_ptr<Bound> bind(const Arguments& arguments) const override;
  /// The same, on a stream of the kernel's engine. The addresses are the engine's own.
  std::unique_ptr<Bound> bind_to(const dnnl::stream& stream, const Arguments& arguments) const;
  /// The name of the library's implementation: "jit:avx2", "ocl:ref:any".
  std::string_view implementation() const;

  enum class Source : std::uint8_t { input, output, own };
  struct Argument {
    int arg;
    /// Null if the primitive knows it: a descriptor has 700 bytes, and each length of a model has
    /// hundreds of arguments.
    std::shared_ptr<const memory::desc> desc;
    Source source;
    std::size_t index;  ///< number of the input or output, or place in `own_`
  };

 private:
  friend class PrimitiveBound;
  static constexpr std::size_t never = ~std::size_t{0};
  void add(int arg, const memory::desc& desc, Source source, std::size_t index);
  dnnl::engine engine_;
  dnnl::primitive primitive_;
  memory::desc scratch_;
  std::vector<Argument> arguments_;
  struct Own {
    dnnl::memory memory;
    ops::ConstantBytes bytes;  ///< the memory's bytes, or only their number on another engine
  };
  Own reordered(const memory::desc& to, const memory::desc& from, const Buffer& constant) const;
  Own uploaded(const memory::desc& to, const memory::desc& from, const Buffer& constant) const;
  std::vector<Own> own_;
  std::vector<std::size_t> kept_;
  std::size_t in_place_ = never;
  bool reference_;
};

/// The library's names of reference implementations begin with "ref": "ref:any".
inline bool is_reference(std::string_view implementation) {
  return implementation.starts_with("ref");
}

/// Attributes that let the caller provide scratch memory.
dnnl::primitive_attr caller_scratch();

}  // namespace polychron::kernels::onednn
