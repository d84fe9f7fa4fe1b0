#include "grpc/methods.hpp"

#include <malloc.h>

#include <algorithm>
#include <limits>

#include "core/documents.hpp"
#include "grpc/messages.hpp"
#include "http/await.hpp"
#include "protocol/repository_call.hpp"

namespace polychron::server {

namespace asio = boost::asio;

namespace {

template <class Message>
std::string framed(const Message& message) {
  auto text = begin_message();
  message.AppendToString(&text);
  end_message(text);
  return text;
}

/// The C library keeps the memory of many small pieces: it gives it back when this ends.
struct GiveBack {
  GiveBack() = default;
  GiveBack(const GiveBack&) = delete;
  GiveBack& operator=(const GiveBack&) = delete;
  ~GiveBack() {
    constexpr std::uint64_t many = 16 << 20;
    if (bytes > many) ::malloc_trim(0);
  }
  std::uint64_t bytes = 0;  ///< of the pieces
};

/// Parses the call's message, within the budget. Throws Refusal: unavailable, bad_request.
template <class Request>
Request parsed_message(Call& call, GiveBack* end = nullptr) {
  Request request;
  const auto bytes = call.message.bytes;
  const auto parsed = parsed_bytes(*Request::descriptor(), bytes);
  if (call.method->kind != Method::Kind::probe) call.share.set(parsed);
  if (end) end->bytes = parsed - std::min(parsed, bytes.size());
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    throw Refusal(Status::bad_request,
                  "the message is no " + std::string(Request::descriptor()->name()));
  call.message = {};
  return request;
}

/// A method that does not wait.
template <class Request, class Response, void (*fill)(Service&, const Request&, Response&)>
asio::awaitable<std::string> at_once(HttpShared& shared, Call& call) {
  const auto request = parsed_message<Request>(call);
  Response response;
  fill(shared.service, request, response);
  co_return framed(response);
}

template <class Request>
std::shared_ptr<Model> model_of(Service& service, const Request& request) {
  return service.repository.find(request.name(), request.version());
}

void server_live(Service&, const inference::ServerLiveRequest&,
                 inference::ServerLiveResponse& response) {
  response.set_live(true);
}

void server_ready(Service& service, const inference::ServerReadyRequest&,
                  inference::ServerReadyResponse& response) {
  response.set_ready(service.ready());
}

void health(Service& service, const inference::HealthCheckRequest& request,
            inference::HealthCheckResponse& response) {
  if (!request.service().empty())
    throw Refusal(Status::not_found, "health has no service '" + printable(request.service(), 80) +
                                         "'; expected '', which is the server");
  response.set_status(service.ready() ? inference::HealthCheckResponse::SERVING
                                      : inference::HealthCheckResponse::NOT_SERVING);
}

void model_ready(Service& service, const inference::ModelReadyRequest& request,
                 inference::ModelReadyResponse& response) {
  try {
    model_of(service, request);
    response.set_ready(true);
  } catch (const Refusal&) {
    response.set_ready(false);
  }
}

void server_metadata(Service& service, const inference::ServerMetadataRequest&,
                     inference::ServerMetadataResponse& response) {
  response.set_name("polychron");
  response.set_version(service.options.version);
  for (const auto& each : extensions_of(service)) response.add_extensions(each);
}

void model_metadata(Service& service, const inference::ModelMetadataRequest& request,
                    inference::ModelMetadataResponse& response) {
  fill_metadata(service, *model_of(service, request), response);
}

void model_config(Service& service, const inference::ModelConfigRequest& request,
                  inference::ModelConfigResponse& response) {
  fill_config(*model_of(service, request), *response.mutable_config());
}

void model_statistics(Service& service, const inference::ModelStatisticsRequest& request,
                      inference::ModelStatisticsResponse& response) {
  if (!request.name().empty())
    return fill_statistics(*model_of(service, request), *response.add_model_stats());
  for (const auto& each : service.repository.index())
    if (each.model) fill_statistics(*each.model, *response.add_model_stats());
}

void repository_index(Service& service, const inference::RepositoryIndexRequest& request,
                      inference::RepositoryIndexResponse& response) {
  service.check_repository();
  for (const auto& each : service.repository.index()) {
    if (request.ready() && !each.ready) continue;
    auto* line = response.add_models();
    line->set_name(each.name);
    line->set_version(std::to_string(each.version));
    line->set_state(each.ready ? "READY" : "UNAVAILABLE");
    line->set_reason(printable(each.reason, 1000));
  }
}

template <class Request, class Response,
          void (Repository::*change)(const std::string&, Repository::Done)>
asio::awaitable<std::string> repository_change(HttpShared& shared, Call& call) {
  shared.service.check_repository();
  const auto request = parsed_message<Request>(call);
  for (const auto& [name, value] : request.parameters()) check_repository_parameter(name);
  Promise<std::optional<Refusal>> promise;
  auto pending = promise.future();
  (shared.service.repository.*change)(
      request.model_name(),
      [promise](std::optional<Refusal> refusal) { promise.resolve(std::move(refusal)); });
  auto result = co_await async_get(std::move(pending));
  if (result.value()) throw Refusal(*result.value());
  co_return framed(Response());
}

// -- inference ------------------------------------------------------------------------------------

/// A request, and the version of the model that is to answer it.
struct Inference {
  std::shared_ptr<Model> model;
  InferRequest request;
};

/// Its tensors count in the budget until the call ends. `counted` becomes the model's name.
Inference parse(Service& service, Call& call, std::string& counted) {
  GiveBack end;
  const auto message = parsed_message<inference::ModelInferRequest>(call, &end);
  Inference made;
  made.model = service.repository.find(message.model_name(), message.model_version());
  counted = made.model->name();
  made.model->refuse_if_full();
  made.request = parse_infer(message);
  call.share.set(bytes_apart(made.request, {}));
  return made;
}

/// The call's own deadline, if it comes before the parameter's.
void bound_timeout(const Call& call, InferRequest& request) {
  if (!call.deadline) return;
  const auto left = std::chrono::duration_cast<std::chrono::microseconds>(
      *call.deadline - std::chrono::steady_clock::now());
  const auto bounded = std::max(left, std::chrono::microseconds(1));
  request.timeout = request.timeout ? std::min(*request.timeout, bounded) : bounded;
}

/// Writes the access log's line when it ends.
struct LogLine {
  explicit LogLine(Service& all, const Call& call) : service(all) {
    line.method = "gRPC";
    line.target = "ModelInfer ";
    line.status = static_cast<int>(Status::ok);
    line.received = call.message.bytes.size();
    line.trace = call.trace;
  }
  LogLine(const LogLine&) = delete;
  LogLine& operator=(const LogLine&) = delete;
  ~LogLine() {
    service.answered(model, static_cast<Status>(line.status), line.error);
    if (!service.log.wants_requests()) return;
    line.target += model;
    line.time = std::chrono::steady_clock::now() - begin;
    service.log.request(line);
  }

