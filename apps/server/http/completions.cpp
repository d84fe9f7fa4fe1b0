// A stream has two ends: the generation adds text to a TextFeed, and the connection takes from it
// all that has come. So a slow client gets longer pieces, and never holds up a lane.
#include "http/completions.hpp"

#include <mutex>
#include <random>
#include <utility>

#include "http/await.hpp"
#include "protocol/document.hpp"
#include "protocol/openai.hpp"

namespace polychron::server {

namespace asio = boost::asio;

namespace {

/// Text on its way from a generation to a connection. Thread-safe. It takes no more memory than the
/// text, which the context's length bounds.
class TextFeed {
 public:
  struct Taken {
    std::string text;
    std::vector<text::ChosenToken> tokens;  ///< of the text, and of what comes behind it
    std::optional<Outcome> outcome;         ///< nothing comes after it
  };

  void add(std::string_view piece) {
    const std::unique_lock lock(mutex_);
    text_ += piece;
    wake();
  }
  /// Wakes nobody: its text does.
  void add(const text::ChosenToken& token) {
    const std::unique_lock lock(mutex_);
    tokens_.push_back(token);
  }
  void end(Outcome&& outcome) {
    const std::unique_lock lock(mutex_);
    outcome_ = std::move(outcome);
    wake();
  }
  /// Settles when there is something to take. One at a time.
  Future<bool> changed() {
    const std::unique_lock lock(mutex_);
    waiting_.emplace();
    auto future = waiting_->future();
    if (!text_.empty() || outcome_) wake();
    return future;
  }
  Taken take() {
    const std::unique_lock lock(mutex_);
    return {std::exchange(text_, {}), std::exchange(tokens_, {}),
            std::exchange(outcome_, std::nullopt)};
  }

 private:
  /// The caller has the lock. To resolve under it is safe: a coroutine that waits is only posted to
  /// its executor, and does not run here.
  void wake() {
    if (waiting_) std::exchange(waiting_, std::nullopt)->resolve(true);
  }

  std::mutex mutex_;
  std::string text_;
  std::vector<text::ChosenToken> tokens_;
  std::optional<Outcome> outcome_;
  std::optional<Promise<bool>> waiting_;
};

/// Different for each request, as nobody asked for a seed.
std::uint64_t random_number() {
  thread_local std::mt19937_64 numbers{std::random_device{}()};
  return numbers();
}

CompletionHead head_for(const Completion& wanted, bool is_chat) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string id = is_chat ? "chatcmpl-" : "cmpl-";
  for (auto left = random_number(), i = std::uint64_t{0}; i < 16; ++i, left >>= 4U)
    id += digits[left & 15U];
  return {is_chat, id, wanted.model, std::chrono::system_clock::now()};
}

std::shared_ptr<Model> find_openai_model(const Service& service, const std::string& name,
                                         bool generates) try {
  auto model = service.repository.find(name, {});
  const auto& engine = model->engine();
  if (engine.language_model() || (!generates && engine.sentence_model())) return model;
  throw Refusal(Status::not_found, "model '" + printable(name) + "' is no language model");
} catch (const Refusal& refusal) {
  throw Refusal(refusal.status(), refusal.message(), refusal.retry_after_s(), "model");
}

std::uint64_t size_of(const Generation& generation) {
  std::uint64_t size = generation.prompt.size();
  for (const auto& each : generation.chat) size += each.content.size();
  return size;
}

/// Before it is cut into tokens, which takes time.
void check_length(const Completion& wanted, const text::Model& model) {
  const auto most = std::uint64_t{64} * model.context_length();
  const auto size = size_of(wanted.generation);
  if (size > most)
    throw Refusal(Status::bad_request,
                  "the prompt has " + std::to_string(size) + " bytes: a context of " +
                      std::to_string(model.context_length()) + " tokens takes at most " +
                      std::to_string(most),
                  std::nullopt, wanted.generation.chat.empty() ? "prompt" : "messages");
}

/// Of a whole answer's probabilities, in a document of JSON.
std::uint64_t bytes_of_logprobs(const Completion& wanted, const text::Model& model) {
  const auto& options = wanted.generation.options;
  if (!options.top_logprobs || wanted.streams) return 0;
  return std::uint64_t{512} * std::min(options.max_tokens, model.context_length()) *
         (*options.top_logprobs + 1);
}

asio::awaitable<Completion> parse_text(HttpShared& shared, HttpRequest& request, bool is_chat,
                                       BudgetShare& share) {
  const auto& body = request.body.bytes;
  const std::string_view text(reinterpret_cast<const char*>(body.data()), body.size());
  auto parsed = co_await async_work(shared.worker, text.size(), [&] {
    share.set(text.size() + bytes_to_parse(text));
    return parse_completion(text, is_chat, random_number());
  });
  request.body = {};
  share.set(size_of(parsed.generation));
  co_return parsed;
}

/// An answer that has begun.
class TextStream {
 public:
  TextStream(HttpShared& shared, std::string model, CompletionHead head, bool wants_usage,
             Cancellation cancellation, std::shared_ptr<TextFeed> feed, TextFeed::Taken first)
      : service_(shared.service),
        model_(std::move(model)),
        head_(std::move(head)),
        wants_usage_(wants_usage),
        cancellation_(std::move(cancellation)),
        feed_(std::move(feed)),
        taken_(std::move(first)),
        events_(first_event(head_, wants_usage)) {}
  TextStream(const TextStream&) = delete;
  TextStream& operator=(const TextStream&) = delete;
  ~TextStream() {
    if (ended_) return;
    cancellation_.cancel();
    try {
      service_.answered(model_, Status::cancelled, "the client left");
    } catch (const std::bad_alloc&) {
      // It is not counted.
    }
  }

