// Many generations at once: the bits that each has alone, turns, and ends.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/text/decoder.hpp"
#include "apps/text/model_state.hpp"
#include "tests/text/fixture.hpp"
#include "tests/text/packed_file.hpp"

using namespace polychron;
using text::detail::ModelState;
using text::detail::read_gguf_model;
using text::detail::Step;
using text_tests::TemporaryFile;
using text_tests::TinyModel;
namespace port = text::detail::port;

namespace {

struct Random {
  std::mt19937 engine;
  std::uint32_t operator()(std::uint32_t least, std::uint32_t most) {
    return least + static_cast<std::uint32_t>(engine() % (most - least + 1));
  }
};

struct JointFixture : text_tests::ModelFixture {
  unsigned seed = std::random_device{}();
  Random random{std::mt19937(seed)};

  JointFixture() { BOOST_TEST_MESSAGE("seed " << seed); }
  std::string any_prompt() {
    std::string prompt;
    for (auto left = random(1, 4) == 1 ? random(1, 100) : random(1, 5); left > 0; --left)
      prompt += static_cast<char>(random('A', 'Z'));
    return prompt;
  }
  void check_rows(const ModelState& state, const Step& step, bool packed);
};

/// What a row of a step reads.
struct RowInputs {
  std::vector<float> embedding, angles, cache;  ///< the cache is rounded to its own type
  std::int32_t length;
};

OperandDescriptor cache_of(const ModelState& model) {
  return cache_descriptor(model.sizes, model.context_length);
}

RowInputs row_inputs(const ModelState& model, Random& random) {
  const auto floats = [&](std::size_t count) {
    std::vector<float> values(count);
    for (auto& value : values) value = static_cast<float>(random(0, 2000)) / 1000 - 1;
    return values;
  };
  const auto length_of = [&](const std::string& name) {
    for (const auto& [input, descriptor] : model.joint.front().graph.inputs())
      if (input == name) return *element_count(descriptor.shape);
    throw std::logic_error("no input " + name);
  };
  return {floats(length_of(port::embedding)), floats(length_of(port::angles)),
          floats(length_of(port::cache(0))),
          static_cast<std::int32_t>(random(0, model.context_length))};
}

const Tensor& input_of(const Step& step, std::string_view name) {
  for (const auto& [input, tensor] : step.inputs)
    if (input == name) return tensor;
  throw std::logic_error("no input " + std::string(name));
}

struct StepResult {
  std::vector<float> logits, rows;
};

StepResult run(const ModelState& model, const Step& step, const std::vector<RowInputs>& rows) {
  auto context = model.context;
  std::vector<float> embedding, angles;
  std::vector<std::int32_t> lengths;
  auto inputs = step.inputs;
  for (const auto& row : rows) {
    embedding.insert(embedding.end(), row.embedding.begin(), row.embedding.end());
    inputs.emplace_back(port::cache(static_cast<std::uint32_t>(lengths.size())),
                        context.create_tensor({cache_of(model), true, true, {}}).get());
    lengths.push_back(row.length);
    if (model.sizes.type == DataType::float32)
      context.write_tensor(inputs.back().second, row.cache);
    else
      context.write_tensor(inputs.back().second,
                           std::vector<float16>(row.cache.begin(), row.cache.end()));
  }
  const auto half = model.sizes.features / 2;
  for (std::size_t plane = 0; plane < rows.front().angles.size(); plane += half)
    for (const auto& row : rows) {
      const auto begin = row.angles.begin() + static_cast<std::ptrdiff_t>(plane);
      angles.insert(angles.end(), begin, begin + half);
    }
  context.write_tensor(input_of(step, port::embedding), embedding);
  context.write_tensor(input_of(step, port::angles), angles);
  context.write_tensor(input_of(step, port::length), lengths);
  context.dispatch(step.graph, inputs, {{port::rows, step.new_rows}, {port::logits, step.logits}});
  const auto rows_of = [&](const Buffer& made) {
    if (model.sizes.type == DataType::float32) return made.to_vector<float>();
    std::vector<float> wide;
    for (const float16 value : made.to_vector<float16>()) wide.push_back(static_cast<float>(value));
    return wide;
  };
  return {context.read_tensor(step.logits).get().to_vector<float>(),
          rows_of(context.read_tensor(step.new_rows).get())};
}

bool same_bits(const float* a, const float* b, std::size_t count) {
  return std::memcmp(a, b, count * sizeof(float)) == 0;
}

void JointFixture::check_rows(const ModelState& state, const Step& step, bool packed) {
  std::vector<RowInputs> rows;
  while (rows.size() < step.shape.rows) rows.push_back(row_inputs(state, random));
  const auto together = run(state, step, rows);
  const auto vocabulary = state.tokenizer.size(), features = std::size_t{state.sizes.features};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto alone = run(state, state.joint.front(), {rows[i]});
    bool same = same_bits(&together.logits[i * vocabulary], alone.logits.data(), vocabulary);
    for (std::size_t head = 0; head * features < alone.rows.size(); ++head)
      same = same && same_bits(&together.rows[(head * rows.size() + i) * features],
                               &alone.rows[head * features], features);
    BOOST_TEST(same, "row " << i << " of " << rows.size() << (packed ? ", packed" : ""));
  }
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(joint, JointFixture)

// With float32 weights and packed ones.
BOOST_AUTO_TEST_CASE(a_row_of_a_joint_step_has_the_bits_that_it_has_alone) {
  const TemporaryFile packed(packed_file(tiny).bytes());
  for (const int cores : {1, 2})
    for (const TemporaryFile* weights : std::array<const TemporaryFile*, 2>{&file, &packed})
      for (const auto type : {DataType::float32, DataType::float16}) {
        const auto own = runtime.create_context({.cores = cores}).get();
        const ModelState state(own, read_gguf_model(own, weights->path(), type),
                               {.context_length = 100}, "tiny");
        BOOST_TEST(state.joint.size() == 4U);
        for (const auto& step : state.joint) check_rows(state, step, weights == &packed);
      }
}

BOOST_AUTO_TEST_CASE(a_row_has_its_bits_in_other_architectures) {
  for (const auto* name : {"qwen2", "qwen3", "gemma3"}) {
    TinyModel model_of(1, name);
    const TemporaryFile written(model_of.file().bytes()), packed(packed_file(model_of).bytes());
    for (const TemporaryFile* weights : {&written, &packed}) {
      const ModelState state(context, read_gguf_model(context, weights->path()),
                             {.context_length = 40}, name);
      check_rows(state, state.joint.back(), weights == &packed);
    }
  }
}

// Each has a track of its own on the trace page: the tensor of its keys and values.
BOOST_AUTO_TEST_CASE(a_recording_has_the_labels_of_generations) {
  runtime.start_trace();
  std::vector<Future<text::Generated>> all;
  for (const std::string label : {"first chat", "second chat"})
    all.push_back(model.generate("hello", text::GenerateOptions{.label = label, .max_tokens = 3}));
  for (auto& each : all) each.get();
  runtime.stop_trace();
  const auto recorded = runtime.trace();
  const std::string_view bytes(reinterpret_cast<const char*>(recorded.data()), recorded.size());
  for (const auto* label : {"first chat", "second chat"})
    BOOST_TEST(bytes.find(label) != std::string_view::npos, label);
}

// More than may run at once, of random lengths, some of which end before their time.
BOOST_AUTO_TEST_CASE(texts_beside_others_are_those_alone) {
  constexpr std::size_t count = 24;
  std::vector<std::string> prompts;
  std::vector<text::GenerateOptions> options;
  std::vector<text::Generated> alone;
  for (std::size_t i = 0; i < count; ++i) {
    prompts.push_back(any_prompt());
    options.push_back({.max_tokens = random(1, 40),
                       .temperature = static_cast<double>(random(0, 2)),
                       .seed = random(0, 1000)});
    alone.push_back(model.generate(prompts[i], options[i]).get());
  }
  std::vector<Future<text::Generated>> together;
  std::vector<bool> left(count);
  for (std::size_t i = 0; i < count; ++i) {
    auto own = options[i];
    left[i] = random(1, 4) == 1;
    if (left[i]) {
      auto cancellation = Cancellation();
      own.cancellation = cancellation;
      own.on_text = [cancellation, tokens = random(0, 9)](std::string_view) mutable {
        if (tokens-- == 0) cancellation.cancel();
      };
    }
    together.push_back(model.generate(prompts[i], own));
  }
  for (std::size_t i = 0; i < count; ++i) try {
      const auto made = together[i].get();
      BOOST_TEST(made.tokens == alone[i].tokens, "generation " << i << " of seed " << seed);
      BOOST_TEST(made.text == alone[i].text);
    } catch (const Error& error) {
      BOOST_TEST((left[i] && error.kind() == ErrorKind::aborted), error.what());
    }
}

// Only 8 share a step. The others do not wait until one of these ends.
BOOST_AUTO_TEST_CASE(twelve_take_turns) {
  const auto many = text::Model::load(context, file.path(), {.chats = 12});
  std::vector<std::size_t> first(12);
  std::size_t pieces = 0;
  std::vector<Future<text::Generated>> all;
  for (std::size_t i = 0; i < first.size(); ++i) {
    text::GenerateOptions own{.max_tokens = 40, .temperature = 1, .seed = i};
    own.on_text = [&, i](std::string_view) {
      ++pieces;
      if (first[i] == 0) first[i] = pieces;
    };
    all.push_back(many.generate("C", own));
  }
  for (auto& one : all) static_cast<void>(one.get());
  for (const auto at : first) BOOST_TEST(at < 80U);
}

// Each of these prompts has four pieces.
BOOST_AUTO_TEST_CASE(long_prompts_of_others_do_not_stop_a_text) {
  std::string order;
  std::vector<Future<text::Generated>> all;
  text::GenerateOptions first{.max_tokens = 100, .temperature = 1}, other{.max_tokens = 8};
  other.on_text = [&](std::string_view) { order += 'o'; };
  first.on_text = [&](std::string_view) {
    if (order.empty())
      for (int i = 0; i < 5; ++i) all.push_back(model.generate(std::string(100, 'A'), other));
    order += '1';
  };
  static_cast<void>(model.generate("C", first).get());
  for (auto& one : all) static_cast<void>(one.get());
  const auto begun = order.find('o');
  BOOST_TEST((begun == std::string::npos ? order.size() : begun) > 5U, order);
}

BOOST_AUTO_TEST_CASE(one_that_waits_begins_when_another_ends_and_may_leave) {
  const auto single = text::Model::load(context, file.path(), {.chats = 1});
  BOOST_TEST(single.chats() == 1U);
  std::string order;
  Cancellation cancellation;
  text::GenerateOptions first{.max_tokens = 12}, second, third{.max_tokens = 1};
  second.cancellation = cancellation;
  first.on_text = [&](std::string_view) {
    order += '1';
    cancellation.cancel();
  };
  second.on_text = [&](std::string_view) { order += '2'; };
  third.on_text = [&](std::string_view) { order += '3'; };
  auto one = single.generate("ABC", first), two = single.generate("ABC", second),
       three = single.generate("ABC", third);
  std::move(two).then([&](Result<text::Generated> result) {
    BOOST_TEST((!result && result.error().kind() == ErrorKind::aborted));
    order += 'x';
  });
  BOOST_TEST(one.get().tokens.size() == 12U);
  BOOST_TEST(three.get().tokens.size() == 1U);
  BOOST_TEST(order.find('2') == std::string::npos);
  BOOST_TEST(order.find("13") != std::string::npos, order);
  BOOST_TEST(order.starts_with("1x1"), order);  // it left before the first one ended
}

// Keys and values of two have room, of three not: the third one waits.
BOOST_AUTO_TEST_CASE(one_without_memory_waits_for_another) {
  constexpr std::uint64_t limit = std::uint64_t{1} << 26U;
  constexpr std::uint32_t cache = 2 * 2 * 2 * 160 * 16 * sizeof(float);
  auto own = runtime.create_context({.memory_limit = limit}).get();
  const auto narrow = text::Model::load(own, file.path(), {.chats = 4});
  const text::GenerateOptions one{.max_tokens = 1};
  static_cast<void>(narrow.generate("C", one).get());  // until then weights are being freed
  const auto rest = static_cast<std::uint32_t>(limit - own.stats().bytes) - 5 * cache / 2;
  const OperandDescriptor filler{DataType::uint8, {rest}};
  const auto taken = own.create_tensor(TensorDescriptor{filler, true, true, {}}).get();
  const text::GenerateOptions options{.max_tokens = 10};
  std::vector<Future<text::Generated>> all;
  for (int i = 0; i < 6; ++i) all.push_back(narrow.generate("ABC", options));
  const auto expected = model.generate("ABC", options).get().tokens;
  for (auto& one : all) BOOST_TEST(one.get().tokens == expected);
}

BOOST_AUTO_TEST_CASE(an_exception_of_a_callback_ends_its_own_generation) {
  const text::GenerateOptions plain{.max_tokens = 10};
  auto throws = plain;
  throws.on_text = [](std::string_view) { throw std::runtime_error("the client left"); };
  auto bad = model.generate("ABC", throws), good = model.generate("ABC", plain);
  BOOST_CHECK_THROW(static_cast<void>(bad.get()), Error);
  BOOST_TEST(good.get().tokens == model.generate("ABC", plain).get().tokens);
}

BOOST_AUTO_TEST_CASE(a_destroyed_context_rejects_all_at_once) {
  const auto narrow = text::Model::load(context, file.path(), {.chats = 2});
  auto own = context;
  text::GenerateOptions options{.max_tokens = 150, .temperature = 2};
  options.on_text = [&](std::string_view) { own.destroy(); };
  std::vector<Future<text::Generated>> all;
  for (int i = 0; i < 5; ++i) all.push_back(narrow.generate("ABC", options));
  for (auto& one : all) try {
      static_cast<void>(one.get());
      BOOST_TEST(false, "it was not rejected");
    } catch (const Error& error) {
      BOOST_TEST((error.root().kind() == ErrorKind::invalid_state), error.what());
    }
}

BOOST_AUTO_TEST_SUITE_END()
