// What is counted, in Prometheus's terms, and for the protocol's statistics.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "protocol/refusal.hpp"

namespace polychron::server {

/// A sum of durations and their number.
struct Duration {
  std::atomic<std::uint64_t> count{0};
  std::atomic<std::uint64_t> ns{0};
  void add(std::chrono::nanoseconds time) {
    count.fetch_add(1, std::memory_order_relaxed);
    ns.fetch_add(static_cast<std::uint64_t>(time.count()), std::memory_order_relaxed);
  }
};

/// A model's counters. They live as long as its name is served, through all its versions and
/// replacements.
struct ModelMetrics {
  prometheus::Histogram* total = nullptr;    ///< from the last byte of the request to the result
  prometheus::Histogram* compute = nullptr;  ///< of the runs that are measured
  prometheus::Histogram* queue = nullptr;    ///< the rest of the time of those runs
  prometheus::Counter* received = nullptr;
  prometheus::Counter* sent = nullptr;
  prometheus::Gauge* in_flight = nullptr;
  prometheus::Gauge* lanes = nullptr;
  prometheus::Gauge* lanes_busy = nullptr;
  prometheus::Gauge* memory = nullptr;
  prometheus::Gauge* shapes = nullptr;
  prometheus::Counter* builds = nullptr;
  prometheus::Counter* joined = nullptr;  ///< requests that ran as a part of another's run

  Duration success, failure, queued, computed;
  std::atomic<std::uint64_t> last_ms{0};  ///< of the Unix epoch: the last request
  std::atomic<std::uint64_t> held{0};     ///< requests that engines are not done with
  /// Successful runs: fewer than successful requests where requests are joined.
  std::uint64_t runs() const {
    const auto requests = success.count.load(),
               shared = static_cast<std::uint64_t>(joined->Value());
    return requests - std::min(requests, shared);
  }
};

class Metrics {
 public:
  Metrics();
  /// The counters of a model; the same object for the same name.
  std::shared_ptr<ModelMetrics> model(const std::string& name);
  /// Removes a model's lines.
  void forget(const std::string& name);
  /// One answered inference.
  void answered(const std::string& model, Status status);
  /// One answered HTTP request of any kind.
  void http_answered(Status status);

  prometheus::Gauge& connections() { return *connections_; }
  prometheus::Gauge& body_bytes() { return *body_bytes_; }
  prometheus::Counter& log_dropped() { return *log_dropped_; }
  /// Requests that engines are not done with, those of replaced models too.
  std::uint64_t held() const;
  /// Prometheus's text form.
  std::string text() const;

 private:
  prometheus::Registry registry_;
  prometheus::Family<prometheus::Counter>& requests_;
  prometheus::Family<prometheus::Histogram>& seconds_;
  prometheus::Family<prometheus::Counter>& bytes_;
  prometheus::Family<prometheus::Gauge>& gauges_in_flight_;
  prometheus::Family<prometheus::Gauge>& gauges_lanes_;
  prometheus::Family<prometheus::Gauge>& gauges_busy_;
  prometheus::Family<prometheus::Gauge>& gauges_memory_;
  prometheus::Family<prometheus::Gauge>& gauges_shapes_;
  prometheus::Family<prometheus::Counter>& builds_;
  prometheus::Family<prometheus::Counter>& joined_;
  prometheus::Family<prometheus::Counter>& http_;
  prometheus::Gauge* connections_ = nullptr;
  prometheus::Gauge* body_bytes_ = nullptr;
  prometheus::Counter* log_dropped_ = nullptr;

  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<ModelMetrics>> models_;
  std::map<std::pair<std::string, Status>, prometheus::Counter*> outcomes_;
};

}  // namespace polychron::server
