// A kernel that is one oneDNN primitive: its arguments, its weights in the order it likes.
#pragma once

#include <vector>

#include "kernels/kernel.hpp"
#include "kernels/onednn/library.hpp"

namespace polychron::kernels::onednn {

/// Put together while preparing, immutable afterwards. Scratch memory is the caller's (the arena).
class PrimitiveKernel final : public Kernel {
 public:
  /// `scratch` is the primitive descriptor's scratchpad_desc().
  PrimitiveKernel(dnnl::primitive primitive, const memory::desc& scratch);

  /// Argument `arg` is the step's input or output `index`, as `desc` says.
  void add_input(int arg, const memory::desc& desc, std::size_t index);
  void add_output(int arg, const memory::desc& desc, std::size_t index = 0);
  /// Argument `arg` is constant input `index`, which lies as `from`, reordered to `to` once and for
  /// all. The original is not needed any more.
  void add_constant(int arg, const memory::desc& to, const memory::desc& from,
                    const Buffer& constant, std::size_t index);
  /// add_constant() if the slot has one, else add_input().
  void add_operand(int arg, const memory::desc& to, const memory::desc& from, const Slot& slot,
                   std::size_t index);
  void allow_in_place(std::size_t index) { in_place_ = index; }

  std::size_t scratch_bytes() const noexcept override { return scratch_.get_size(); }
  void add_constants(Constants& constants) const override;
  bool keeps_constant(std::size_t index) const noexcept override;
  bool in_place(std::size_t index) const noexcept override { return index == in_place_; }
  bool runs_reference() const noexcept override { return reference_; }
  std::unique_ptr<Bound> bind(const Arguments& arguments) const override;

  enum class Source : std::uint8_t { input, output, own };
  struct Argument {
    int arg;
    memory::desc desc;
    Source source;
    std::size_t index;  ///< of the input, the output, or in `own_`
  };

 private:
  friend class PrimitiveBound;
  static constexpr std::size_t never = ~std::size_t{0};
  dnnl::primitive primitive_;
  memory::desc scratch_;
  std::vector<Argument> arguments_;
  struct Own {
    dnnl::memory memory;
    ops::ConstantBytes bytes;  ///< where it is
  };
  std::vector<Own> own_;
  std::vector<std::size_t> kept_;
  std::size_t in_place_ = never;
  bool reference_;
};

/// What the library calls its reference implementations begins so: "ref:any".
inline bool is_reference(std::string_view implementation) {
  return implementation.starts_with("ref");
}

/// Attributes with the caller's scratchpad.
dnnl::primitive_attr caller_scratch();

}  // namespace polychron::kernels::onednn
