#include "kernels/onednn/library.hpp"

#include <utility>

#include "kernels/processor.hpp"
#include "ops/layouts.hpp"

#include "polychron/error.hpp"

namespace polychron::kernels::onednn {

namespace {
thread_local const dnnl::engine* scoped_engine = nullptr;
}

const dnnl::engine& engine() {
  // Never destroyed: see kernels/registry.cpp.
  static const auto& cpu = *new dnnl::engine([] {
    vectors();  // limits the library before it generates code
    return dnnl::engine(dnnl::engine::kind::cpu, 0);
  }());
  return scoped_engine != nullptr ? *scoped_engine : cpu;
}

EngineScope::EngineScope(const dnnl::engine& engine) noexcept
    : outer_(std::exchange(scoped_engine, &engine)) {}

EngineScope::~EngineScope() { scoped_engine = outer_; }

memory::format_tag format_tag(Layout layout) noexcept {
  switch (layout) {
    case Layout::plain:
      return memory::format_tag::nchw;
    case Layout::blocked8:
      return memory::format_tag::nChw8c;
    case Layout::blocked16:
      return memory::format_tag::nChw16c;
  }
  return memory::format_tag::undef;
}

bool is_float32(const Slot& slot) noexcept {
  return slot.present && slot.descriptor.data_type == DataType::float32;
}

memory::dims to_dims(const Shape& shape) { return {shape.begin(), shape.end()}; }

memory::dims row_major(const memory::dims& dims) {
  memory::dims strides(dims.size());
  memory::dim step = 1;
  for (std::size_t i = dims.size(); i-- > 0; step *= dims[i]) strides[i] = step;
  return strides;
}

memory::desc picture(const Slot& slot, InputOperandLayout layout) {
  if (layout == InputOperandLayout::nchw) return describe(slot);
  const Shape& shape = slot.descriptor.shape;
  const auto [n, c, h, w] = ops::picture_axes(layout);
  return {
      {shape[n], shape[c], shape[h], shape[w]}, memory::data_type::f32, memory::format_tag::nhwc};
}

memory::desc plain(const memory::dims& dims) {
  return {dims, memory::data_type::f32, row_major(dims)};
}

memory::desc describe(const Slot& slot) {
  memory::dims dims = to_dims(slot.descriptor.shape);
  if (slot.layout != Layout::plain) return {dims, memory::data_type::f32, format_tag(slot.layout)};
  if (dims.empty()) dims.push_back(1);
  return plain(dims);
}

Error to_error(const dnnl::error& error) {
  const auto kind = error.status == dnnl_out_of_memory   ? ErrorKind::out_of_memory
                    : error.status == dnnl_unimplemented ? ErrorKind::not_supported
                                                         : ErrorKind::operation_error;
  return Error(kind, error.what());
}

}  // namespace polychron::kernels::onednn
