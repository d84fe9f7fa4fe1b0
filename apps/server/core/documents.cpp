#include "core/documents.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace polychron::server {

namespace {

namespace json = boost::json;

json::array dimensions_of(const SignatureTensor& tensor) {
  json::array shape;
  for (const auto& each : tensor.dimensions) {
    if (each.value)
      shape.emplace_back(*each.value);
    else
      shape.emplace_back(-1);
  }
  return shape;
}

json::string text_of(std::string_view text) {
  const auto clean = printable(text, 1000);
  return json::string(clean.data(), clean.size());
}

json::array tensors_of(const std::vector<SignatureTensor>& tensors) {
  json::array list;
  for (const auto& each : tensors) {
    json::object line;
    line["name"] = text_of(each.name);
    line["datatype"] = to_string(each.type);
    line["shape"] = dimensions_of(each);
    list.push_back(std::move(line));
  }
  return list;
}

json::object duration_of(const Duration& duration) {
  json::object line;
  line["count"] = duration.count.load();
  line["ns"] = duration.ns.load();
  return line;
}

json::object stats_of(const Model& model) {
  const auto& metrics = *model.metrics();
  json::object statistics;
  statistics["success"] = duration_of(metrics.success);
  statistics["fail"] = duration_of(metrics.failure);
  statistics["queue"] = duration_of(metrics.queued);
  statistics["compute_input"] = json::object{{"count", 0}, {"ns", 0}};
  statistics["compute_infer"] = duration_of(metrics.computed);
  statistics["compute_output"] = json::object{{"count", 0}, {"ns", 0}};
  json::object line;
  line["name"] = text_of(model.name());
  line["version"] = std::to_string(model.version());
  line["last_inference"] = metrics.last_ms.load();
  line["inference_count"] = metrics.success.count.load();
  line["execution_count"] = metrics.runs();
  line["inference_stats"] = std::move(statistics);
  line["batch_stats"] = json::array();
  return line;
}

json::object state_of(const ModelState& state) {
  json::object line;
  line["name"] = text_of(state.name);
  line["version"] = std::to_string(state.version);
  line["ready"] = state.ready;
  line["reason"] = text_of(state.reason);
  if (!state.model) return line;
  const auto& model = *state.model;
  const auto& metrics = *model.metrics();
  const auto usage = model.usage();
  const auto graphs = model.engine().graphs();
  const auto* language = model.engine().language_model();
  line["text"] = !language ? "" : language->has_chat() ? "chat" : "prompt";
  line["lanes"] = model.config().lanes;
  line["lanes_busy"] = usage.lanes_busy;
  line["threads"] = model.config().threads;
  line["in_flight"] = model.in_flight();
  line["in_flight_limit"] = model.config().in_flight;
  line["memory"] = usage.bytes;
  line["memory_limit"] = model.config().memory_limit;
  line["shapes"] = graphs.kept;
  line["shapes_limit"] = model.config().shapes;
  line["builds"] = graphs.builds;
  line["success"] = duration_of(metrics.success);
  line["fail"] = duration_of(metrics.failure);
  line["queue"] = duration_of(metrics.queued);
  line["compute"] = duration_of(metrics.computed);
  return line;
}

}  // namespace

std::vector<std::string> extensions_of(const Service& service) {
  std::vector<std::string> extensions{"binary_tensor_data", "statistics", "model_configuration"};
  if (service.options.repository_interface) extensions.emplace_back("model_repository");
  return extensions;
}

std::string server_document(const Service& service) {
  json::array extensions;
  for (const auto& each : extensions_of(service)) extensions.push_back(text_of(each));
  json::object document;
  document["name"] = "polychron";
  document["version"] = text_of(service.options.version);
  document["extensions"] = std::move(extensions);
  return json::serialize(document);
}

std::string metadata_document(const Service& service, const Model& model) {
  json::array versions;
  for (const auto& each : service.repository.versions(model.name()))
    versions.push_back(text_of(each));
  json::object document;
  document["name"] = text_of(model.name());
  document["versions"] = std::move(versions);
  document["platform"] = model.engine().platform();
  document["inputs"] = tensors_of(model.signature().inputs);
  document["outputs"] = tensors_of(model.signature().outputs);
  return json::serialize(document);
}

