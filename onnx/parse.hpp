// From bytes to ONNX's messages.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "onnx/proto.hpp"

namespace polychron::onnx::detail {

/// Parses a model, or a tensor. Throws Error (bad_data). Memory stays within a small multiple of
/// the input's size; protobuf bounds the depth of nesting and logs nothing.
std::unique_ptr<proto::ModelProto> parse_file(const std::filesystem::path& path);
std::unique_ptr<proto::TensorProto> parse_tensor_file(const std::filesystem::path& path);
std::unique_ptr<proto::ModelProto> parse_bytes(std::span<const std::byte> bytes);

/// Why nothing is read there: there is nothing, or a directory, a device or a pipe, whose other end
/// opening would wait for. Empty for a regular file.
std::string reason_not_a_file(const std::filesystem::path& path);

}  // namespace polychron::onnx::detail
