#include "grpc/server.hpp"

#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <atomic>
#include <limits>
#include <thread>

#include "core/documents.hpp"
#include "grpc/messages.hpp"
#include "inference.grpc.pb.h"
#include "protocol/repository_call.hpp"

namespace polychron::server {

namespace {

using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;
using inference::GRPCInferenceService;

/// The files were checked: the HTTP server reads the same ones first.
std::shared_ptr<grpc::ServerCredentials> credentials_of(const GrpcOptions& options) {
  if (options.certificate.empty()) return grpc::InsecureServerCredentials();
  const auto& key = options.key.empty() ? options.certificate : options.key;
  constexpr unsigned refresh_s = 1;
  namespace tls = grpc::experimental;
  tls::TlsServerCredentialsOptions files(std::make_shared<tls::FileWatcherCertificateProvider>(
      key, options.certificate, options.client_ca, refresh_s));
  files.watch_identity_key_cert_pairs();
  if (!options.client_ca.empty()) {
    files.watch_root_certs();
    files.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return tls::TlsServerCredentials(files);
}

std::string metadata_of(const CallbackServerContext& context, const char* name) {
  const auto found = context.client_metadata().find(name);
  if (found == context.client_metadata().end()) return {};
  return {found->second.data(), found->second.size()};
}

/// Tells clients with a retry policy when to come again.
void add_pushback(CallbackServerContext& context, const Refusal& refusal) {
  if (const auto seconds = refusal.retry_after_s())
    context.AddTrailingMetadata("grpc-retry-pushback-ms", std::to_string(*seconds * 1000));
}

/// One ModelInfer. Deletes itself when gRPC is done with it.
class InferCall final : public ServerUnaryReactor {
 public:
  InferCall(Service& service, CallbackServerContext& context,
            const inference::ModelInferRequest& request, inference::ModelInferResponse& response)
      : service_(service),
        context_(context),
        request_(request),
        response_(response),
        share_(service.budget) {}

  void start() {
    trace_ = metadata_of(context_, "traceparent");
    try {
      share_.set(request_.SpaceUsedLong());  // many small strings take 20 times their bytes
      const auto model = service_.repository.find(request_.model_name(), request_.model_version());
      model_ = model->name();
      auto parsed = parse_infer(request_);
      bound_timeout(parsed);
      const CallOptions options{trace_, cancellation_};
      model->infer(std::move(parsed), options).then([this](Result<Outcome> result) {
        finish(result ? std::move(*result) : Refusal(Status::unavailable, "out of memory", 1));
      });
    } catch (const Refusal& refusal) {
      finish(Refusal(refusal));
    } catch (const Error& error) {
      finish(refusal_of(error));
    } catch (const std::exception& error) {
      finish(Refusal(Status::unavailable, error.what(), 1));
    }
  }

  void OnCancel() override { cancellation_.cancel(); }
  void OnDone() override { delete this; }

 private:
  /// The call's own deadline, if it comes before the parameter's.
  void bound_timeout(InferRequest& request) const {
    const auto end = context_.deadline();
    if (end == std::chrono::system_clock::time_point::max()) return;
    const auto left = std::chrono::duration_cast<std::chrono::microseconds>(
        end - std::chrono::system_clock::now());
    constexpr std::chrono::hours day(24);
    if (left > day) return;
    const auto bounded = std::max(left, std::chrono::microseconds(1));
    request.timeout = request.timeout ? std::min(*request.timeout, bounded) : bounded;
  }

  void finish(Outcome&& outcome) {
    auto status = grpc::Status::OK;
    AccessEntry entry;
    entry.method = "gRPC";
    entry.target = "ModelInfer " + request_.model_name();
    entry.status = static_cast<int>(Status::ok);
    if (auto* answer = std::get_if<InferAnswer>(&outcome)) {
      encode_answer(std::move(*answer), response_);
    } else {
      const auto& refusal = std::get<Refusal>(outcome);
      status = status_of(refusal);
      add_pushback(context_, refusal);
      entry.status = static_cast<int>(refusal.status());
      entry.error = refusal.message();
    }
    service_.answered(model_, static_cast<Status>(entry.status), entry.error);
    if (service_.log.wants_requests()) {
      entry.time = std::chrono::steady_clock::now() - begin_;
      entry.received = request_.ByteSizeLong();
      entry.sent = response_.ByteSizeLong();
      entry.id = request_.id();
      entry.trace = trace_;
      service_.log.request(entry);
    }
    Finish(status);
  }

  Service& service_;
  CallbackServerContext& context_;
  const inference::ModelInferRequest& request_;
  inference::ModelInferResponse& response_;
  Share share_;
  Cancellation cancellation_;
  std::string model_, trace_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

class Calls final : public GRPCInferenceService::CallbackService {
 public:
  explicit Calls(server::Service& service) : service_(service) {}

  ServerUnaryReactor* ServerLive(CallbackServerContext* context,
                                 const inference::ServerLiveRequest*,
                                 inference::ServerLiveResponse* response) override {
    response->set_live(true);
    return done(context);
  }
  ServerUnaryReactor* ServerReady(CallbackServerContext* context,
                                  const inference::ServerReadyRequest*,
                                  inference::ServerReadyResponse* response) override {
    response->set_ready(service_.ready());
    return done(context);
  }
  ServerUnaryReactor* ModelReady(CallbackServerContext* context,
                                 const inference::ModelReadyRequest* request,
                                 inference::ModelReadyResponse* response) override {
    return answer(context, [&] {
      try {
        service_.repository.find(request->name(), request->version());
        response->set_ready(true);
      } catch (const Refusal&) {
        response->set_ready(false);
      }
    });
  }
  ServerUnaryReactor* ServerMetadata(CallbackServerContext* context,
                                     const inference::ServerMetadataRequest*,
                                     inference::ServerMetadataResponse* response) override {
    return answer(context, [&] {
      response->set_name("polychron");
      response->set_version(service_.options.version);
      for (const auto& each : extensions_of(service_)) response->add_extensions(each);
    });
  }
  ServerUnaryReactor* ModelMetadata(CallbackServerContext* context,
                                    const inference::ModelMetadataRequest* request,
                                    inference::ModelMetadataResponse* response) override {
    return answer(context, [&] {
      fill_metadata(service_, *service_.repository.find(request->name(), request->version()),
                    *response);
    });
  }
  ServerUnaryReactor* ModelConfig(CallbackServerContext* context,
                                  const inference::ModelConfigRequest* request,
                                  inference::ModelConfigResponse* response) override {
    return answer(context, [&] {
      fill_config(*service_.repository.find(request->name(), request->version()),
                  *response->mutable_config());
    });
  }
  ServerUnaryReactor* ModelStatistics(CallbackServerContext* context,
                                      const inference::ModelStatisticsRequest* request,
                                      inference::ModelStatisticsResponse* response) override {
    return answer(context, [&] {
      if (!request->name().empty())
        return fill_statistics(*service_.repository.find(request->name(), request->version()),
                               *response->add_model_stats());
      for (const auto& each : service_.repository.index())
        if (each.model) fill_statistics(*each.model, *response->add_model_stats());
    });
  }
  ServerUnaryReactor* ModelInfer(CallbackServerContext* context,
                                 const inference::ModelInferRequest* request,
                                 inference::ModelInferResponse* response) override {
    if (!authorized(*context)) return answer(context, [] {});
    auto* call = new InferCall(service_, *context, *request, *response);
    call->start();
    return call;
  }
  ServerUnaryReactor* RepositoryIndex(CallbackServerContext* context,
                                      const inference::RepositoryIndexRequest* request,
                                      inference::RepositoryIndexResponse* response) override {
    return answer(context, [&] {
      check_repository();
      for (const auto& each : service_.repository.index()) {
        if (request->ready() && !each.ready) continue;
        auto* line = response->add_models();
        line->set_name(each.name);
        line->set_version(std::to_string(each.version));
        line->set_state(each.ready ? "READY" : "UNAVAILABLE");
        line->set_reason(printable(each.reason, 1000));
      }
    });
  }
  ServerUnaryReactor* RepositoryModelLoad(CallbackServerContext* context,
                                          const inference::RepositoryModelLoadRequest* request,
                                          inference::RepositoryModelLoadResponse*) override {
    return change(context, *request, &Repository::load);
  }
  ServerUnaryReactor* RepositoryModelUnload(CallbackServerContext* context,
                                            const inference::RepositoryModelUnloadRequest* request,
                                            inference::RepositoryModelUnloadResponse*) override {
    return change(context, *request, &Repository::unload);
  }

 private:
  bool authorized(const CallbackServerContext& context) const {
    return service_.tokens.accept(metadata_of(context, "authorization"));
  }

  static ServerUnaryReactor* done(CallbackServerContext* context) {
    auto* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

  template <class F>
  ServerUnaryReactor* answer(CallbackServerContext* context, F fill) {
    auto* reactor = context->DefaultReactor();
    auto status = grpc::Status::OK;
    try {
      if (!authorized(*context))
        throw Refusal(Status::unauthorized, "a valid bearer token is needed");
      fill();
    } catch (const Refusal& refusal) {
      status = status_of(refusal);
      add_pushback(*context, refusal);
    }
    reactor->Finish(status);
    return reactor;
  }

  void check_repository() const {
    if (!service_.options.repository_interface)
      throw Refusal(Status::forbidden,
                    "the repository interface is off: start the server with --repository");
  }

  template <class Request>
  ServerUnaryReactor* change(CallbackServerContext* context, const Request& request,
                             void (Repository::*call)(const std::string&, Repository::Done)) {
    if (!authorized(*context)) return answer(context, [] {});
    try {
      check_repository();
      for (const auto& [name, value] : request.parameters()) check_repository_parameter(name);
    } catch (const Refusal& refusal) {
      return answer(context, [&] { throw Refusal(refusal); });
    }
    auto* reactor = context->DefaultReactor();
    (service_.repository.*call)(request.model_name(), [reactor](std::optional<Refusal> refusal) {
      reactor->Finish(refusal ? status_of(*refusal) : grpc::Status::OK);
    });
    return reactor;
  }

  server::Service& service_;
};

/// Calls of Triton's that this server does not have.
class OtherCalls final : public grpc::CallbackGenericService {
  class Refused final : public grpc::ServerGenericBidiReactor {
   public:
    explicit Refused(const std::string& method) {
      Finish({grpc::StatusCode::UNIMPLEMENTED,
              "'" + printable(method, 100) +
                  "' is not supported: there is no shared memory, no streaming, no other service"});
    }
    void OnDone() override { delete this; }
  };
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    return new Refused(context->method());
  }
};

}  // namespace

class GrpcServer::State {
 public:
  State(const GrpcOptions& options, Service& service) : calls_(service) {
    grpc::EnableDefaultHealthCheckService(true);
    const auto literal = options.address.find(':') == std::string::npos
                             ? options.address
                             : "[" + options.address + "]";
    grpc::ServerBuilder builder;
    builder.AddListeningPort(literal + ":" + std::to_string(options.port), credentials_of(options),
                             &port_);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.SetMaxReceiveMessageSize(static_cast<int>(
        std::min<std::uint64_t>(options.body_bytes, std::numeric_limits<int>::max())));
    grpc::ResourceQuota quota("polychron-server");
    quota.SetMaxThreads(8);
    quota.Resize(service.budget.most());
    builder.SetResourceQuota(quota);
    builder.RegisterService(&calls_);
    builder.RegisterCallbackGenericService(&other_calls_);
    server_ = builder.BuildAndStart();
    if (!server_ || port_ == 0)
      throw Error(ErrorKind::bad_data, "gRPC on " + options.address + ":" +
                                           std::to_string(options.port) + ": cannot listen");
  }
  ~State() {
    server_->Shutdown(std::chrono::system_clock::now());
    if (ending_.joinable()) ending_.join();
    server_->Wait();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  int port() const { return port_; }
  bool drained() const { return drained_; }
  void not_ready() {
    if (auto* health = server_->GetHealthCheckService()) health->SetServingStatus(false);
  }
  void drain(std::chrono::seconds patience) {
    if (ending_.joinable()) return;
    ending_ = std::jthread([this, patience] {
      server_->Shutdown(std::chrono::system_clock::now() + patience);
      drained_ = true;
    });
  }

 private:
  Calls calls_;
  OtherCalls other_calls_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
  std::atomic<bool> drained_{false};
  std::jthread ending_;
};

GrpcServer::GrpcServer(const GrpcOptions& options, Service& service)
    : state_(std::make_unique<State>(options, service)) {}

GrpcServer::~GrpcServer() = default;

std::uint16_t GrpcServer::port() const { return static_cast<std::uint16_t>(state_->port()); }

void GrpcServer::not_ready() { state_->not_ready(); }

void GrpcServer::drain(std::chrono::seconds patience) { state_->drain(patience); }

bool GrpcServer::drained() const { return state_->drained(); }

}  // namespace polychron::server
