// Between gRPC's messages and the server's.
#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <span>
#include <string>

#include "core/service.hpp"
#include "inference.pb.h"
#include "protocol/message.hpp"

namespace polychron::server {

/// gRPC's number for a refusal: 429 is RESOURCE_EXHAUSTED, 503 UNAVAILABLE, 504 DEADLINE_EXCEEDED.
int grpc_status_of(Status status);

/// The memory that a message of this type takes at most once `bytes` are parsed. Throws Refusal.
std::uint64_t parsed_bytes(const google::protobuf::Descriptor& type,
                           std::span<const std::byte> bytes);

/// Copies the tensors: a call may end before the device is done with them. Throws Refusal.
InferRequest parse_infer(const inference::ModelInferRequest& message);

/// Appends a ModelInferResponse. All outputs are raw_output_contents, as Triton's are.
void append_answer(std::string& text, InferAnswer&& answer);

void fill_metadata(const Service& service, const Model& model,
                   inference::ModelMetadataResponse& message);
void fill_config(const Model& model, inference::ModelConfig& message);
void fill_statistics(const Model& model, inference::ModelStatistics& message);

}  // namespace polychron::server
