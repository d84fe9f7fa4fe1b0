// The inputs and outputs of a model, as the protocol describes them, and what a request must have.
#pragma once

#include <optional>
#include <polychron/onnx.hpp>
#include <string>
#include <vector>

#include "models/config.hpp"
#include "protocol/message.hpp"

namespace polychron::server {

struct SignatureTensor {
  std::string name;
  WireType type = WireType::fp32;
  std::vector<onnx::Dimension> dimensions;
  bool known_rank = true;  ///< outputs may leave it open
};

struct Signature {
  std::vector<SignatureTensor> inputs;
  std::vector<SignatureTensor> outputs;
};

/// Free dimensions that the configuration binds are fixed. Throws Error (not_supported): a type
/// that the protocol does not have.
Signature signature_of(const onnx::Summary& summary, const ModelConfig& config);

/// Checks the request against the signature, and returns the bindings of its shapes. Throws Refusal
/// that names the tensor, what was expected and what came.
Bindings check_request(const InferRequest& request, const Signature& signature,
                       const ModelConfig& config, const std::string& model);

/// The wanted ones of `outputs` (all of the signature's, if none is named) in their order. Throws
/// Refusal (internal) where an engine left one out, or gave it another type or too few bytes.
std::vector<WireTensor> checked_outputs(std::vector<WireTensor>&& outputs,
                                        const std::vector<std::string>& wanted,
                                        const Signature& signature, const std::string& model);

/// "FP32 [-1, 3]".
std::string describe(const SignatureTensor& tensor);

}  // namespace polychron::server
