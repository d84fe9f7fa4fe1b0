#include "http/routes.hpp"

#include <algorithm>
#include <charconv>

#include "http/await.hpp"
#include "http/handlers.hpp"
#include "http/head.hpp"
#include "protocol/compression.hpp"
#include "protocol/openai.hpp"

namespace polychron::server {

namespace asio = boost::asio;

namespace {

const Route* find_route(std::string_view path) {
  const auto all = routes();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Route& each) { return each.path == path; });
  return found == all.end() ? nullptr : &*found;
}

void check_method(const Route& route, std::string_view method) {
  const bool reads = method == "GET" || method == "HEAD";
  if (reads ? route.method != Method::post : method == "POST" && route.method != Method::get)
    return;
  throw Refusal(Status::not_allowed, "method " + printable(method, 20) +
                                         " is not allowed here; expected " +
                                         (route.method == Method::get ? "GET" : "POST"));
}

std::size_t json_length_of(std::string_view text) {
  std::size_t length = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (failed != std::errc() || end != text.data() + text.size())
    throw Refusal(Status::bad_request, "Inference-Header-Content-Length is '" +
                                           printable(text, 40) + "', expected a whole number");
  return length;
}

void check_body(const HttpOptions& options, const Header& header, HttpRequest& request) {
  if (request.method != "POST" && (header.chunked || header.length > 0))
    throw Refusal(Status::bad_request, printable(request.method, 20) + " " +
                                           printable(request.parsed.path) + " takes no body");
  if (header.length > options.body_bytes)
    throw too_large("the body", header.length, options.body_bytes);
  request.compressed = is_compressed(header.content_encoding);
  if (!header.json_length.empty()) request.json_length = json_length_of(header.json_length);
  const auto json = request.json_length.value_or(request.compressed ? 0 : header.length);
  if (json > options.json_bytes) throw too_large("the JSON", json, options.json_bytes);
}

/// Refuses an inference that finds no model, a full queue, or no room for its body.
void check_inference(HttpShared& shared, const Header& header, const HttpRequest& request) {
  auto& service = shared.service;
  std::string counted;  // a name that is served: labels must not grow with what clients invent
  try {
    const auto model = service.repository.find(request.parsed.model, request.parsed.version);
    counted = model->name();
    model->refuse_if_full();
    service.budget.refuse_beyond(header.length);
  } catch (const Refusal& refusal) {
    service.answered(counted, refusal.status(), refusal.message());
    throw;
  }
}

/// Compresses text alone: numbers in binary hardly shrink.
asio::awaitable<void> compress(Worker& worker, HttpReply& reply, const HttpRequest& request) {
  constexpr std::size_t least = 1024;
  const auto encoding = chosen_encoding(request.accept_encoding);
  if (encoding.empty() || reply.text.size() < least || !reply.binary.empty()) co_return;
  reply.text = co_await async_work(worker, reply.text.size(),
                                   [&] { return compressed(reply.text, encoding); });
  reply.headers.emplace_back("Content-Encoding", encoding);
}

}  // namespace

void check_header(HttpShared& shared, const Header& header, HttpRequest& request) {
  request.route = find_route(request.parsed.path);
  const auto audience = request.route ? request.route->audience : Audience::clients;
  refuse_foreign_pages(shared.options, header.origin, header.host, audience == Audience::operators);
  if (audience != Audience::probes) shared.service.check_token(header.authorization);
  if (request.parsed.path == shared_memory_path)
    throw Refusal(Status::unsupported,
                  "shared memory is not supported; send tensors in the request's body");
  if (!request.route)
    throw Refusal(Status::not_found, "no such path: " + printable(request.target));
  check_method(*request.route, request.method);
  check_body(shared.options, header, request);
  if (request.route->path == infer_path) check_inference(shared, header, request);
}

HttpReply refuse(const Refusal& refusal, std::string_view path) {
  HttpReply reply{
      refusal.status(), "application/json",
      path.starts_with("/v1/") ? encode_openai_error(refusal) : encode_error(refusal.message())};
  reply.message = refusal.message();
  if (const auto seconds = refusal.retry_after_s())
    reply.headers.emplace_back("Retry-After", std::to_string(*seconds));
  if (refusal.status() == Status::unauthorized)
    reply.headers.emplace_back("WWW-Authenticate", "Bearer");
  return reply;
}

asio::awaitable<HttpReply> answer(HttpShared& shared, HttpRequest& request) {
  HttpReply reply;
  try {
    reply = co_await request.route->answer(shared, request);
    co_await compress(shared.worker, reply, request);
  } catch (...) {
    reply = refuse(current_refusal(), request.parsed.path);
  }
  co_return reply;
}

}  // namespace polychron::server
