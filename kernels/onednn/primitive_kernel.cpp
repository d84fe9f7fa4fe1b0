#include "kernels/onednn/primitive_kernel.hpp"

#include <algorithm>
#include <string_view>

#include "base/invariant.hpp"
#include "base/kept_once.hpp"

namespace polychron::kernels::onednn {

/// One lane's arguments of a primitive, as the library's C interface takes them. Its C++ interface
/// would build a list on each call.
class PrimitiveBound final : public Bound {
 public:
  PrimitiveBound(const PrimitiveKernel& kernel, const dnnl::stream& stream,
                 const Arguments& arguments)
      : kernel_(kernel), arguments_(arguments), stream_(stream) {
    const dnnl::engine& engine = kernel.engine_;
    memories_.reserve(kernel.arguments_.size() + 1);
    for (const auto& argument : kernel.arguments_) {
      const std::size_t given =
          argument.source == PrimitiveKernel::Source::input    ? arguments.inputs.size()
          : argument.source == PrimitiveKernel::Source::output ? arguments.outputs.size()
                                                               : kernel.own_.size();
      ensure(argument.index < given, "a primitive's arguments are among the step's");
      memories_.push_back(
          argument.source == PrimitiveKernel::Source::own
              ? kernel.own_[argument.index].memory
              : memory(argument.desc ? *argument.desc : known_to(kernel.primitive_, argument.arg),
                       engine, address(argument)));
      list_.push_back({argument.arg, memories_.back().get()});
    }
    if (kernel.scratch_bytes() != 0) {
      memories_.emplace_back(kernel.scratch_, engine, arguments.scratch);
      list_.push_back({DNNL_ARG_SCRATCHPAD, memories_.back().get()});
    }
  }

  void rebind() override {
    for (std::size_t i = 0; i < kernel_.arguments_.size(); ++i)
      if (kernel_.arguments_[i].source != PrimitiveKernel::Source::own)
        memories_[i].set_data_handle(address(kernel_.arguments_[i]));
    if (kernel_.scratch_bytes() != 0) memories_.back().set_data_handle(arguments_.scratch);
  }

  void run() override {
    const auto status = dnnl_primitive_execute(kernel_.primitive_.get(), stream_.get(),
                                               static_cast<int>(list_.size()), list_.data());
    if (status != dnnl_success) throw to_error(dnnl::error(status, "oneDNN primitive failed"));
  }

 private:
  void* address(const PrimitiveKernel::Argument& argument) const {
    if (argument.source == PrimitiveKernel::Source::output)
      return arguments_.outputs[argument.index];
    return const_cast<std::byte*>(arguments_.inputs[argument.index]);
  }

  const PrimitiveKernel& kernel_;
  const Arguments& arguments_;
  dnnl::stream stream_;
  std::vector<memory> memories_;
  std::vector<dnnl_exec_arg_t> list_;
};

PrimitiveKernel::PrimitiveKernel(dnnl::primitive primitive, const memory::desc& scratch)
    : engine_(engine()),
      primitive_(std::move(primitive)),
      scratch_(scratch),
      // Another engine's reference still runs on that engine.
      reference_(is_host(engine_) && is_reference(implementation())) {}

std::string_view PrimitiveKernel::implementation() const {
  const char* name = "";
  const auto status = dnnl_primitive_desc_query(primitive_.get_primitive_desc(),
                                                dnnl_query_impl_info_str, 0, &name);
  return status == dnnl_success ? name : "";
}

void PrimitiveKernel::add(int arg, const memory::desc& desc, Source source, std::size_t index) {
  const bool known = desc == known_to(primitive_, arg);
  arguments_.push_back(
      {arg, known ? nullptr : std::make_shared<const memory::desc>(desc), source, index});
}

void PrimitiveKernel::add_input(int arg, const memory::desc& desc, std::size_t index) {
  add(arg, desc, Source::input, index);
}

void PrimitiveKernel::add_output(int arg, const memory::desc& desc, std::size_t index) {
  add(arg, desc, Source::output, index);
}

namespace {

void reorder(const memory& source, memory& target) {
  dnnl::stream stream(target.get_engine());
  dnnl::reorder(source, target).execute(stream, const_cast<memory&>(source), target);
  stream.wait();
}

}  // namespace

PrimitiveKernel::Own PrimitiveKernel::reordered(const memory::desc& to, const memory::desc& from,
                                                const Buffer& constant) const {
  auto bytes = Buffer::uninitialized(to.get_size());
  memory target(to, engine_, bytes.data());
  reorder(memory(from, engine_, const_cast<std::byte*>(constant.data())), target);
  const auto kept = kept_once(std::make_shared<const Buffer>(std::move(bytes)));
  target.set_data_handle(const_cast<std::byte*>(kept->data()));
  return {std::move(target), kept};
}

PrimitiveKernel::Own PrimitiveKernel::uploaded(const memory::desc& to, const memory::desc& from,
                                               const Buffer& constant) const {
  static const auto& host = *new dnnl::engine(dnnl::engine::kind::cpu, 0);
  memory source(from, host, const_cast<std::byte*>(constant.data()));
  memory target(to, engine_);
  if (from == to) {
    reorder(source, target);
  } else {  // the library has few reorders that also change the engine
    memory same(from, engine_);
    reorder(source, same);
    reorder(same, target);
  }
  auto size = std::make_shared<const Buffer>(Buffer::adopt(nullptr, to.get_size(), {}));
  return {std::move(target), std::move(size)};
}

void PrimitiveKernel::add_constant(int arg, const memory::desc& to, const memory::desc& from,
                                   const Buffer& constant, std::size_t index) {
  arguments_.push_back({arg, nullptr, Source::own, own_.size()});
  own_.push_back(is_host(engine_) ? reordered(to, from, constant) : uploaded(to, from, constant));
  kept_.push_back(index);
}

void PrimitiveKernel::add_operand(int arg, const memory::desc& to, const memory::desc& from,
                                  const Slot& slot, std::size_t index) {
  if (slot.constant && to != from)
    add_constant(arg, to, from, *slot.constant, index);
  else
    add_input(arg, from, index);
}

void PrimitiveKernel::add_constants(Constants& constants) const {
  for (const Own& own : own_) constants.push_back(own.bytes);
}

bool PrimitiveKernel::keeps_constant(std::size_t index) const noexcept {
  return std::find(kept_.begin(), kept_.end(), index) != kept_.end();
}

std::unique_ptr<Bound> PrimitiveKernel::bind(const Arguments& arguments) const {
  return bind_to(dnnl::stream(engine_), arguments);
}

std::unique_ptr<Bound> PrimitiveKernel::bind_to(const dnnl::stream& stream,
                                                const Arguments& arguments) const {
  return std::make_unique<PrimitiveBound>(*this, stream, arguments);
}

dnnl::primitive_attr caller_scratch() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

}  // namespace polychron::kernels::onednn
