// Between gRPC's messages and the server's.
#pragma once

#include <grpcpp/support/status.h>

#include "core/service.hpp"
#include "inference.pb.h"
#include "protocol/message.hpp"

namespace polychron::server {

/// The status of a refusal: 429 is RESOURCE_EXHAUSTED, 503 UNAVAILABLE, 504 DEADLINE_EXCEEDED.
grpc::Status status_of(const Refusal& refusal);

/// Copies the tensors: a call may end before the device is done with them. Throws Refusal.
InferRequest parse_infer(const inference::ModelInferRequest& message);

/// All outputs are raw_output_contents, as Triton's are.
void encode_answer(InferAnswer&& answer, inference::ModelInferResponse& message);

void fill_metadata(const Service& service, const Model& model,
                   inference::ModelMetadataResponse& message);
void fill_config(const Model& model, inference::ModelConfig& message);
void fill_statistics(const Model& model, inference::ModelStatistics& message);

}  // namespace polychron::server
