// Reads a model field by field, and its weights apart from the rest.
#pragma once

#include <google/protobuf/io/zero_copy_stream.h>

#include "onnx/parse.hpp"

namespace polychron::onnx::detail {

/// The `size` bytes of a ModelProto. protobuf parses them a field at a time, but for the raw data
/// of the main graph's initializers: for each it would fill a string with zeros and copy it there;
/// here it is read once, to where it stays. Takes what protobuf takes of the whole, with the same
/// meaning. Beside the model, memory holds a copy of the largest field. False if that is no model,
/// or ends early. Throws Error (out_of_memory), std::bad_alloc.
bool read_model(google::protobuf::io::ZeroCopyInputStream& stream, int size, ParsedModel& model);

}  // namespace polychron::onnx::detail
