// One version of a model that serves: a context of its own, and a graph for each shape.
//
// Owns: its context, so that its limits, lanes and losses are its own.
// Invariants: every accepted request gets exactly one outcome; at most `in_flight` are accepted.
// Its last handle, which may be that of the last request, frees everything.
#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <polychron/polychron.hpp>
#include <polychron/session.hpp>
#include <string>
#include <variant>

#include "core/config.hpp"
#include "core/metrics.hpp"
#include "core/shapes.hpp"
#include "core/signature.hpp"
#include "protocol/message.hpp"

namespace polychron::server {

using Outcome = std::variant<InferAnswer, Refusal>;

/// What a transport adds to a request.
struct CallOptions {
  std::string trace;  ///< W3C traceparent, or empty; in errors and recordings
  Cancellation cancellation{};
};

class Model : public std::enable_shared_from_this<Model> {
 public:
  struct Origin {
    std::string name;
    std::uint64_t version = 1;
    std::filesystem::path file;
  };
  /// Where a model lives: the server's runtime, threads and counters.
  struct Host {
    Runtime& runtime;
    boost::asio::any_io_executor timers;
    boost::asio::any_io_executor builder;
    std::shared_ptr<ModelMetrics> metrics;
  };

  /// Loads the file and builds the shapes that are known. Blocks. Throws Error.
  static std::shared_ptr<Model> load(const Origin& origin, const ModelConfig& config,
                                     const Host& host);

  /// Runs the request. The future has the answer or a refusal; it never rejects. It resolves at the
  /// request's timeout at the latest. Callbacks run where the runtime's callbacks run, or at once.
  Future<Outcome> infer(InferRequest&& request, const CallOptions& options);

  /// Throws Refusal (too_many) if a request would find the queue full, and counts it. For
  /// transports that know the model before they have read the request.
  void refuse_if_full();

  const std::string& name() const { return origin_.name; }
  std::uint64_t version() const { return origin_.version; }
  const Signature& signature() const { return signature_; }
  const ModelConfig& config() const { return config_; }
  const onnx::Summary& summary() const { return model_.summary(); }
  const std::shared_ptr<ModelMetrics>& metrics() const { return host_.metrics; }
  Context context() const { return context_; }
  Shapes::Counts shapes() const { return shapes_->counts(); }
  std::uint64_t in_flight() const { return in_flight_.load(std::memory_order_relaxed); }
  /// The usual time of a run, queue included.
  std::chrono::nanoseconds usual_time() const {
    return std::chrono::nanoseconds(usual_ns_.load(std::memory_order_relaxed));
  }

 private:
  struct Call;
  Model(Origin origin, ModelConfig config, Host host, onnx::Model model, Context context);
  void warm();
  Refusal full(std::uint64_t in_flight) const;
  void admit(const InferRequest& request, std::chrono::nanoseconds timeout);
  void run(const std::shared_ptr<Call>& call, const onnx::Session& session);
  void finish(const std::shared_ptr<Call>& call, Result<NamedBuffers> result,
              std::chrono::nanoseconds computed);
  void settle(const std::shared_ptr<Call>& call, Outcome&& outcome);
  int retry_after_s() const;

  const Origin origin_;
  const ModelConfig config_;
  const Host host_;
  const onnx::Model model_;
  const Signature signature_;
  Context context_;
  std::shared_ptr<Shapes> shapes_;
  std::atomic<std::uint64_t> in_flight_{0};
  std::atomic<std::uint64_t> runs_{0};
  std::atomic<std::int64_t> usual_ns_{0};
};

}  // namespace polychron::server
