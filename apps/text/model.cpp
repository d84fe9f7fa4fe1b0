// Model: loading, and calls that check the handle and make a prompt.
#include <algorithm>
#include <utility>

#include "apps/text/model_state.hpp"
#include "apps/text/problem.hpp"
#include "polychron/text.hpp"

namespace polychron::text {

namespace detail {

ModelState::ModelState(const Context& on, ModelFiles files, const LoadOptions& options,
                       std::string own_label)
    : label(std::move(own_label)),
      context(on),
      tokenizer(std::move(files.tokenizer)),
      network(std::move(files.network)),
      sizes(network->cache()),
      context_length(std::min(options.context_length, files.context_length)),
      chats(options.chats),
      chat(files.chat),
      now(options.now ? options.now : &std::chrono::steady_clock::now) {
  check_sizes();
  std::vector<Future<Graph>> graphs;
  const auto build = [&](std::vector<Step>& steps, std::uint32_t rows, std::uint32_t of) {
    steps.push_back({.shape = {rows, context_length, of}});
    graphs.push_back(network->build(context, steps.back().shape, label));
  };
  const auto most = network->joins_chats() ? std::min(chats, most_joint) : 1;
  for (std::uint32_t rows = 1; rows < 2 * most; rows *= 2) build(joint, rows, rows);
  build(pieces, short_piece, 1);
  build(pieces, long_piece, 1);
  auto graph = graphs.begin();
  for (auto* steps : {&joint, &pieces})
    for (auto& step : *steps) create_tensors(step, (graph++)->get());
  if (joint.back().shape.rows > 2)
    spare = create(cache_descriptor(sizes, context_length), {.writable = false});
  network->drop_weights();
}

void ModelState::check_sizes() const {
  using polychron::detail::refuse;
  if (chats == 0) refuse(ErrorKind::type_error, "chats: expected 1 or more");
  const auto cache = byte_length(cache_descriptor(sizes, context_length));
  if (context_length < 2 || !cache || *cache > max_tensor_byte_length)
    refuse(ErrorKind::type_error,
           "context_length: expected 2 or more, with keys and values of at most " +
               describe_bytes(max_tensor_byte_length));
}

Tensor ModelState::create(const OperandDescriptor& descriptor, const TensorUsage& usage) const {
  auto own = context;
  return own.create_tensor(TensorDescriptor{descriptor, usage.readable, usage.writable, label})
      .get();
}

void ModelState::create_tensors(Step& step, Graph graph) const {
  step.graph = std::move(graph);
  for (const auto& [name, descriptor] : step.graph.inputs())
    if (!name.starts_with(port::caches))
      step.inputs.emplace_back(name, create(descriptor, {.writable = true}));
  for (const auto& [name, descriptor] : step.graph.outputs())
    (name == port::rows ? step.new_rows : step.logits) = create(descriptor, {.readable = true});
}

namespace {

/// The name of a file without its extension, or of a folder, also if the path ends with a slash.
std::string label_of(const std::filesystem::path& path) {
  if (!is_folder(path)) return path.stem().string();
  return (path / "").parent_path().filename().string();
}

ModelFiles read_files(const Context& context, const std::filesystem::path& path,
                      std::optional<DataType> cache_type) {
  if (cache_type && *cache_type != DataType::float32 && *cache_type != DataType::float16)
    polychron::detail::refuse(
        ErrorKind::type_error,
        "cache_type: expected float32 or float16, got " + std::string(to_string(*cache_type)));
  const bool is_onnx = is_folder(path) || path.extension() == ".onnx";
  return is_onnx ? read_onnx_model(path, cache_type) : read_gguf_model(context, path, cache_type);
}

}  // namespace

}  // namespace detail

Model Model::load(const Context& context, const std::filesystem::path& path,
                  const LoadOptions& options) {
  const auto label = options.label.empty() ? detail::label_of(path) : options.label;
  return polychron::detail::with_errors([&] {
    try {
      auto files = detail::read_files(context, path, options.cache_type);
      return Model(
          std::make_shared<const detail::ModelState>(context, std::move(files), options, label));
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
std::uint32_t Model::chats() const { return state().chats; }
bool Model::has_chat() const { return state().chat != detail::ChatTemplate::none; }
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
    if (!has_chat())
      detail::unsupported("model " + detail::quote(label()) +
                          " has no chat template that is known: give it a prompt");
    const auto prompt = detail::chat_prompt(state().chat, chat);
    return detail::generate(state_, state().tokenizer.encode(prompt), options);
  });
}

}  // namespace polychron::text
