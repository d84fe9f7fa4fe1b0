// Takes the weights out of a model's bytes before protobuf sees them.
#pragma once

#include <google/protobuf/io/zero_copy_stream.h>

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "polychron/buffer.hpp"

namespace polychron::onnx::detail {

/// A model's bytes in two parts. protobuf would copy each weight into a string that it first fills
/// with zeros; here it is read once, to where it stays.
struct WithoutData {
  std::string message;         ///< a ModelProto; its initializers' raw data has no bytes
  std::map<int, Buffer> data;  ///< by the initializer's place in the main graph
};

/// Reads the `size` bytes of a ModelProto. Nothing if they end early or are no message. What other
/// fields hold is copied as it is, whether right or wrong. Throws Error (out_of_memory).
std::optional<WithoutData> read_without_data(google::protobuf::io::ZeroCopyInputStream& stream,
                                             int size);

}  // namespace polychron::onnx::detail
