// One version of a model that serves: admits requests to its engine, and sees to their outcomes.
//
// Invariants: every accepted request gets exactly one outcome; at most `in_flight` are accepted.
// Its last handle, which may be that of the last request, frees everything.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "models/engine.hpp"

namespace polychron::server {

using Outcome = Refusable<InferAnswer>;

/// What a transport adds to a request.
struct CallOptions {
  std::string trace;  ///< W3C traceparent, or empty; in errors and recordings
  Cancellation cancellation{};
};

class Model : public std::enable_shared_from_this<Model> {
 public:
  /// What its contexts use now.
  struct Usage {
    std::uint64_t bytes = 0;
    std::size_t lanes_busy = 0;
  };

  /// Loads the model: `makers` has those made of code. Blocks. Throws std::exception.
  static std::shared_ptr<Model> load(EngineOrigin origin, std::uint64_t version,
                                     const EngineHost& host, const EngineMakers& makers);

  /// Runs the request. The future has the answer or a refusal; it never rejects. It resolves at the
  /// request's timeout at the latest. Callbacks run where the runtime's callbacks run, or at once.
  Future<Outcome> infer(InferRequest&& request, const CallOptions& options);

  /// Throws Refusal (too_many) if a request would find the queue full, and counts it. For
  /// transports that know the model before they have read the request.
  void refuse_if_full();

  const std::string& name() const { return origin_.name; }
  std::uint64_t version() const { return version_; }
  std::chrono::system_clock::time_point loaded() const { return loaded_; }
  const Signature& signature() const { return engine_->signature(); }
  const ModelConfig& config() const { return origin_.config; }
  const std::shared_ptr<ModelMetrics>& metrics() const { return host_.metrics; }
  const Engine& engine() const { return *engine_; }
  Usage usage() const;
  std::uint64_t in_flight() const { return in_flight_.load(std::memory_order_relaxed); }
  /// The usual time that a request takes of a lane.
  std::chrono::nanoseconds usual_time() const {
    return std::chrono::nanoseconds(usual_ns_.load(std::memory_order_relaxed));
  }

 private:
  struct Call;
  Model(EngineOrigin origin, std::uint64_t version, EngineHost host,
        std::shared_ptr<Engine> engine);
  Refusal full(std::uint64_t in_flight) const;
  /// Returns the number of requests ahead.
  std::uint64_t admit(const InferRequest& request, std::chrono::nanoseconds timeout);
  void bound(const std::shared_ptr<Call>& call, std::chrono::nanoseconds timeout);
  void start(const std::shared_ptr<Call>& call, EngineRequest&& request);
  void take(const std::shared_ptr<Call>& call, Result<EngineOutcome>&& outcome);
  void note_time(const Call& call, std::chrono::nanoseconds computed);
  void settle(const std::shared_ptr<Call>& call, Outcome&& outcome);
  int retry_after_s() const;

  const EngineOrigin origin_;
  const std::uint64_t version_;
  const std::chrono::system_clock::time_point loaded_ = std::chrono::system_clock::now();
  const EngineHost host_;
  const std::shared_ptr<Engine> engine_;
  std::atomic<std::uint64_t> in_flight_{0};
  std::atomic<std::int64_t> usual_ns_{0};
};

}  // namespace polychron::server
