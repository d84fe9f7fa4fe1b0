// The routes.
#include "core/documents.hpp"
#include "http/await.hpp"
#include "http/shared.hpp"
#include "page/page.hpp"
#include "protocol/compression.hpp"
#include "protocol/repository_call.hpp"

namespace polychron::server {

namespace asio = boost::asio;

HttpReply refuse(const Refusal& refusal) {
  HttpReply reply{refusal.status(), "application/json", encode_error(refusal.message())};
  reply.message = refusal.message();
  if (const auto seconds = refusal.retry_after_s())
    reply.headers.emplace_back("Retry-After", std::to_string(*seconds));
  if (refusal.status() == Status::unauthorized)
    reply.headers.emplace_back("WWW-Authenticate", "Bearer");
  return reply;
}

namespace {

HttpReply document(std::string text) { return {Status::ok, "application/json", std::move(text)}; }

HttpReply ready(bool is_ready) {
  HttpReply reply = document(is_ready ? R"({"ready":true})" : R"({"ready":false})");
  if (!is_ready) reply.status = Status::unavailable;
  return reply;
}

void check_recording(const HttpShared& shared) {
  if (!shared.options.page) throw Refusal(Status::not_found, "the page is switched off");
  if (!shared.options.recording)
    throw Refusal(Status::not_found, "no recording: start the server with --record");
}

asio::awaitable<HttpReply> view_reply(HttpShared& shared) {
  check_recording(shared);
  auto pending = shared.options.view();
  auto result = co_await async_get(std::move(pending));
  auto& page = result.value();
  if (const auto* refusal = std::get_if<Refusal>(&page)) throw Refusal(*refusal);
  HttpReply reply{Status::ok, "text/html; charset=utf-8", {}};
  // What else the page may do, it says itself.
  reply.headers.emplace_back("Content-Security-Policy", "frame-ancestors 'none'");
  reply.binary.push_back(std::move(std::get<Buffer>(page)));
  co_return reply;
}

HttpReply page_reply(HttpShared& shared, Action action) {
  if (!shared.options.page) throw Refusal(Status::not_found, "the page is switched off");
  if (action == Action::state) return document(state_document(shared.service));
  if (action == Action::page) {
    HttpReply reply{Status::ok, "text/html; charset=utf-8", std::string(page_html())};
    reply.headers.emplace_back(
        "Content-Security-Policy",
        "default-src 'self' 'unsafe-inline'; img-src data:; frame-ancestors 'none'");
    return reply;
  }
  check_recording(shared);
  const auto bytes = shared.options.recording();
  HttpReply reply{Status::ok, "application/octet-stream", {}};
  reply.headers.emplace_back("Content-Disposition", "attachment; filename=\"server.trace\"");
  reply.binary.push_back(Buffer::copy_of(std::span(bytes)));
  return reply;
}

HttpReply model_reply(Service& service, const Target& target) {
  if (target.action == Action::model_stats)
    return document(stats_document(service, target.model, target.version));
  const auto model = service.repository.find(target.model, target.version);
  if (target.action == Action::model_ready)
    return document(R"({"name":)" + json_text(model->name()) + R"(,"ready":true})");
  if (target.action == Action::model_config) return document(config_document(*model));
  return document(metadata_document(service, *model));
}

asio::awaitable<HttpReply> infer_reply(HttpShared& shared, HttpRequest& request) {
  auto& service = shared.service;
  const auto& target = request.parsed;
  HttpReply reply;
  InferRequest wanted;  // names and forms of outputs, for the answer
  std::string counted;  // a name that is served: labels must not grow with what clients invent
  try {
    const auto model = service.repository.find(target.model, target.version);
    counted = model->name();
    auto parsed = parse_infer(request.body, request.json_length);
    request.body = {};
    wanted.id = parsed.id;
    wanted.outputs = parsed.outputs;
    wanted.binary_outputs = parsed.binary_outputs;
    const CallOptions options{request.trace, request.cancellation};
    auto pending = model->infer(std::move(parsed), options);
    auto result = co_await async_get(std::move(pending));
    auto& outcome = result.value();
    if (const auto* refusal = std::get_if<Refusal>(&outcome)) throw Refusal(*refusal);
    auto encoded = encode_answer(std::get<InferAnswer>(std::move(outcome)), wanted);
    reply.text = std::move(encoded.json);
    if (!encoded.binary.empty()) {
      reply.type = "application/octet-stream";
      reply.headers.emplace_back("Inference-Header-Content-Length",
                                 std::to_string(reply.text.size()));
    }
    reply.binary = std::move(encoded.binary);
  } catch (const Refusal& refusal) {
    reply = refuse(refusal);
  }
  reply.id = wanted.id;
  service.answered(counted, reply.status, reply.message);
  co_return reply;
}

asio::awaitable<HttpReply> repository_reply(Service& service, const HttpRequest& request) {
  const auto& target = request.parsed;
  if (!service.options.repository_interface)
    throw Refusal(Status::forbidden,
                  "the repository interface is off: start the server with --repository");
  if (target.action == Action::repository_index) co_return document(index_document(service));
  const auto& body = request.body.bytes;
  check_repository_body({reinterpret_cast<const char*>(body.data()), body.size()});
  Promise<std::optional<Refusal>> promise;
  auto pending = promise.future();
  const auto done = [promise](std::optional<Refusal> refusal) { promise.resolve(refusal); };
  if (target.action == Action::repository_load)
    service.repository.load(target.model, done);
  else
    service.repository.unload(target.model, done);
  auto result = co_await async_get(std::move(pending));
  if (result.value()) throw Refusal(*result.value());
  co_return document("{}");
}

/// Text alone: numbers in binary hardly shrink.
void compress(HttpReply& reply, const HttpRequest& request) {
  constexpr std::size_t least = 1024;
  const auto encoding = chosen_encoding(request.accept_encoding);
  if (encoding.empty() || reply.text.size() < least || !reply.binary.empty()) return;
  reply.text = compressed(reply.text, encoding);
  reply.headers.emplace_back("Content-Encoding", encoding);
}

void check_method(const HttpRequest& request) {
  const auto action = request.parsed.action;
  if (action == Action::unknown)
    throw Refusal(Status::not_found, "no such path: " + printable(request.target));
  if (action == Action::shared_memory)
    throw Refusal(Status::unsupported,
                  "shared memory is not supported; send tensors in the request's body");
  // Triton's index is asked for by POST; GET is harmless.
  const bool reads = request.method == "GET" || request.method == "HEAD";
  const bool wanted =
      is_get(action) ? reads
                     : request.method == "POST" || (reads && action == Action::repository_index);
  if (!wanted)
    throw Refusal(Status::not_allowed, "method " + printable(request.method, 20) +
                                           " is not allowed here; expected " +
                                           (is_get(action) ? "GET" : "POST"));
}

}  // namespace

void check_token(const Service& service, const Target& target, std::string_view given) {
  // Probes of orchestrators have no token, and learn nothing.
  if (target.action == Action::server_live || target.action == Action::server_ready) return;
  if (!service.tokens.accept(given))
    throw Refusal(Status::unauthorized, "a valid bearer token is needed");
}

void refuse_early(HttpShared& shared, const HttpRequest& request, std::uint64_t announced) {
  const auto& target = request.parsed;
  if (target.action != Action::infer || request.method != "POST") return;
  auto& service = shared.service;
  std::string counted;
  try {
    const auto model = service.repository.find(target.model, target.version);
    counted = model->name();
    model->refuse_if_full();
    service.budget.refuse_beyond(announced);
  } catch (const Refusal& refusal) {
    service.answered(counted, refusal.status(), refusal.message());
    throw;
  }
}

asio::awaitable<HttpReply> answer(HttpShared& shared, HttpRequest& request) {
  auto& service = shared.service;
  HttpReply reply;
  try {
    check_method(request);
    switch (request.parsed.action) {
      case Action::unknown:
      case Action::shared_memory:
        break;  // refused above
      case Action::page:
      case Action::state:
      case Action::recording:
        reply = page_reply(shared, request.parsed.action);
        break;
      case Action::recording_view:
        reply = co_await view_reply(shared);
        break;
      case Action::metrics:
        refresh_gauges(service);
        reply = {Status::ok, "text/plain; version=0.0.4; charset=utf-8", service.metrics.text()};
        break;
      case Action::server_live:
        reply = document(R"({"live":true})");
        break;
      case Action::server_ready:
        reply = ready(service.ready());
        break;
      case Action::server_metadata:
        reply = document(server_document(service));
        break;
      case Action::model_metadata:
      case Action::model_ready:
      case Action::model_config:
      case Action::model_stats:
        reply = model_reply(service, request.parsed);
        break;
      case Action::infer:
        reply = co_await infer_reply(shared, request);
        break;
      case Action::repository_index:
      case Action::repository_load:
      case Action::repository_unload:
        reply = co_await repository_reply(service, request);
        break;
    }
  } catch (const Refusal& refusal) {
    reply = refuse(refusal);
  } catch (const Error& error) {
    reply = refuse(refusal_of(error));
  } catch (const std::bad_alloc&) {
    reply = refuse(Refusal(Status::unavailable, "out of memory", 1));
  } catch (const std::exception& error) {
    reply = refuse(Refusal(Status::internal, error.what()));
  }
  compress(reply, request);
  co_return reply;
}

}  // namespace polychron::server