  /// The events of what has come; nothing after the last ones.
  static asio::awaitable<std::string> next(std::shared_ptr<TextStream> self) {
    if (self->ended_) co_return std::string();
    if (self->taken_.text.empty() && !self->taken_.outcome) {
      auto changed = self->feed_->changed();
      co_await async_get(std::move(changed));
      self->taken_ = self->feed_->take();
    }
    co_return self->events();
  }

 private:
  std::string events() {
    auto events = std::exchange(events_, {});
    const auto [text, tokens, outcome] = std::exchange(taken_, {});
    if (!text.empty() || !tokens.empty())
      events += text_event(head_, text, tokens, offset_, wants_usage_);
    offset_ += characters_of(tokens);
    if (!outcome) return events;
    ended_ = true;
    if (const auto* refusal = std::get_if<Refusal>(&*outcome)) {
      service_.answered(model_, refusal->status(), refusal->message());
      return events + error_event(*refusal);
    }
    service_.answered(model_, Status::ok, {});
    return events + last_events(head_, std::get<InferAnswer>(*outcome).generated, wants_usage_);
  }

  Service& service_;
  const std::string model_;
  const CompletionHead head_;
  const bool wants_usage_;
  Cancellation cancellation_;
  const std::shared_ptr<TextFeed> feed_;
  TextFeed::Taken taken_;
  std::size_t offset_ = 0;  ///< characters of the tokens so far
  std::string events_;      ///< that go before
  bool ended_ = false;
};

/// Begins the generation, and waits for its first text: until then it can be refused as a whole.
asio::awaitable<HttpReply> streamed(HttpShared& shared, const HttpRequest& request,
                                    std::shared_ptr<Model> model, Completion wanted, bool is_chat) {
  const auto feed = std::make_shared<TextFeed>();
  const auto head = head_for(wanted, is_chat);
  InferRequest asked;
  asked.generation = std::move(wanted.generation);
  asked.generation->options.on_text = [feed](std::string_view piece) { feed->add(piece); };
  asked.generation->options.on_token = [feed](const text::ChosenToken& token) { feed->add(token); };
  const CallOptions options{request.trace, request.cancellation};
  model->infer(std::move(asked), options).then([feed](Result<Outcome> outcome) {
    feed->end(outcome ? std::move(*outcome) : Outcome(refusal_of(outcome.error())));
  });
  auto changed = feed->changed();
  co_await async_get(std::move(changed));
  auto first = feed->take();
  if (first.text.empty() && first.outcome) first.outcome->value();  // throws a refusal
  const auto made = std::make_shared<TextStream>(shared, model->name(), head, wanted.wants_usage,
                                                 request.cancellation, feed, std::move(first));
  HttpReply reply{Status::ok, "text/event-stream; charset=utf-8", {}};
  reply.parts = [made] { return TextStream::next(made); };
  co_return reply;
}

asio::awaitable<HttpReply> whole(const HttpRequest& request, std::shared_ptr<Model> model,
                                 Completion wanted, bool is_chat) {
  const auto head = head_for(wanted, is_chat);
  InferRequest asked;
  asked.generation = std::move(wanted.generation);
  const CallOptions options{request.trace, request.cancellation};
  auto pending = model->infer(std::move(asked), options);
  auto result = co_await async_get(std::move(pending));
  HttpReply reply;
  reply.text = completion_document(head, result.value().value().generated);
  co_return reply;
}

asio::awaitable<HttpReply> complete(HttpShared& shared, HttpRequest& request, bool is_chat) {
  auto& service = shared.service;
  HttpReply reply;
  std::string counted;  // a name that is served: labels must not grow with what clients invent
  try {
    BudgetShare share(service.budget);
    auto wanted = co_await parse_text(shared, request, is_chat, share);
    const auto model = find_openai_model(service, wanted.model, true);
    counted = model->name();
    const auto& language = *model->engine().language_model();
    check_length(wanted, language);
    share.set(size_of(wanted.generation) + bytes_of_logprobs(wanted, language));
    if (is_chat && !language.has_chat())
      throw Refusal(Status::bad_request,
                    "model '" + printable(counted) +
                        "' has no chat template that is known: use /v1/completions",
                    std::nullopt, "model");
    if (wanted.streams) {
      reply = co_await streamed(shared, request, model, std::move(wanted), is_chat);
      co_return reply;  // which is counted at its end
    }
    reply = co_await whole(request, model, std::move(wanted), is_chat);
  } catch (...) {
    reply = refuse(current_refusal(), request.parsed.path);
  }
  service.answered(counted, reply.status, reply.message);
  co_return reply;
}

ListedModel listed_as(const Model& model) { return {model.name(), model.loaded()}; }

}  // namespace

HttpReply listed_models(HttpShared& shared, const HttpRequest&) {
  std::vector<ListedModel> models;
  for (const auto& each : shared.service.repository.index())
    if (each.model &&
        (each.model->engine().language_model() || each.model->engine().sentence_model()) &&
        (models.empty() || models.back().name != each.name))
      models.push_back(listed_as(*each.model));
  return {Status::ok, "application/json", openai_models_document(models)};
}

HttpReply listed_model(HttpShared& shared, const HttpRequest& request) {
  const auto model = find_openai_model(shared.service, request.parsed.model, false);
  return {Status::ok, "application/json", openai_model_document(listed_as(*model))};
}

asio::awaitable<HttpReply> complete_chat(HttpShared& shared, HttpRequest& request) {
  return complete(shared, request, true);
}

asio::awaitable<HttpReply> complete_prompt(HttpShared& shared, HttpRequest& request) {
  return complete(shared, request, false);
}

}  // namespace polychron::server
