// What computes a model's answers: the graphs of an ONNX model, or code. A program that embeds the
// server adds models made of code by implementing Engine: docs/serving.md has the steps.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <polychron/polychron.hpp>
#include <string>
#include <vector>

#include "models/config.hpp"
#include "models/metrics.hpp"
#include "models/signature.hpp"
#include "protocol/message.hpp"

namespace polychron::server {

/// A request that was checked against the signature and admitted.
struct EngineRequest {
  std::string label;                 ///< names the request in errors and recordings
  std::vector<WireTensor> inputs;    ///< all of the signature's, in any order
  std::vector<std::string> outputs;  ///< the wanted ones, each once; empty: all
  Bindings bindings;                 ///< the values of free dimensions
  std::optional<std::chrono::steady_clock::time_point> deadline;
  /// It need not begin after this: its answer would most likely come after the deadline.
  std::optional<std::chrono::steady_clock::time_point> begin_by{};
  Cancellation cancellation;               ///< by a client that leaves, and at the deadline
  std::optional<Generation> generation{};  ///< in place of inputs, of a language model alone
  std::optional<Sentences> sentences{};    ///< in place of inputs, of a sentence model alone
};

struct EngineAnswer {
  std::vector<WireTensor> outputs;  ///< at least the wanted ones
  /// The time of the computation alone, for the statistics; 0: not measured.
  std::chrono::nanoseconds computed{0};
  text::Generated generated{};  ///< of a Generation, in place of outputs
  Vectors vectors{};            ///< of Sentences, in place of outputs
};

class SentenceModel;

using EngineOutcome = Refusable<EngineAnswer>;

/// Graphs of different shapes.
struct GraphCounts {
  std::size_t kept = 0;      ///< with those being built, and refusals
  std::uint64_t builds = 0;  ///< since the model was loaded
};

/// One version of a model, loaded. The server sees to admission, timeouts, metrics, and clients
/// that leave: a request's client may have its answer (504) before infer() is done with it.
///
/// Thread-safety: the server calls every method from any thread at any time, also at once.
/// The end: the destructor runs when no request is pending, on a thread of the server that must not
/// wait long. The server's own end waits until each future of infer() is resolved.
class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  virtual const Signature& signature() const = 0;
  /// Must not block. The future resolves with the outputs, or with a refusal that names the tensor;
  /// an Error that it rejects with, or that this call throws, becomes status 500, or 503 where it
  /// may help to try again. Resolve it on EngineHost::loop, or by the library.
  virtual Future<EngineOutcome> infer(EngineRequest&& request) = 0;
  /// Contexts that it computes on: the server shows their memory and lanes. If one is lost, the
  /// model is loaded again.
  virtual std::vector<Context> contexts() const = 0;
  /// Its graphs, if it keeps count.
  virtual GraphCounts graphs() const { return {}; }
  /// What understands a Generation; null: this is no language model.
  virtual const text::Model* language_model() const { return nullptr; }
  /// What makes Sentences of texts; null: this is no sentence model.
  virtual const SentenceModel* sentence_model() const { return nullptr; }
  /// Why it is none, although it has a tokenizer.
  virtual std::string why_no_sentences() const { return {}; }
  /// As clients see it in the model's metadata.
  virtual std::string platform() const { return "code"; }
};

/// What an engine is made from.
struct EngineOrigin {
  std::string name;            ///< the model's
  std::filesystem::path file;  ///< model.onnx, a file of GGUF; of code its folder
  ModelConfig config;          ///< with a label
};

/// Where an engine lives: the server's runtime, threads and counters. They outlive it.
struct EngineHost {
  Runtime& runtime;
  boost::asio::any_io_executor loop;     ///< connections and timers: must not be blocked
  boost::asio::any_io_executor builder;  ///< for builds of graphs, one at a time
  std::shared_ptr<ModelMetrics> metrics;
};

/// Loads a model made of code, on a thread that may wait. Throws Error that names what is wrong.
using MakeEngine =
    std::function<std::shared_ptr<Engine>(const EngineOrigin& origin, const EngineHost& host)>;

/// By the name that "code" in NAME/config.json has.
using EngineMakers = std::map<std::string, MakeEngine>;

}  // namespace polychron::server