  Service& service;
  AccessEntry line;
  std::string model;  ///< one that is served
  const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

asio::awaitable<std::string> infer(HttpShared& shared, Call& call) {
  LogLine entry(shared.service, call);
  try {
    const auto bytes = call.message.bytes.size();
    auto [model, request] = co_await async_work(
        shared.worker, bytes, [&] { return parse(shared.service, call, entry.model); });
    entry.line.id = request.id;
    bound_timeout(call, request);
    const CallOptions options{call.trace, call.cancellation};
    auto pending = model->infer(std::move(request), options);
    auto result = co_await async_get(std::move(pending));
    auto& outcome = result.value();
    if (const auto* refusal = std::get_if<Refusal>(&outcome)) throw Refusal(*refusal);
    auto& made = std::get<InferAnswer>(outcome);
    std::size_t size = 0;
    for (const auto& each : made.outputs) size += each.bytes.size();
    auto answer = co_await async_work(shared.worker, size, [&] {
      auto text = begin_message();
      append_answer(text, std::move(made));
      end_message(text);
      return text;
    });
    entry.line.sent = answer.size();
    co_return answer;
  } catch (...) {
    const auto refusal = current_refusal();
    entry.line.status = static_cast<int>(refusal.status());
    entry.line.error = refusal.message();
    throw;
  }
}

// -- the table ------------------------------------------------------------------------------------

#define POLYCHRON_METHOD(Name, fill)        \
  "/inference.GRPCInferenceService/" #Name, \
      at_once<inference::Name##Request, inference::Name##Response, fill>

constexpr Method table[] = {
    {POLYCHRON_METHOD(ServerLive, server_live), Method::Kind::probe},
    {POLYCHRON_METHOD(ServerReady, server_ready), Method::Kind::probe},
    {POLYCHRON_METHOD(ModelReady, model_ready)},
    {POLYCHRON_METHOD(ServerMetadata, server_metadata)},
    {POLYCHRON_METHOD(ModelMetadata, model_metadata)},
    {POLYCHRON_METHOD(ModelConfig, model_config)},
    {POLYCHRON_METHOD(ModelStatistics, model_statistics)},
    {POLYCHRON_METHOD(RepositoryIndex, repository_index)},
    {"/inference.GRPCInferenceService/RepositoryModelLoad",
     repository_change<inference::RepositoryModelLoadRequest,
                       inference::RepositoryModelLoadResponse, &Repository::load>,
     Method::Kind::body},
    {"/inference.GRPCInferenceService/RepositoryModelUnload",
     repository_change<inference::RepositoryModelUnloadRequest,
                       inference::RepositoryModelUnloadResponse, &Repository::unload>},
    {"/inference.GRPCInferenceService/ModelInfer", infer, Method::Kind::body},
    {"/grpc.health.v1.Health/Check",
     at_once<inference::HealthCheckRequest, inference::HealthCheckResponse, health>,
     Method::Kind::probe},
    {"/grpc.health.v1.Health/Watch", nullptr, Method::Kind::probe},
};

#undef POLYCHRON_METHOD

}  // namespace

void check_header(HttpShared& shared, const Call::Header& header, Call& call) {
  const auto* const found = std::find_if(std::begin(table), std::end(table), [&](const auto& each) {
    return each.path == header.path;
  });
  const bool is_known = found != std::end(table);
  const bool is_probe = is_known && found->kind == Method::Kind::probe;
  if (!is_probe) shared.service.check_token(header.authorization);
  if (!is_known)
    throw Refusal(Status::unsupported,
                  "'" + printable(header.path, 100) +
                      "' is not supported: there is no shared memory, no streaming, no other "
                      "service");
  if (call.header_bytes > shared.options.header_bytes)
    throw Refusal(Status::headers, "the call's header has more than " +
                                       std::to_string(shared.options.header_bytes) + " bytes");
  if (!call.encoding.empty() && call.encoding != "identity" && call.encoding != "gzip" &&
      call.encoding != "deflate")
    throw Refusal(Status::unsupported, "grpc-encoding '" + printable(call.encoding, 40) +
                                           "': expected gzip, deflate or identity");
  call.method = found;
  constexpr std::uint64_t most_of_protobuf = std::numeric_limits<int>::max();
  const auto most = is_probe ? MessageReader::uncounted
                    : found->kind == Method::Kind::small
                        ? 64 * 1024
                        : std::min<std::uint64_t>(shared.options.body_bytes, most_of_protobuf);
  call.reader.emplace(most, shared.service.budget);
}

bool check_watch(HttpShared& shared, Call& call) {
  inference::HealthCheckResponse response;
  health(shared.service, parsed_message<inference::HealthCheckRequest>(call), response);
  return response.status() == inference::HealthCheckResponse::SERVING;
}

std::string health_message(bool is_ready) {
  inference::HealthCheckResponse response;
  response.set_status(is_ready ? inference::HealthCheckResponse::SERVING
                               : inference::HealthCheckResponse::NOT_SERVING);
  return framed(response);
}

}  // namespace polychron::server
