#include "models/metrics.hpp"

#include <prometheus/text_serializer.h>

namespace polychron::server {

namespace {

std::string number(Status status) { return std::to_string(static_cast<int>(status)); }

}  // namespace

prometheus::Labels MetricSet::with(prometheus::Labels more) const {
  more.insert(labels_.begin(), labels_.end());
  return more;
}

prometheus::Family<prometheus::Counter>& MetricSet::counters(const char* name,
                                                             const char* help) const {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry_);
}

prometheus::Counter& MetricSet::counter(const char* name, const char* help,
                                        prometheus::Labels more) {
  return counters(name, help).Add(with(std::move(more)));
}

prometheus::Gauge& MetricSet::gauge(const char* name, const char* help) {
  auto& made = prometheus::BuildGauge().Name(name).Help(help).Register(registry_).Add(with({}));
  gauges_.push_back(&made);
  return made;
}

prometheus::Histogram& MetricSet::latency(const char* phase) {
  return prometheus::BuildHistogram()
      .Name("polychron_request_seconds")
      .Help("Latency by phase: total of every request; queue and compute of every 16th run")
      .Register(registry_)
      .Add(with({{"phase", phase}}), prometheus::Histogram::BucketBoundaries{
                                         0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                         0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10});
}

prometheus::Histogram& MetricSet::seconds(const char* name, const char* help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry_).Add(
      with({}), prometheus::Histogram::BucketBoundaries{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                        0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30});
}

void MetricSet::clear_gauges() {
  for (auto* each : gauges_) each->Set(0);
}

std::shared_ptr<ModelMetrics> Metrics::model(const std::string& name) {
  const std::lock_guard lock(mutex_);
  auto& slot = models_[name];
  if (!slot) slot = std::make_shared<ModelMetrics>(registry_, prometheus::Labels{{"model", name}});
  return slot;
}

void Metrics::forget(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (const auto found = models_.find(name); found != models_.end()) found->second->clear_gauges();
}

void Metrics::answered(const std::string& model, Status status) {
  requests_.Add({{"model", model}, {"status", number(status)}}).Increment();
}

void Metrics::http_answered(Status status) {
  responses_.Add({{"status", number(status)}}).Increment();
}

std::uint64_t Metrics::unfinished() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t all = 0;
  for (const auto& [name, model] : models_) all += model->unfinished;
  return all;
}

std::string Metrics::text() const {
  return prometheus::TextSerializer().Serialize(registry_.Collect());
}

}  // namespace polychron::server
