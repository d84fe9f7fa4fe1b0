// Reads a model field by field, and its weights apart from the rest.
#pragma once

#include <google/protobuf/io/zero_copy_stream.h>

#include <memory>

#include "onnx/parse.hpp"

namespace polychron::onnx::detail {

/// Reads the `size` bytes of a ModelProto. protobuf parses them one field at a time, except the raw
/// data of the main graph's initializers. protobuf would fill a string with zeros and then copy the
/// data there; this reader reads it once, to its final place. Accepts the same bytes as protobuf,
/// with the same meaning. Besides the model, memory holds a copy of the largest field. False if the
/// bytes are not a model, or end early. Throws Error (out_of_memory), std::bad_alloc.
///
/// `file` is the mapped file that the stream reads, or null. Then large raw data stays there if its
/// elements are aligned.
bool read_model(google::protobuf::io::ZeroCopyInputStream& stream, int size, ParsedModel& model,
                const std::shared_ptr<const DataFile>& file = nullptr);

}  // namespace polychron::onnx::detail
