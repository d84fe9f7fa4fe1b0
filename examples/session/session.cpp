// The habits of users of ONNX Runtime, in Polychron. docs/coming-from-onnxruntime.md quotes it, and
// a test runs it on y = x + {1, 2, 3, 4}, where x is float [batch, 4].
#include <cstdio>
#include <filesystem>
#include <polychron/polychron.hpp>
#include <polychron/session.hpp>
#include <polychron/sessions.hpp>
#include <span>
#include <utility>
#include <vector>

using namespace polychron;

namespace {

void print(const char* what, std::span<const float> values) {
  std::printf("%s:", what);
  for (const float value : values) std::printf(" %g", value);
  std::printf("\n");
}

void load_and_run(const std::filesystem::path& path) {
  const onnx::Session session(path, {.bindings = {{"batch", {1}}}}, {.threads = 2});
  const auto outputs = session.run({{"x", std::vector<float>{1, 2, 3, 4}}}).get();
  const auto y = outputs.front().second.as<float>();
  print("run", y);
}

void describe(const onnx::Session& session) {
  for (const auto& [name, descriptor] : session.inputs())
    std::printf("input %s: %s\n", name.c_str(), to_string(descriptor).c_str());
  for (const auto& value : session.summary().inputs)  // as the file has it
    std::printf("declared: %s\n", to_string(value).c_str());
}

void several_models_on_the_same_threads(const std::filesystem::path& path) {
  Runtime runtime;
  const auto context = runtime.create_context({.threads = 1, .lanes = 2}).get();
  const onnx::Session single(context, path, {.bindings = {{"batch", {1}}}});
  const onnx::Session pairs(context, path, {.bindings = {{"batch", {2}}}});
  single.warm_up().get();
  pairs.warm_up().get();
  describe(pairs);
}

void any_shape(const Context& context, const std::filesystem::path& path) {
  const std::vector<float> x(12, 5);
  const onnx::Session session(context, onnx::load(path));
  onnx::NamedValues inputs;
  inputs.push_back(onnx::NamedValue::of("x", {3, 4}, x));
  const auto outputs = session.run(std::move(inputs)).get();  // with types and shapes
  print(to_string(outputs.front().descriptor).c_str(), outputs.front().bytes.as<float>());
}

void requests_of_many_lengths(const Context& context, const std::filesystem::path& path) {
  const onnx::Sessions sessions(context, onnx::load(path),
                                {.most = 32, .round_up = {{"batch", 8}}});
  const auto session = sessions.at({{"batch", {3}}});  // of 8 rows
  describe(session);
}

void answer_later(const onnx::Session& session) {
  const auto done = Promise<void>::make();
  auto finished = done.future();
  session.run({{"x", std::vector<float>{10, 10, 10, 10}}}).then([&](Result<NamedBuffers> outputs) {
    if (outputs) print("later", outputs->front().second.as<float>());
    done.resolve();
  });
  finished.get();
}

void memory_of_the_callers(const onnx::Session& session) {
  NamedBuffers inputs, outputs;
  inputs.emplace_back("x", Buffer::copy_of(std::vector<float>{0, 0, 0, 0}));
  outputs.emplace_back("y", Buffer(4 * sizeof(float)));
  auto result = session.compute(std::move(inputs), std::move(outputs)).get();
  result.status.value();  // throws what went wrong; the buffers are back in any case
  const auto y = result.outputs.front().second.as<float>();
  print("compute", y);
}

void tensors_that_stay(const onnx::Session& session) {
  auto context = session.context();
  const auto x = session.create_input_tensor("x").get();
  const auto hidden = session.create_output_tensor("y").get();
  const auto y = session.create_output_tensor("y").get();
  context.write_tensor(x, std::vector<float>{1, 1, 1, 1});
  session.dispatch({{"x", x}}, {{"y", hidden}});
  session.dispatch({{"x", hidden}}, {{"y", y}});  // after the first: no synchronisation is needed
  const auto result = context.read_tensor(y).get();
  print("chained", result.as<float>());
}

void options_of_a_run(const onnx::Session& session) {
  const Cancellation stop;
  onnx::RunOptions options{.label = "request 7", .outputs = {"y"}};
  options.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  options.cancellation = stop;
  const auto outputs = session.run({{"x", std::vector<float>(4)}}, options).get();
  std::printf("outputs: %zu\n", outputs.size());
}

void errors(const onnx::Session& session) {
  try {
    session.run({{"x", std::vector<float>{1, 2}}}, {.label = "request 8"}).wait();
  } catch (const Error& error) {
    std::printf("%s: %s\n", to_string(error.kind()).data(), error.what());
  }
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 2) return 2;
  const std::filesystem::path path = arguments[1];
  load_and_run(path);
  several_models_on_the_same_threads(path);
  const onnx::Session session(path, {.bindings = {{"batch", {1}}}});
  any_shape(session.context(), path);
  requests_of_many_lengths(session.context(), path);
  answer_later(session);
  memory_of_the_callers(session);
  tensors_that_stay(session);
  options_of_a_run(session);
  errors(session);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
