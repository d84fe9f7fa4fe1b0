// Model: loading, and calls that check the handle and make a prompt.
#include <algorithm>
#include <utility>

#include "apps/text/chat.hpp"
#include "apps/text/model_state.hpp"
#include "apps/text/problem.hpp"
#include "polychron/text.hpp"

namespace polychron::text {

namespace detail {

ModelState::ModelState(const Context& on, const GgufFile& file, const LoadOptions& options,
                       std::string own_label)
    : label(std::move(own_label)),
      context(on),
      tokenizer(file.header()),
      sizes(file.header()),
      context_length(std::min(options.context_length, sizes.context)),
      has_chat(has_chatml(file.header(), tokenizer)) {
  const auto cache = byte_length(cache_descriptor(sizes, {1, context_length}));
  if (context_length < 2 || !cache || *cache > max_tensor_byte_length)
    polychron::detail::refuse(ErrorKind::type_error,
                              "context_length: expected 2 or more, with keys and values of at "
                              "most " +
                                  describe_bytes(max_tensor_byte_length));
  auto weights = read_weights(file, sizes, context);
  auto step = build_decoder(context, sizes, weights, {1, context_length}, label);
  several_rows = build_decoder(context, sizes, weights, {prompt_rows, context_length}, label).get();
  one_row = step.get();
  embedding = std::move(weights.embedding);
}

}  // namespace detail

Model Model::load(const Context& context, const std::filesystem::path& path,
                  const LoadOptions& options) {
  const auto label = options.label.empty() ? path.stem().string() : options.label;
  return polychron::detail::with_errors([&] {
    try {
      const detail::GgufFile file(path);
      return Model(std::make_shared<const detail::ModelState>(context, file, options, label));
    } catch (const Error& error) {
      throw error.with_operation("load", label).with_object("model " + detail::quote(label));
    }
  });
}

const detail::ModelState& Model::state() const {
  if (state_ == nullptr) polychron::detail::refuse(ErrorKind::type_error, "this model is empty");
  return *state_;
}

const std::string& Model::label() const { return state().label; }
std::uint32_t Model::context_length() const { return state().context_length; }
bool Model::has_chat() const { return state().has_chat; }
Context Model::context() const { return state().context; }

std::vector<std::uint32_t> Model::tokenize(std::string_view text) const {
  return polychron::detail::with_errors([&] { return state().tokenizer.encode({{text, true}}); });
}

Future<Generated> Model::generate_with(std::string_view prompt,
                                       const GenerateOptions& options) const {
  return polychron::detail::with_errors(
      [&] { return detail::generate(state_, tokenize(prompt), options); });
}

Future<Generated> Model::generate_with(const std::vector<Message>& chat,
                                       const GenerateOptions& options) const {
  return polychron::detail::with_errors([&] {
    if (!state().has_chat)
      detail::unsupported("model " + detail::quote(label()) +
                          " has no chat template that is known: give it a prompt");
    return detail::generate(state_, state().tokenizer.encode(detail::chatml(chat)), options);
  });
}

}  // namespace polychron::text
