// An ONNX model with a tokenizer beside it: answers texts with vectors, and tensors as before.
//
// Invariants: a request with many texts has one run under way, so that others run in between.
#pragma once

#include <memory>

#include "models/engine.hpp"
#include "models/sentence_model.hpp"

namespace polychron::server {

/// True if the model's file has a tokenizer beside it.
bool has_tokenizer(const EngineOrigin& origin);

/// The model's engine, with sentences where tokenizer.json is beside its file.
std::shared_ptr<Engine> with_sentences(std::shared_ptr<Engine> engine, const EngineOrigin& origin);

}  // namespace polychron::server
