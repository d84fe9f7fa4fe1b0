#include "onnx/given.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "onnx/problem.hpp"

namespace polychron::onnx::detail {

namespace {

[[noreturn]] void wrong(Side side, std::string_view name, const std::string& why) {
  throw Error(ErrorKind::type_error, std::string(to_string(side)) + " " + quote(name) + " " + why);
}

std::string names_of(const NamedDescriptors& declared) {
  constexpr std::size_t most = 8;
  std::string names;
  for (std::size_t i = 0; i < std::min(declared.size(), most); ++i)
    names += (i == 0 ? "" : ", ") + quote(declared[i].first);
  if (declared.size() > most) names += " and " + std::to_string(declared.size() - most) + " more";
  return names.empty() ? "none" : names;
}

void check_value(Side side, const OperandDescriptor& expected, const Given& given) {
  if (given.why) wrong(side, given.name, std::string(*given.why));
  if (given.descriptor != nullptr && *given.descriptor != expected)
    wrong(side, given.name, "is " + to_string(expected) + ": got " + to_string(*given.descriptor));
  if (given.view && *given.view != expected.data_type && *given.view != DataType::uint8)
    wrong(side, given.name,
          "is " + to_string(expected) + ": got values of " + std::string(to_string(*given.view)) +
              ", expected " + std::string(to_string(expected.data_type)) + " or uint8");
  if (given.bytes && *given.bytes != byte_length(expected))
    wrong(side, given.name,
          "is " + to_string(expected) + ": got " + std::to_string(*given.bytes) +
              " bytes, expected " + std::to_string(byte_length(expected).value()));
}

Given look_at(std::string_view name, const Buffer& buffer) {
  if (buffer.detached()) return {name, {}, {}, "has a buffer that was moved away"};
  return {name, buffer.size(), {}, {}};
}

}  // namespace

std::string_view to_string(Side side) noexcept { return side == Side::input ? "input" : "output"; }

GivenValues GivenInputs::look(std::initializer_list<Input> inputs) {
  GivenValues given;
  for (const auto& input : inputs)
    given.push_back(input.buffer_ ? look_at(input.name_, *input.buffer_)
                                  : Given{input.name_, input.copied_.size(), input.view_, {}});
  return given;
}

NamedBuffers GivenInputs::take(std::initializer_list<Input> inputs) {
  NamedBuffers buffers;
  for (const auto& input : inputs)
    buffers.emplace_back(input.name_, input.buffer_ ? Buffer() : Buffer::copy_of(input.copied_));
  auto buffer = buffers.begin();
  for (const auto& input : inputs) {
    if (input.buffer_) buffer->second = std::move(*input.buffer_);
    ++buffer;
  }
  return buffers;
}

void GivenInputs::give_back(std::initializer_list<Input> inputs, NamedBuffers& buffers) noexcept {
  auto buffer = buffers.begin();
  for (const auto& input : inputs) {
    if (input.buffer_) *input.buffer_ = std::move(buffer->second);
    ++buffer;
  }
}

Given look(const NamedValue& value) {
  auto given = look_at(value.name, value.bytes);
  given.descriptor = &value.descriptor;
  return given;
}

GivenValues look(const NamedBuffers& buffers) {
  GivenValues given;
  for (const auto& [name, buffer] : buffers) given.push_back(look_at(name, buffer));
  return given;
}

GivenValues look(const NamedTensors& tensors) {
  GivenValues given;
  for (const auto& [name, tensor] : tensors) {
    given.push_back({name, {}, {}, {}});
    if (!tensor) given.back().why = "has a tensor that was default-constructed";
  }
  return given;
}

GivenValues look(const std::vector<std::string>& names) {
  GivenValues given;
  for (const auto& name : names) given.push_back({name, {}, {}, {}});
  return given;
}

std::optional<std::size_t> find(const NamedDescriptors& declared, std::string_view name) noexcept {
  const auto found = std::ranges::find(declared, name, &NamedDescriptors::value_type::first);
  if (found == declared.end()) return std::nullopt;
  return static_cast<std::size_t>(found - declared.begin());
}

void check_given(Side side, const NamedDescriptors& declared, const GivenValues& given) {
  boost::container::small_vector<bool, 16> seen(declared.size(), false);
  for (const auto& value : given) {
    const auto place = find(declared, value.name);
    if (!place)
      wrong(side, value.name,
            "is unknown: the " + std::string(to_string(side)) + "s are " + names_of(declared));
    if (seen[*place]) wrong(side, value.name, "is given twice");
    seen[*place] = true;
    check_value(side, declared[*place].second, value);
  }
}

void check_complete(Side side, const NamedDescriptors& declared, const GivenValues& given) {
  // Each given value is declared, and no two are the same.
  if (given.size() == declared.size()) return;
  for (const auto& [name, descriptor] : declared)
    if (std::ranges::find(given, name, &Given::name) == given.end())
      wrong(side, name, "is not given: expected " + to_string(descriptor));
}

}  // namespace polychron::onnx::detail
