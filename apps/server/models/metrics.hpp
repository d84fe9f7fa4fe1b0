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
#include <vector>

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

/// Registers metrics where they are declared: a metric is that line, its use, and its line in
/// docs/serving.md.
class MetricSet {
 public:
  MetricSet(prometheus::Registry& registry, prometheus::Labels labels)
      : registry_(registry), labels_(std::move(labels)) {}
  MetricSet(const MetricSet&) = delete;
  MetricSet& operator=(const MetricSet&) = delete;
  /// Sets the gauges to 0. Counters go on, as they should, if the labels come back.
  void clear_gauges();

 protected:
  prometheus::Family<prometheus::Counter>& counters(const char* name, const char* help) const;
  prometheus::Counter& counter(const char* name, const char* help, prometheus::Labels more = {});
  prometheus::Gauge& gauge(const char* name, const char* help);
  /// A set of the same labels.
  template <class Set>
  std::unique_ptr<Set> another() const {
    return std::make_unique<Set>(registry_, labels_);
  }
  prometheus::Histogram& latency(const char* phase);
  prometheus::Histogram& seconds(const char* name, const char* help);

 private:
  prometheus::Labels with(prometheus::Labels more) const;

  prometheus::Registry& registry_;
  const prometheus::Labels labels_;
  std::vector<prometheus::Gauge*> gauges_;
};

/// What is counted of a language model besides.
struct TextMetrics : MetricSet {
  using MetricSet::MetricSet;

  prometheus::Histogram& first = seconds("polychron_text_first_seconds",
                                         "From a request of text to the first piece of its answer");
  prometheus::Histogram& between =
      seconds("polychron_text_between_seconds", "Between two pieces of a text: mostly two tokens");
  prometheus::Counter& prompt_tokens = counted("prompt");
  prometheus::Counter& tokens = counted("text");
  prometheus::Gauge& waiting = gauge("polychron_text_waiting", "Requests of text that wait");
  prometheus::Gauge& running = gauge("polychron_text_running", "Texts that are being made");

 private:
  prometheus::Counter& counted(const char* of) {
    return counter("polychron_text_tokens_total", "Tokens of whole answers: prompt and text",
                   {{"of", of}});
  }
};

/// A model's counters. They live as long as its name is served, through all its versions and
/// replacements.
struct ModelMetrics : MetricSet {
  using MetricSet::MetricSet;

  prometheus::Histogram& total = latency("total");  ///< from the request's last byte to the result
  prometheus::Histogram& compute = latency("compute");  ///< of the runs that are measured
  prometheus::Histogram& queue = latency("queue");      ///< the rest of the time of those runs
  prometheus::Counter& received = bytes("received");
  prometheus::Counter& sent = bytes("sent");
  prometheus::Gauge& in_flight = gauge("polychron_in_flight", "Requests that wait or run");
  prometheus::Gauge& lanes = gauge("polychron_lanes", "Runs that a model has side by side");
  prometheus::Gauge& lanes_busy = gauge("polychron_lanes_busy", "Lanes that run something now");
  prometheus::Gauge& memory =
      gauge("polychron_memory_bytes", "Bytes of a model's tensors, plans and buffers in flight");
  prometheus::Gauge& shapes = gauge("polychron_shapes", "Graphs of different shapes");
  prometheus::Counter& builds = counter("polychron_builds_total", "Graphs built for new shapes");
  prometheus::Counter& joined =
      counter("polychron_joined_total", "Requests that ran as a part of another one's run");

  Duration success, failure, queued, computed;
  std::atomic<std::uint64_t> last_ms{0};     ///< of the Unix epoch: the last request
  std::atomic<std::uint64_t> unfinished{0};  ///< requests that engines are not done with
  /// Successful runs: fewer than successful requests where requests are joined.
  std::uint64_t runs() const {
    const auto requests = success.count.load(), shared = static_cast<std::uint64_t>(joined.Value());
    return requests - std::min(requests, shared);
  }
  /// Those of a language model. For the thread that loads models.
  TextMetrics& text() {
    if (!text_) text_ = another<TextMetrics>();
    return *text_;
  }

 private:
  prometheus::Counter& bytes(const char* direction) {
    return counter("polychron_bytes_total", "Bytes of tensors by model: received and sent",
                   {{"direction", direction}});
  }
  std::unique_ptr<TextMetrics> text_;  ///< null: it is no language model
};

/// The server's own metrics, and those of its models.
class Metrics : private MetricSet {
  prometheus::Registry registry_;

 public:
  Metrics() : MetricSet(registry_, {}) {}

  prometheus::Gauge& connections =
      gauge("polychron_connections", "Open connections of HTTP and gRPC");
  prometheus::Gauge& body_bytes =
      gauge("polychron_body_bytes", "Bytes that are reserved for bodies of requests");
  prometheus::Counter& log_dropped =
      counter("polychron_log_dropped_total",
              "Lines of the logs that fitted neither the queue nor the disk");

  /// The counters of a model; the same object for the same name.
  std::shared_ptr<ModelMetrics> model(const std::string& name);
  /// A model is not served any more. Requests in flight may still hold its counters.
  void forget(const std::string& name);
  /// One answered inference.
  void answered(const std::string& model, Status status);
  /// One answered HTTP request of any kind.
  void http_answered(Status status);
  /// Requests that engines are not done with, those of replaced models too.
  std::uint64_t unfinished() const;
  /// Prometheus's text form.
  std::string text() const;

 private:
  prometheus::Family<prometheus::Counter>& requests_ = counters(
      "polychron_requests_total", "Inference requests by model and status; 200 is a result");
  prometheus::Family<prometheus::Counter>& responses_ =
      counters("polychron_http_responses_total", "HTTP responses by status");
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<ModelMetrics>> models_;
};

}  // namespace polychron::server
