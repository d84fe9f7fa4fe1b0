// From bytes to ONNX's messages.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include "onnx/file_range.hpp"
#include "onnx/proto.hpp"
#include "polychron/buffer.hpp"

namespace polychron::onnx::detail {

/// Raw data of tensors, kept apart from their messages.
using RawData = std::unordered_map<const proto::TensorProto*, Buffer>;

/// Where a mapped model's file has raw data of tensors.
using RawRanges = std::unordered_map<const proto::TensorProto*, std::shared_ptr<const FileRange>>;

/// A model, and the raw data of its main graph's initializers.
struct ParsedModel {
  std::unique_ptr<proto::ModelProto> message;
  RawData data;
  RawRanges ranges{};
};

/// Parses a model, or a tensor. Throws Error (bad_data). Memory stays within a small multiple of
/// the input's size; protobuf bounds the depth of nesting and logs nothing.
ParsedModel parse_file(const std::filesystem::path& path);
std::unique_ptr<proto::TensorProto> parse_tensor_file(const std::filesystem::path& path);
ParsedModel parse_bytes(std::span<const std::byte> bytes);

/// The reason why `path` is not read: it is missing, or a directory, a device or a pipe (opening a
/// pipe would wait for its other end). Empty for a regular file.
std::string reason_not_a_file(const std::filesystem::path& path);

}  // namespace polychron::onnx::detail
