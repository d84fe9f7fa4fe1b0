// Writes ONNX models field by field: the programs with this file need no protobuf.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace text_tests {

/// A message of protobuf.
class Message {
 public:
  Message& number(std::uint32_t field, std::uint64_t value) {
    return varint(field << 3U).varint(value);
  }
  Message& bytes(std::uint32_t field, std::string_view value) {
    varint(field << 3U | 2U).varint(value.size());
    data_ += value;
    return *this;
  }
  Message& message(std::uint32_t field, const Message& value) { return bytes(field, value.data_); }
  Message& real(std::uint32_t field, float value) {
    varint(field << 3U | 5U);
    data_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  const std::string& data() const { return data_; }

 private:
  Message& varint(std::uint64_t value) {
    for (; value > 127; value >>= 7U) data_ += static_cast<char>((value & 127U) | 128U);
    data_ += static_cast<char>(value);
    return *this;
  }
  std::string data_;
};

/// ONNX's numbers of types.
enum Type : std::uint32_t { real32 = 1, int32 = 6, int64 = 7, bool8 = 9 };

inline Message integer(const char* name, std::int64_t value) {
  return Message().bytes(1, name).number(3, static_cast<std::uint64_t>(value)).number(20, 2);
}
inline Message real_number(const char* name, float value) {
  return Message().bytes(1, name).real(2, value).number(20, 1);
}

using Names = std::vector<std::string>;

/// A graph under construction: each call adds a node, and gives the name of its first output.
class GraphWriter {
 public:
  std::string node(const std::string& op, const Names& inputs,
                   const std::vector<Message>& attributes = {}, Names outputs = {}) {
    if (outputs.empty()) outputs = {"t" + std::to_string(++count_)};
    Message node;
    for (const auto& name : inputs) node.bytes(1, name);
    for (const auto& name : outputs) node.bytes(2, name);
    const auto colon = op.find(':');
    node.bytes(3, outputs.front() + "_node").bytes(4, op.substr(colon + 1));
    for (const auto& attribute : attributes) node.message(5, attribute);
    if (colon != std::string::npos) node.bytes(7, op.substr(0, colon));
    graph_.message(1, node);
    return outputs.front();
  }
  template <class T>
  std::string constant(Type type, const std::vector<std::uint64_t>& shape,
                       const std::vector<T>& values) {
    Message tensor;
    for (const auto size : shape) tensor.number(1, size);
    auto name = "c" + std::to_string(++count_);
    tensor.number(2, type).bytes(8, name);
    tensor.bytes(9, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
    graph_.message(5, tensor);
    return name;
  }
  std::string integers(const std::vector<std::int64_t>& values) {
    return constant(int64, {values.size()}, values);
  }
  std::string scalar(std::int64_t value) { return constant(int64, {}, std::vector{value}); }
  std::string input(const std::string& name, Type type, const Names& dimensions) {
    graph_.message(11, value(name, type, dimensions));
    return name;
  }
  void output(const std::string& name, const Names& dimensions) {
    graph_.message(12, value(name, real32, dimensions));
  }
  std::string bytes() {
    graph_.bytes(2, "decoder");
    Message model;
    model.number(1, 8).bytes(2, "tests").message(7, graph_);
    model.message(8, Message().number(2, 14));
    model.message(8, Message().bytes(1, "com.microsoft").number(2, 1));
    return model.data();
  }

 private:
  /// Digits are a size, other names are free.
  static Message value(const std::string& name, Type type, const Names& dimensions) {
    Message shape;
    for (const auto& each : dimensions) {
      const bool is_size = each.find_first_not_of("0123456789") == std::string::npos;
      shape.message(1, is_size ? Message().number(1, std::stoul(each)) : Message().bytes(2, each));
    }
    const auto tensor = Message().number(1, type).message(2, shape);
    return Message().bytes(1, name).message(2, Message().message(1, tensor));
  }

  Message graph_;
  int count_ = 0;
};

}  // namespace text_tests
