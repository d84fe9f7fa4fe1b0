#include "core/metrics.hpp"

#include <prometheus/text_serializer.h>

namespace polychron::server {

namespace {

const prometheus::Histogram::BucketBoundaries latencies{
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
    0.05,   0.1,     0.25,   0.5,   1,      2.5,   5,    10};

auto& counters(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

auto& gauges(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
}

std::string number(Status status) { return std::to_string(static_cast<int>(status)); }

}  // namespace

Metrics::Metrics()
    : requests_(counters(registry_, "polychron_requests_total",
                         "Inference requests by model and status; 200 is a result")),
      seconds_(prometheus::BuildHistogram()
                   .Name("polychron_request_seconds")
                   .Help("Latency by phase: total of every request; queue and compute of every "
                         "16th run")
                   .Register(registry_)),
      bytes_(counters(registry_, "polychron_bytes_total",
                      "Bytes of tensors by model: received and sent")),
      gauges_in_flight_(gauges(registry_, "polychron_in_flight", "Requests that wait or run")),
      gauges_lanes_(gauges(registry_, "polychron_lanes", "Runs that a model has side by side")),
      gauges_busy_(gauges(registry_, "polychron_lanes_busy", "Lanes that run something now")),
      gauges_memory_(gauges(registry_, "polychron_memory_bytes",
                            "Bytes of a model's tensors, plans and buffers in flight")),
      gauges_shapes_(gauges(registry_, "polychron_shapes", "Graphs of different shapes")),
      builds_(counters(registry_, "polychron_builds_total", "Graphs built for new shapes")),
      joined_(counters(registry_, "polychron_joined_total",
                       "Requests that ran as a part of another one's run")),
      http_(counters(registry_, "polychron_http_responses_total", "HTTP responses by status")) {
  connections_ = &gauges(registry_, "polychron_connections", "Open HTTP connections").Add({});
  body_bytes_ =
      &gauges(registry_, "polychron_body_bytes", "Bytes that are reserved for bodies of requests")
           .Add({});
  log_dropped_ = &counters(registry_, "polychron_log_dropped_total",
                           "Lines of the logs that fitted neither the queue nor the disk")
                      .Add({});
}

std::shared_ptr<ModelMetrics> Metrics::model(const std::string& name) {
  const std::lock_guard lock(mutex_);
  auto& slot = models_[name];
  if (slot) return slot;
  slot = std::make_shared<ModelMetrics>();
  const auto phase = [&](const char* which) {
    return &seconds_.Add({{"model", name}, {"phase", which}}, latencies);
  };
  slot->total = phase("total");
  slot->compute = phase("compute");
  slot->queue = phase("queue");
  slot->received = &bytes_.Add({{"model", name}, {"direction", "received"}});
  slot->sent = &bytes_.Add({{"model", name}, {"direction", "sent"}});
  slot->in_flight = &gauges_in_flight_.Add({{"model", name}});
  slot->lanes = &gauges_lanes_.Add({{"model", name}});
  slot->lanes_busy = &gauges_busy_.Add({{"model", name}});
  slot->memory = &gauges_memory_.Add({{"model", name}});
  slot->shapes = &gauges_shapes_.Add({{"model", name}});
  slot->builds = &builds_.Add({{"model", name}});
  slot->joined = &joined_.Add({{"model", name}});
  return slot;
}

void Metrics::forget(const std::string& name) {
  // The numbers of a model that comes back go on, as counters should. Only its gauges are set to
  // nothing: requests in flight may still hold the objects.
  const std::lock_guard lock(mutex_);
  const auto found = models_.find(name);
  if (found == models_.end()) return;
  for (auto* gauge : {found->second->lanes, found->second->lanes_busy, found->second->memory,
                      found->second->shapes, found->second->in_flight})
    gauge->Set(0);
}

void Metrics::answered(const std::string& model, Status status) {
  const std::lock_guard lock(mutex_);
  auto& counter = outcomes_[{model, status}];
  if (!counter) counter = &requests_.Add({{"model", model}, {"status", number(status)}});
  counter->Increment();
}

void Metrics::http_answered(Status status) { http_.Add({{"status", number(status)}}).Increment(); }

std::uint64_t Metrics::held() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t all = 0;
  for (const auto& [name, model] : models_) all += model->held;
  return all;
}

std::string Metrics::text() const {
  return prometheus::TextSerializer().Serialize(registry_.Collect());
}

}  // namespace polychron::server
