#include "http/embeddings.hpp"

#include <utility>

#include "http/await.hpp"
#include "models/sentence_model.hpp"
#include "protocol/document.hpp"
#include "protocol/openai.hpp"

namespace polychron::server {

namespace asio = boost::asio;

namespace {

std::shared_ptr<Model> find_embedding_model(const Service& service, const std::string& name) try {
  auto model = service.repository.find(name, {});
  const auto& engine = model->engine();
  if (engine.sentence_model()) return model;
  const auto why = engine.why_no_sentences();
  throw Refusal(Status::not_found, "model '" + printable(name) + "' is no sentence model" +
                                       (why.empty() ? "" : ": " + printable(why)));
} catch (const Refusal& refusal) {
  throw Refusal(refusal.status(), refusal.message(), refusal.retry_after_s(), "model");
}

void check_tokens(const TokenIds& tokens, std::size_t place, const SentenceModel& model) {
  const auto refuse = [&](const std::string& why) {
    const auto field = "input[" + std::to_string(place) + "]";
    throw Refusal(Status::bad_request, "'" + field + "': " + why, std::nullopt, "input");
  };
  if (tokens.size() > model.longest())
    refuse(std::to_string(tokens.size()) + " tokens, at most " + std::to_string(model.longest()));
  for (const auto each : tokens)
    if (each >= model.tokenizer().size())
      refuse("token " + std::to_string(each) + ": the model has " +
             std::to_string(model.tokenizer().size()));
}

Sentences sentences_of(EmbeddingRequest& wanted, const SentenceModel& model) {
  for (std::size_t i = 0; i < wanted.tokens.size(); ++i) check_tokens(wanted.tokens[i], i, model);
  auto sentences = std::move(wanted.tokens);
  for (const auto& text : wanted.texts) sentences.push_back(model.encode(text));
  return sentences;
}

asio::awaitable<std::string> answer(HttpShared& shared, const HttpRequest& request,
                                    std::shared_ptr<Model> model, EmbeddingRequest wanted,
                                    std::size_t size) {
  InferRequest asked;
  const auto& sentence_model = *model->engine().sentence_model();
  asked.sentences = co_await async_work(shared.worker, size,
                                        [&] { return sentences_of(wanted, sentence_model); });
  std::uint64_t tokens = 0;
  for (const auto& each : *asked.sentences) tokens += each.size();
  auto pending = model->infer(std::move(asked), {request.trace, request.cancellation});
  auto result = co_await async_get(std::move(pending));
  const auto vectors = std::move(result.value().value().vectors);
  if (wanted.dimensions && *wanted.dimensions != vectors.width)
    throw Refusal(Status::bad_request,
                  "'dimensions': this model gives " + std::to_string(vectors.width), std::nullopt,
                  "dimensions");
  co_return co_await async_work(shared.worker, vectors.values.size() * sizeof(float),
                                [&] { return embedding_document(wanted, vectors, tokens); });
}

}  // namespace

asio::awaitable<HttpReply> embed(HttpShared& shared, HttpRequest& request) {
  auto& service = shared.service;
  HttpReply reply;
  std::string counted;  // a name that is served: labels must not grow with what clients invent
  try {
    BudgetShare share(service.budget);
    const auto& body = request.body.bytes;
    const std::string_view text(reinterpret_cast<const char*>(body.data()), body.size());
    const auto size = text.size();
    auto wanted = co_await async_work(shared.worker, size, [&] {
      share.set(size + bytes_to_parse(text));
      return parse_embedding(text);
    });
    request.body = {};
    share.set(2 * size);
    const auto model = find_embedding_model(service, wanted.model);
    counted = model->name();
    reply.text = co_await answer(shared, request, model, std::move(wanted), size);
  } catch (...) {
    reply = refuse(current_refusal(), request.parsed.path);
  }
  service.answered(counted, reply.status, reply.message);
  co_return reply;
}

}  // namespace polychron::server
