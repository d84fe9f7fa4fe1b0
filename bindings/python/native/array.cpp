#include "array.hpp"

#include <array>
#include <atomic>

#include "errors.hpp"

namespace binding {

using namespace polychron;

namespace {

struct Element {
  std::string_view codes;  ///< of the buffer protocol
  Py_ssize_t size;
  std::string_view name;
  std::optional<DataType> type;
};

constexpr std::array elements{Element{"f", 4, "float32", DataType::float32},
                              Element{"e", 2, "float16", DataType::float16},
                              Element{"d", 8, "float64", std::nullopt},
                              Element{"bhilq", 1, "int8", DataType::int8},
                              Element{"bhilq", 2, "int16", std::nullopt},
                              Element{"bhilq", 4, "int32", DataType::int32},
                              Element{"bhilq", 8, "int64", DataType::int64},
                              Element{"?", 1, "bool", DataType::uint8},
                              Element{"BHILQ", 1, "uint8", DataType::uint8},
                              Element{"BHILQ", 2, "uint16", std::nullopt},
                              Element{"BHILQ", 4, "uint32", DataType::uint32},
                              Element{"BHILQ", 8, "uint64", DataType::uint64}};

/// numpy's own objects, imported with the first array. Never freed.
struct Numpy {
  nb::object array, boolean;
  std::array<nb::object, all_data_types.size()> types;
};

const Numpy& numpy() {
  static const auto* const own = [] {
    const auto module = nb::module_::import_("numpy");
    auto* made = new Numpy{module.attr("ndarray"), module.attr("dtype")("bool"), {}};
    for (const auto type : all_data_types) {
      const auto name = is_packed(type) ? std::string_view("uint8") : to_string(type);
      made->types[static_cast<std::size_t>(type)] =
          module.attr("dtype")(nb::str(name.data(), name.size()));
    }
    return made;
  }();
  return *own;
}

/// For tests: the bytes of inputs that were copied, instead of lent.
std::atomic<std::uint64_t> copied_bytes{0};

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  auto& memory = *nb::inst_ptr<Memory>(self);
  const auto bytes = memory.bytes();
  const int done =
      PyBuffer_FillInfo(view, self, bytes.data(), static_cast<Py_ssize_t>(bytes.size()), 0, flags);
  if (done == 0) memory.take();
  return done;
}

void release_buffer(PyObject* self, Py_buffer* /*view*/) { nb::inst_ptr<Memory>(self)->drop(); }

}  // namespace

View::View(nb::handle object) : view_(std::make_unique<Py_buffer>()) {
  if (PyObject_GetBuffer(object.ptr(), view_.get(), PyBUF_FULL_RO) != 0) {
    PyErr_Clear();
    throw Unusual{};
  }
  std::string_view format = view_->format == nullptr ? "B" : view_->format;
  const bool foreign = format.starts_with('>') || format.starts_with('!');
  if (!format.empty() && std::string_view("<>=@!").find(format[0]) != std::string_view::npos)
    format.remove_prefix(1);
  for (const auto& element : elements)
    if (format.size() == 1 && element.size == view_->itemsize &&
        element.codes.find(format[0]) != std::string_view::npos) {
      type_ = element.type;
      name_ = element.name;
      break;
    }
  if (name_.empty()) name_ = "format '" + std::string(format) + "'";
  if ((foreign && view_->itemsize > 1) || PyBuffer_IsContiguous(view_.get(), 'C') == 0) {
    PyBuffer_Release(view_.get());
    throw Unusual{};
  }
}

View::~View() {
  if (view_) PyBuffer_Release(view_.get());
}

Shape View::shape() const {
  Shape result;
  for (int i = 0; i < view_->ndim; ++i)
    result.push_back(static_cast<std::uint32_t>(
        std::min<Py_ssize_t>(view_->shape[i], std::numeric_limits<std::uint32_t>::max())));
  return result;
}

std::string View::text() const { return name_ + " " + to_string(shape()); }

std::span<const std::byte> View::bytes() const noexcept {
  return {static_cast<const std::byte*>(view_->buf), static_cast<std::size_t>(view_->len)};
}

void View::check(const OperandDescriptor& expected, const std::string& what) const {
  const auto size = byte_length(expected);
  const bool fits = size == bytes().size();
  const bool right =
      is_packed(expected.data_type)
          ? fits && type_ == DataType::uint8 && view_->ndim == 1
          : fits && type_ == expected.data_type && (view_->ndim == 1 || shape() == expected.shape);
  if (!right) refuse(what + ": expected " + to_string(expected) + ", got " + text());
}

Buffer View::copied() const {
  copied_bytes += bytes().size();
  if (bytes().size() <= page) return Buffer::copy_of(bytes());
  return without_gil([this] { return Buffer::copy_of(bytes()); });
}

Buffer View::lent() && {
  const auto own = bytes();
  if (reinterpret_cast<std::uintptr_t>(own.data()) % static_cast<std::size_t>(view_->itemsize) !=
          0 ||
      own.empty())
    return copied();
  // The device only reads inputs.
  auto* const data = const_cast<std::byte*>(own.data());
  auto* const kept = view_.get();
  auto buffer = Buffer::adopt(data, own.size(), [kept](std::byte*, std::size_t) { let_go(kept); });
  view_.release();
  return buffer;
}

nb::object array_of(Buffer bytes, const OperandDescriptor& descriptor, bool flags) {
  const auto& own = numpy();
  const bool packed = is_packed(descriptor.data_type);
  const std::size_t rank = packed ? 1 : descriptor.shape.size();
  auto shape = nb::steal<nb::tuple>(PyTuple_New(static_cast<Py_ssize_t>(rank)));
  for (std::size_t i = 0; i < rank; ++i)
    PyTuple_SetItem(shape.ptr(), static_cast<Py_ssize_t>(i),
                    PyLong_FromSize_t(packed ? bytes.size() : descriptor.shape[i]));
  const auto& type =
      flags ? own.boolean : own.types[static_cast<std::size_t>(descriptor.data_type)];
  return own.array(shape, type,
                   nb::cast(new Memory(std::move(bytes)), nb::rv_policy::take_ownership));
}

bool Memory::release() {
  if (users_ != 0) return false;
  bytes_ = {};
  lease_.return_now();
  return true;
}

void bind_arrays(nb::module_& module) {
  static PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                                {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
                                {0, nullptr}};
  module.def("copied_bytes", [] { return copied_bytes.load(); });
  nb::class_<Memory>(module, "Memory", nb::type_slots(slots))
      .def("revoked", &Memory::revoked)
      .def("release", &Memory::release);
}

}  // namespace binding
