#include "http/handlers.hpp"

#include "core/documents.hpp"
#include "http/await.hpp"
#include "http/completions.hpp"
#include "http/embeddings.hpp"
#include "page/page.hpp"
#include "protocol/repository_call.hpp"

namespace polychron::server {

namespace asio = boost::asio;

namespace {

HttpReply document(std::string text) { return {Status::ok, "application/json", std::move(text)}; }

void check_page(const HttpShared& shared) {
  if (!shared.options.page) throw Refusal(Status::not_found, "the page is switched off");
}

void check_recording(const HttpShared& shared) {
  check_page(shared);
  if (!shared.options.recording)
    throw Refusal(Status::not_found, "no recording: start the server with --record");
}

asio::awaitable<HttpReply> recording_view(HttpShared& shared, HttpRequest&) {
  check_recording(shared);
  auto pending = shared.options.view();
  auto result = co_await async_get(std::move(pending));
  auto& page = result.value().value();
  HttpReply reply{Status::ok, "text/html; charset=utf-8", {}};
  // The page sets the rest of its policy in a meta tag.
  reply.headers.emplace_back("Content-Security-Policy", "frame-ancestors 'none'");
  reply.binary.push_back(std::move(page));
  co_return reply;
}

HttpReply recording(HttpShared& shared, const HttpRequest&) {
  check_recording(shared);
  const auto bytes = shared.options.recording();
  HttpReply reply{Status::ok, "application/octet-stream", {}};
  reply.headers.emplace_back("Content-Disposition", "attachment; filename=\"server.trace\"");
  reply.binary.push_back(Buffer::copy_of(std::span(bytes)));
  return reply;
}

HttpReply page(HttpShared& shared, const HttpRequest&) {
  check_page(shared);
  HttpReply reply{Status::ok, "text/html; charset=utf-8", std::string(page_html())};
  reply.headers.emplace_back(
      "Content-Security-Policy",
      "default-src 'self' 'unsafe-inline'; img-src data:; frame-ancestors 'none'");
  return reply;
}

HttpReply state(HttpShared& shared, const HttpRequest&) {
  check_page(shared);
  return document(state_document(shared.service));
}

HttpReply metrics(HttpShared& shared, const HttpRequest&) {
  refresh_gauges(shared.service);
  return {Status::ok, "text/plain; version=0.0.4; charset=utf-8", shared.service.metrics.text()};
}

HttpReply server_metadata(HttpShared& shared, const HttpRequest&) {
  return document(server_document(shared.service));
}

HttpReply server_live(HttpShared&, const HttpRequest&) { return document(R"({"live":true})"); }

HttpReply server_ready(HttpShared& shared, const HttpRequest&) {
  if (shared.service.ready()) return document(R"({"ready":true})");
  HttpReply reply = document(R"({"ready":false})");
  reply.status = Status::unavailable;
  return reply;
}

std::shared_ptr<Model> model_of(HttpShared& shared, const HttpRequest& request) {
  return shared.service.repository.find(request.parsed.model, request.parsed.version);
}

HttpReply model_metadata(HttpShared& shared, const HttpRequest& request) {
  return document(metadata_document(shared.service, *model_of(shared, request)));
}

HttpReply model_ready(HttpShared& shared, const HttpRequest& request) {
  const auto model = model_of(shared, request);
  return document(R"({"name":)" + json_text(model->name()) + R"(,"ready":true})");
}

HttpReply model_config(HttpShared& shared, const HttpRequest& request) {
  return document(config_document(*model_of(shared, request)));
}

HttpReply model_statistics(HttpShared& shared, const HttpRequest& request) {
  const auto& target = request.parsed;
  return document(stats_document(shared.service, target.model, target.version));
}

/// Bytes of the tensors that JSON carries, or is to carry.
std::size_t json_bytes(const InferAnswer& answer, const InferRequest& wanted) {
  std::size_t bytes = 0;
  for (const auto& each : answer.outputs)
    if (!wants_binary(wanted, each.name)) bytes += each.bytes.size();
  return bytes;
}

/// Its tensors count in the budget until `share` ends.
asio::awaitable<InferRequest> parse(HttpShared& shared, HttpRequest& request, BudgetShare& share) {
  const auto json = request.json_length.value_or(request.body.bytes.size());
  auto parsed = co_await async_work(shared.worker, json, [&] {
    share.set(bytes_to_parse(request.body, request.json_length));
    auto made = parse_infer(request.body, request.json_length);
    share.set(bytes_apart(made, request.body));
    return made;
  });
  request.body = {};  // binary tensors keep its block
  co_return parsed;
}

asio::awaitable<HttpReply> encode(HttpShared& shared, InferAnswer answer,
                                  const InferRequest& wanted) {
  auto encoded = co_await async_work(shared.worker, json_bytes(answer, wanted),
                                     [&] { return encode_answer(std::move(answer), wanted); });
  HttpReply reply;
  reply.text = std::move(encoded.json);
  if (!encoded.binary.empty()) {
    reply.type = "application/octet-stream";
    reply.headers.emplace_back("Inference-Header-Content-Length",
                               std::to_string(reply.text.size()));
  }
  reply.binary = std::move(encoded.binary);
  co_return reply;
}

asio::awaitable<HttpReply> infer(HttpShared& shared, HttpRequest& request) {
  auto& service = shared.service;
  const auto& target = request.parsed;
  HttpReply reply;
  InferRequest wanted;  // names and forms of outputs, for the answer
  std::string counted;  // a name that is served: labels must not grow with what clients invent
  try {
    const auto model = service.repository.find(target.model, target.version);
    counted = model->name();
    BudgetShare share(service.budget);
    auto parsed = co_await parse(shared, request, share);
    wanted.id = parsed.id;
    wanted.outputs = parsed.outputs;
    wanted.binary_outputs = parsed.binary_outputs;
    const CallOptions options{request.trace, request.cancellation};
    auto pending = model->infer(std::move(parsed), options);
    auto result = co_await async_get(std::move(pending));
    reply = co_await encode(shared, std::move(result.value().value()), wanted);
  } catch (...) {
    reply = refuse(current_refusal(), target.path);
  }
  reply.id = wanted.id;
  service.answered(counted, reply.status, reply.message);
  co_return reply;
}

HttpReply repository_index(HttpShared& shared, const HttpRequest&) {
  shared.service.check_repository();
  return document(index_document(shared.service));
}

template <void (Repository::*change)(const std::string&, Repository::Done)>
asio::awaitable<HttpReply> repository_change(HttpShared& shared, HttpRequest& request) {
  shared.service.check_repository();
  const auto& body = request.body.bytes;
  co_await async_work(shared.worker, body.size(), [&] {
    check_repository_body({reinterpret_cast<const char*>(body.data()), body.size()});
    return true;
  });
  Promise<std::optional<Refusal>> promise;
  auto pending = promise.future();
  (shared.service.repository.*change)(
      request.parsed.model,
      [promise](std::optional<Refusal> refusal) { promise.resolve(std::move(refusal)); });
  auto result = co_await async_get(std::move(pending));
  if (result.value()) throw Refusal(*result.value());
  co_return document("{}");
}

// -- the table --------------------------------------------------------------------------------

/// A handler that does not wait.
template <HttpReply (*reply)(HttpShared&, const HttpRequest&)>
asio::awaitable<HttpReply> at_once(HttpShared& shared, HttpRequest& request) {
  co_return reply(shared, request);
}

constexpr Route table[] = {
    {Method::get, "/", at_once<page>, Audience::operators},
    {Method::get, "/metrics", at_once<metrics>, Audience::operators},
    {Method::get, "/state.json", at_once<state>, Audience::operators},
    {Method::get, "/recording", at_once<recording>, Audience::operators},
    {Method::get, "/recording/view", recording_view, Audience::operators},
    {Method::get, "/v1/models", at_once<listed_models>},
    {Method::get, "/v1/models/*", at_once<listed_model>},
    {Method::post, "/v1/chat/completions", complete_chat},
    {Method::post, "/v1/completions", complete_prompt},
    {Method::post, "/v1/embeddings", embed},
    {Method::get, "/v2", at_once<server_metadata>},
    {Method::get, "/v2/health/live", at_once<server_live>, Audience::probes},
    {Method::get, "/v2/health/ready", at_once<server_ready>, Audience::probes},
    {Method::get, "/v2/models/stats", at_once<model_statistics>},
    {Method::get, "/v2/models/*", at_once<model_metadata>},
    {Method::get, "/v2/models/*/ready", at_once<model_ready>},
    {Method::get, "/v2/models/*/config", at_once<model_config>},
    {Method::get, "/v2/models/*/stats", at_once<model_statistics>},
    {Method::post, infer_path, infer},
    // Triton's index is asked for by POST; GET is harmless.
    {Method::either, "/v2/repository/index", at_once<repository_index>, Audience::operators},
    {Method::post, "/v2/repository/models/*/load", repository_change<&Repository::load>,
     Audience::operators},
    {Method::post, "/v2/repository/models/*/unload", repository_change<&Repository::unload>,
     Audience::operators},
};

}  // namespace

std::span<const Route> routes() { return table; }

}  // namespace polychron::server