std::string config_document(const Model& model) {
  const auto tensors = [](const std::vector<SignatureTensor>& all) {
    json::array list;
    for (const auto& each : all) {
      json::object line;
      line["name"] = text_of(each.name);
      // Triton spells strings differently here.
      line["data_type"] = each.type == WireType::bytes
                              ? "TYPE_STRING"
                              : "TYPE_" + std::string(to_string(each.type));
      line["dims"] = dimensions_of(each);
      list.push_back(std::move(line));
    }
    return list;
  };
  const auto& config = model.config();
  json::object group{{"name", text_of(model.name())}, {"kind", "KIND_CPU"}};
  group["count"] = config.lanes;
  json::object document;
  document["name"] = text_of(model.name());
  document["platform"] = config.code.empty() ? "onnxruntime_onnx" : "code";
  document["backend"] = "polychron";
  document["max_batch_size"] = 0;
  document["input"] = tensors(model.signature().inputs);
  document["output"] = tensors(model.signature().outputs);
  document["instance_group"] = json::array{std::move(group)};
  json::object parameters;
  for (const auto& each : model_options()) parameters[each.name] = each.get(config);
  document["parameters"] = std::move(parameters);
  return json::serialize(document);
}

std::string stats_document(const Service& service, const std::string& name,
                           const std::string& version) {
  json::array list;
  if (!name.empty())
    list.push_back(stats_of(*service.repository.find(name, version)));
  else
    for (const auto& each : service.repository.index())
      if (each.model) list.push_back(stats_of(*each.model));
  json::object document;
  document["model_stats"] = std::move(list);
  return json::serialize(document);
}

std::string index_document(const Service& service) {
  json::array list;
  for (const auto& each : service.repository.index()) {
    json::object line;
    line["name"] = text_of(each.name);
    line["version"] = std::to_string(each.version);
    line["state"] = each.ready ? "READY" : "UNAVAILABLE";
    line["reason"] = text_of(each.reason);
    list.push_back(std::move(line));
  }
  return json::serialize(list);
}

std::string state_document(const Service& service) {
  json::array models, errors;
  for (const auto& each : service.repository.index()) models.push_back(state_of(each));
  for (const auto& each : service.recent_errors()) {
    json::object line;
    line["when"] = text_of(each.when);
    line["model"] = text_of(each.model);
    line["status"] = static_cast<int>(each.status);
    line["message"] = text_of(each.message);
    errors.push_back(std::move(line));
  }
  const std::chrono::duration<double> up = std::chrono::steady_clock::now() - service.started;
  json::object document;
  document["version"] = text_of(service.options.version);
  document["uptime_s"] = up.count();
  document["ready"] = service.ready();
  document["draining"] = service.draining.load();
  document["recording"] = service.options.recording;
  document["connections"] = service.metrics.connections.Value();
  document["body_bytes"] = service.budget.used();
  document["body_budget"] = service.budget.most();
  document["models"] = std::move(models);
  document["errors"] = std::move(errors);
  return json::serialize(document);
}

void refresh_gauges(Service& service) {
  service.metrics.body_bytes.Set(static_cast<double>(service.budget.used()));
  auto& dropped = service.metrics.log_dropped;
  dropped.Increment(static_cast<double>(service.log.dropped()) - dropped.Value());
  for (const auto& each : service.repository.index()) {
    if (!each.model) continue;
    const auto usage = each.model->usage();
    const auto graphs = each.model->engine().graphs();
    auto& metrics = *each.model->metrics();
    metrics.in_flight.Set(static_cast<double>(each.model->in_flight()));
    metrics.lanes.Set(each.model->config().lanes);
    metrics.lanes_busy.Set(static_cast<double>(usage.lanes_busy));
    metrics.memory.Set(static_cast<double>(usage.bytes));
    metrics.shapes.Set(static_cast<double>(graphs.kept));
  }
}

}  // namespace polychron::server
