// Dynamic dimensions of inputs (the proposal webnn #945): dispatches with tensors of any shapes
// that fit, and all that the contract promises of graphs.
#include <atomic>
#include <thread>

#include "tests/api/fixture.hpp"
#include "tests/patience.hpp"
#include "tests/rig.hpp"

using namespace polychron;
using namespace polychron::testing;
using stress::FaultPoint;

namespace {

ContextOptions with_feature() { return {.features = {"dynamic-dimensions"}}; }

/// y = x * w, for x of [batch, 3] and w of [3, columns]; columns is at most 4.
Future<Graph> product(const Context& context, const BuildOptions& options = {.label = "product"}) {
  GraphBuilder builder(context);
  const auto x = builder.dynamic_input("x", {DataType::float32, {"batch", 3}});
  const auto w = builder.dynamic_input("w", {DataType::float32, {3, {"columns", 4}}});
  return builder.build({{"y", builder.matmul(x, w, "times")}}, options);
}

struct Products : Embedder {
  explicit Products(ContextOptions options = with_feature(), const BuildOptions& build = {})
      : Embedder(options), graph(product(context, build).get()) {}
  Tensor ones(Shape shape) {
    auto t = tensor(DataType::float32, std::move(shape));
    context.write_tensor(t, std::vector<float>(t.byte_length() / 4, 1));
    return t;
  }
  void dispatch(const Tensor& x, const Tensor& w, const Tensor& y) {
    context.dispatch(graph, {{"x", x}, {"w", w}}, {{"y", y}}, {.label = "run"});
  }
  /// The error of a dispatch with tensors of these shapes.
  std::string misfit(Shape x, Shape w, Shape y) {
    const auto out = tensor(DataType::float32, std::move(y));
    dispatch(ones(std::move(x)), ones(std::move(w)), out);
    const auto read = context.read_tensor(out).take();
    return read ? "it fits" : read.error().what();
  }
  Graph graph;
};

void contains(const std::string& text, const std::string& part) {
  BOOST_TEST(text.find(part) != std::string::npos, "'" << text << "' lacks '" << part << "'");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(dynamic_dimensions)

BOOST_AUTO_TEST_CASE(one_graph_takes_tensors_of_any_shapes_that_fit) {
  Products p;
  for (const std::uint32_t batch : {1U, 5U, 2U, 5U})
    for (const std::uint32_t columns : {4U, 1U}) {
      const auto y = p.tensor(DataType::float32, {batch, columns});
      p.dispatch(p.ones({batch, 3}), p.ones({3, columns}), y);
      BOOST_TEST(p.read(y) == std::vector<float>(std::size_t{batch} * columns, 3));
    }
  BOOST_TEST(p.context.stats().builds == 6U);  // one for each set of shapes
}

BOOST_AUTO_TEST_CASE(shapes_are_known_as_far_as_they_can_be) {
  Embedder e(with_feature());
  GraphBuilder builder(e.context);
  const auto x = builder.dynamic_input("x", {DataType::float32, {2, "n", {"m", 9}, 4}});
  const auto shape = [](const Operand& operand) { return to_string(operand.dimensions()); };
  BOOST_TEST(shape(x) == "[2, n, m, 4]");
  BOOST_TEST((x.dimensions()[2] == Dimension("m", 9)));
  BOOST_TEST(shape(builder.transpose(x)) == "[4, m, n, 2]");
  BOOST_TEST(shape(builder.softmax(x, 3)) == "[2, n, m, 4]");
  const auto twice = builder.concat({x, x}, 1);
  BOOST_TEST(twice.dimensions()[1].is_dynamic());
  BOOST_TEST(twice.dimensions()[1].name != "n");
  BOOST_TEST(twice.dimensions()[1].name != "");
  BOOST_TEST((twice.dimensions()[1] != builder.concat({x, x}, 1).dimensions()[1]));
  BOOST_TEST(shape(builder.reduce_sum(x, {.axes = std::vector<std::uint32_t>{1, 2}})) == "[2, 4]");
  throws(ErrorKind::type_error, [&] { static_cast<void>(x.shape()); });
  throws(ErrorKind::type_error, [&] { static_cast<void>(x.descriptor()); });
  BOOST_TEST((x.data_type() == DataType::float32));
  const auto graph = builder.build({{"y", builder.relu(x)}}).get();
  BOOST_TEST(graph.is_dynamic());
  BOOST_TEST(to_string(graph.dynamic_inputs().at(0).second.shape) == "[2, n, m, 4]");
  BOOST_TEST(to_string(graph.dynamic_outputs().at(0).second.shape) == "[2, n, m, 4]");
  throws(ErrorKind::type_error, [&] { static_cast<void>(graph.inputs()); });
}

BOOST_AUTO_TEST_CASE(what_is_known_to_be_wrong_is_refused_by_the_builder) {
  Embedder e(with_feature());
  GraphBuilder builder(e.context);
  const auto x = builder.dynamic_input("x", {DataType::float32, {"n", 3}});
  try {
    builder.matmul(x, builder.dynamic_input("w", {DataType::float32, {4, "n"}}), "times");
    BOOST_ERROR("accepted");
  } catch (const Error& error) {
    contains(error.what(), "[times] matmul: operand 'b' has 4 rows");
  }
  try {
    builder.add(x, builder.dynamic_input("b", {DataType::float32, {"n", 2}}));
    BOOST_ERROR("accepted");
  } catch (const Error& error) {
    contains(error.what(), "[n, 2]");
  }
  const auto refused = [&](std::vector<Dimension> shape) {
    throws(ErrorKind::type_error, [&] {
      builder.dynamic_input("z", {DataType::float32, std::move(shape)});
    });
  };
  refused({""});
  refused({Dimension(0U)});
  refused({{"n", 5}});  // it has no max elsewhere
  refused({{"k", 0}});
  refused(std::vector<Dimension>(9, "n"));
  refused({"n", 3'000'000'000U});
  builder.dynamic_input("z", {DataType::float32, {Dimension::unnamed(), Dimension::unnamed(7)}});
  throws(ErrorKind::type_error, [&] { builder.dynamic_input("z", {DataType::float32, {"n"}}); });
}

BOOST_AUTO_TEST_CASE(a_context_needs_the_feature) {
  Embedder e;
  GraphBuilder builder(e.context);
  throws(ErrorKind::not_supported, [&] { builder.dynamic_input("x", {DataType::float32, {"n"}}); });
  rejects(ErrorKind::not_supported, e.runtime.create_context({.features = {"dynamic"}}));
}

BOOST_AUTO_TEST_CASE(tensors_that_do_not_fit_make_the_outputs_errored) {
  Products p;
  contains(p.misfit({2, 3}, {3, 5}, {2, 5}),
           "dimension 'columns' is 5 in input 'w', expected at most 4");
  contains(p.misfit({2, 4}, {3, 1}, {2, 1}), "input 'x' has shape [2, 4], expected [batch, 3]");
  contains(p.misfit({2, 3, 1}, {3, 1}, {2, 1}), "expected [batch, 3]");
  contains(p.misfit({2, 3}, {3, 4}, {2, 3}), "output 'y': expected float32 [2, 4]");
  const auto error = p.misfit({2, 3}, {3, 4}, {2, 3});
  contains(error, "dispatch 'run'");
  BOOST_TEST(p.misfit({2, 3}, {3, 4}, {2, 4}) == "it fits");
}

BOOST_AUTO_TEST_CASE(equal_names_have_equal_sizes) {
  Embedder e(with_feature());
  GraphBuilder builder(e.context);
  const auto a = builder.dynamic_input("a", {DataType::float32, {"n"}});
  const auto b = builder.dynamic_input("b", {DataType::float32, {"n"}});
  const auto graph = builder.build({{"y", builder.add(a, b)}}).get();
  const auto out = e.tensor({0, 0});
  e.context.dispatch(graph, {{"a", e.tensor({1, 2})}, {"b", e.tensor({3})}}, {{"y", out}});
  const auto read = e.context.read_tensor(out).take();
  BOOST_REQUIRE(!read);
  contains(read.error().what(), "dimension 'n' is 1 in input 'b', expected 2 as in input 'a'");
  e.context.dispatch(graph, {{"a", e.tensor({1, 2})}, {"b", e.tensor({3, 4})}}, {{"y", out}});
  BOOST_TEST(e.read(out) == (std::vector<float>{4, 6}));
}

BOOST_AUTO_TEST_CASE(a_check_that_nobody_could_make_before_comes_with_the_dispatch) {
  Embedder e(with_feature());
  GraphBuilder builder(e.context);
  const auto a = builder.dynamic_input("a", {DataType::float32, {"rows"}});
  const auto b = builder.dynamic_input("b", {DataType::float32, {"columns"}});
  const auto graph = builder.build({{"y", builder.add(a, b, "sum")}}).get();
  const auto out = e.tensor({0, 0});
  const auto run = [&](std::vector<float> x, std::vector<float> y) {
    e.context.dispatch(graph, {{"a", e.tensor(x)}, {"b", e.tensor(y)}}, {{"y", out}});
    return e.context.read_tensor(out).take();
  };
  const auto read = run({1, 2, 3}, {1, 2});
  BOOST_REQUIRE(!read);
  contains(read.error().what(), "[sum] add");
  contains(read.error().what(), "where 'rows' is 3 and 'columns' is 2");
  BOOST_TEST(Embedder::floats(run({1}, {1, 2}).value()) == (std::vector<float>{2, 3}));
}

BOOST_AUTO_TEST_CASE(a_reshape_keeps_dynamic_dimensions_by_name) {
  Embedder e(with_feature());
  GraphBuilder builder(e.context);
  const auto x = builder.dynamic_input("x", {DataType::float32, {"n", 6}});
  const auto heads = builder.dynamic_reshape(x, {2, "n", 3}, "heads");
  BOOST_TEST(to_string(heads.dimensions()) == "[2, n, 3]");
  const auto twice = builder.concat({heads, heads}, 1);
  const auto derived = twice.dimensions()[1];
  const auto flat = builder.dynamic_reshape(twice, {derived, 6});
  throws(ErrorKind::type_error, [&] { builder.dynamic_reshape(x, {2, "n", 4}); });
  throws(ErrorKind::type_error, [&] { builder.dynamic_reshape(x, {2, "m", 3}); });
  throws(ErrorKind::type_error, [&] { builder.dynamic_reshape(x, {2, 0x8000'0000U, 3}); });
  const auto graph = builder.build({{"heads", heads}, {"flat", flat}}).get();
  for (const std::uint32_t n : {1U, 4U}) {
    const auto in = e.tensor(DataType::float32, {n, 6});
    const auto out = e.tensor(DataType::float32, {2, n, 3});
    const auto all = e.tensor(DataType::float32, {2 * n, 6});
    e.context.write_tensor(in, std::vector<float>(n * 6, 5));
    e.context.dispatch(graph, {{"x", in}}, {{"heads", out}, {"flat", all}});
    BOOST_TEST(e.read(out) == std::vector<float>(n * 6, 5));
    BOOST_TEST(e.read(all) == std::vector<float>(n * 12, 5));
  }
}

BOOST_AUTO_TEST_CASE(names_and_types_are_checked_at_once) {
  Products p;
  const auto y = p.tensor(DataType::float32, {1, 1}), x = p.ones({1, 3}), w = p.ones({3, 1});
  throws(ErrorKind::type_error, [&] { p.context.dispatch(p.graph, {{"x", x}}, {{"y", y}}); });
  throws(ErrorKind::type_error, [&] { p.dispatch(x, p.tensor(DataType::int32, {3, 1}), y); });
  throws(ErrorKind::type_error, [&] { p.dispatch(x, w, w); });
  throws(ErrorKind::type_error, [&] {
    NamedBuffers inputs, outputs;
    inputs.emplace_back("x", Buffer(12));
    inputs.emplace_back("w", Buffer(12));
    outputs.emplace_back("y", Buffer(4));
    static_cast<void>(p.context.compute(p.graph, std::move(inputs), std::move(outputs)));
  });
  p.context.write_tensor(y, std::vector<float>{7});
  BOOST_TEST(p.read(y) == std::vector<float>{7});
}

BOOST_AUTO_TEST_CASE(a_dispatch_of_new_shapes_keeps_its_place_in_the_order) {
  Products p;
  const auto w = p.ones({3, 2});
  std::vector<Future<Buffer>> reads;
  std::vector<Tensor> kept;  // a destroyed tensor rejects its reads
  for (std::uint32_t batch = 1; batch <= 8; ++batch) {
    const auto x = p.ones({batch, 3}), y = p.tensor(DataType::float32, {batch, 2});
    p.dispatch(x, w, y);
    p.context.write_tensor(x, std::vector<float>(batch * 3, 100));  // too late for the dispatch
    p.dispatch(p.ones({2, 3}), w, p.tensor(DataType::float32, {2, 2}));
    reads.push_back(p.context.read_tensor(y));
    kept.push_back(y);
    p.context.write_tensor(y, std::vector<float>(batch * 2, 200));  // too late for the read
  }
  for (auto& read : reads)
    for (const float value : Embedder::floats(std::move(read).get())) BOOST_TEST(value == 3);
}

BOOST_AUTO_TEST_CASE(shapes_of_outputs_are_told_without_a_run) {
  Products p;
  BOOST_TEST(
      (p.graph.compute_shapes({{"w", {3, 2}}, {"x", {5, 3}}}) == NamedShapes{{"y", {5, 2}}}));
  BOOST_TEST(p.context.stats().builds == 0U);
  const auto refused = [&](const NamedShapes& shapes) {
    throws(ErrorKind::type_error, [&] { static_cast<void>(p.graph.compute_shapes(shapes)); });
    rejects(ErrorKind::type_error, p.graph.prepare(shapes));
  };
  refused({{"x", {5, 3}}});
  refused({{"x", {5, 3}}, {"w", {3, 2}}, {"v", {1}}});
  refused({{"x", {5, 3}}, {"w", {3, 5}}});
  refused({{"x", {5, 3}}, {"w", {3}}});
  refused({{"x", {0, 3}}, {"w", {3, 2}}});
  const auto fixed = p.times(2);
  BOOST_TEST((fixed.compute_shapes({{"in", {1}}}) == NamedShapes{{"out", {1}}}));
  throws(ErrorKind::type_error, [&] { static_cast<void>(fixed.compute_shapes({{"in", {2}}})); });
  fixed.prepare({{"in", {1}}}).get();
  rejects(ErrorKind::type_error, fixed.prepare({{"in", {2}}}));
}

BOOST_AUTO_TEST_CASE(prepared_shapes_are_compiled_once) {
  Products p;
  const NamedShapes shapes{{"x", {5, 3}}, {"w", {3, 2}}};
  auto first = p.graph.prepare(shapes), second = p.graph.prepare(shapes);
  first.get();
  second.get();
  p.graph.prepare(shapes).get();
  const auto y = p.tensor(DataType::float32, {5, 2});
  p.dispatch(p.ones({5, 3}), p.ones({3, 2}), y);
  BOOST_TEST(p.read(y) == std::vector<float>(10, 3));
  BOOST_TEST(p.context.stats().builds == 1U);
}

BOOST_AUTO_TEST_CASE(the_least_recently_used_shapes_go) {
  Products p(with_feature(), {.most_shapes = 2});
  const auto run = [&](std::uint32_t batch) {
    const auto y = p.tensor(DataType::float32, {batch, 1});
    p.dispatch(p.ones({batch, 3}), p.ones({3, 1}), y);
    BOOST_TEST(p.read(y) == std::vector<float>(batch, 3));
    return p.context.stats().builds;
  };
  BOOST_TEST(run(1) == 1U);
  BOOST_TEST(run(2) == 2U);
  BOOST_TEST(run(1) == 2U);
  BOOST_TEST(run(3) == 3U);  // 2 goes
  BOOST_TEST(run(1) == 3U);
  BOOST_TEST(run(2) == 4U);
  BOOST_TEST(comes([&] { return p.context.stats().graphs == 2U; }));
  rejects(ErrorKind::type_error, product(p.context, {.most_shapes = 0}));
}

BOOST_AUTO_TEST_CASE(a_destroyed_graph_runs_what_was_dispatched) {
  Products p;
  const auto y = p.tensor(DataType::float32, {2, 2});
  p.dispatch(p.ones({2, 3}), p.ones({3, 2}), y);
  auto prepared = p.graph.prepare({{"x", {9, 3}}, {"w", {3, 2}}});
  p.graph.destroy();
  p.graph.destroy();
  BOOST_TEST(p.read(y) == std::vector<float>(4, 3));
  throws(ErrorKind::invalid_state, [&] { p.dispatch(p.ones({2, 3}), p.ones({3, 2}), y); });
  throws(ErrorKind::invalid_state, [&] { static_cast<void>(p.graph.compute_shapes({})); });
  rejects(ErrorKind::invalid_state, p.graph.prepare({{"x", {9, 3}}, {"w", {3, 2}}}));
  const auto result = prepared.take();
  if (!result) BOOST_TEST((result.error().kind() == ErrorKind::invalid_state));
  BOOST_TEST(comes([&] { return p.context.stats().graphs == 0U; }));
}

BOOST_AUTO_TEST_CASE(memory_returns_with_the_graph) {
  Embedder e(with_feature());
  const auto before = e.context.stats().bytes;
  {
    GraphBuilder builder(e.context);
    const auto x = builder.dynamic_input("x", {DataType::float32, {"n", 64}});
    const auto w = builder.constant({DataType::float32, {64, 64}}, std::vector<float>(4096, 1));
    auto graph = builder.build({{"y", builder.matmul(x, w)}}).get();
    builder.destroy();
    BOOST_TEST(graph.memory().constants == 0U);
    graph.prepare({{"x", {3, 64}}}).get();
    BOOST_TEST(graph.memory().constants >= 4096U * 4);
    BOOST_TEST(e.context.stats().bytes > before);
  }
  BOOST_TEST(comes([&] { return e.context.stats().bytes == before; }));
}

BOOST_AUTO_TEST_CASE(the_end_of_the_context_rejects_what_is_pending) {
  Products p;
  auto prepared = p.graph.prepare({{"x", {9, 3}}, {"w", {3, 2}}});
  const auto y = p.tensor(DataType::float32, {2, 2});
  p.dispatch(p.ones({2, 3}), p.ones({3, 2}), y);
  auto read = p.context.read_tensor(y);
  p.context.destroy();
  // Either may have come before the end; then it is a value.
  if (const auto result = prepared.take(); !result)
    BOOST_TEST((result.error().kind() == ErrorKind::invalid_state));
  if (const auto result = read.take(); !result)
    BOOST_TEST((result.error().kind() == ErrorKind::invalid_state));
  rejects(ErrorKind::invalid_state, p.graph.prepare({{"x", {9, 3}}, {"w", {3, 2}}}));
  throws(ErrorKind::invalid_state, [&] { p.dispatch(y, y, y); });
}

BOOST_AUTO_TEST_CASE(a_compilation_that_fails_makes_the_outputs_errored) {
  Rig rig(with_feature());
  GraphBuilder builder(rig.context);
  const auto x = builder.dynamic_input("in", {DataType::float32, {"n"}});
  const auto graph = builder.build({{"out", builder.add(x, x)}}, {.label = "double"}).get();
  const auto in = rig.tensor(), out = rig.tensor("out");
  rig.write(in, 4);
  Gate gate;
  rig.faults->fail(FaultPoint::compile, 1,
                   {.kind = ErrorKind::not_supported, .until = gate.latch()});
  rig.dispatch(graph, in, out);  // and returns, while the compiler has not begun or waits
  auto first = rig.context.read_tensor(out);
  rig.dispatch(graph, in, out);
  auto second = rig.context.read_tensor(out);
  BOOST_TEST(!first.ready());
  gate.open();
  for (auto* read : {&first, &second}) {
    const auto result = read->take();
    BOOST_REQUIRE(!result);
    contains(result.error().what(), "graph 'double' is invalid");
    BOOST_TEST((result.error().root().kind() == ErrorKind::not_supported));
  }
  const auto other = rig.context.create_tensor(Rig::floats(2)).get();
  const auto more = rig.context.create_tensor(Rig::floats(2)).get();
  rig.write(other, 5);
  rig.dispatch(graph, other, more);  // other shapes are fine
  BOOST_TEST(rig.read(more) == 10);
}

BOOST_AUTO_TEST_CASE(a_shortage_passes) {
  Rig rig(with_feature());
  GraphBuilder builder(rig.context);
  const auto x = builder.dynamic_input("in", {DataType::float32, {"n"}});
  const auto graph = builder.build({{"out", builder.add(x, x)}}).get();
  const auto in = rig.tensor(), out = rig.tensor();
  rig.write(in, 4);
  rig.faults->fail(FaultPoint::compile, 1, {.kind = ErrorKind::out_of_memory});
  refuses(ErrorKind::out_of_memory, graph.prepare({{"in", {4}}}));
  rig.dispatch(graph, in, out);
  BOOST_TEST(rig.read(out) == 8);
}

BOOST_AUTO_TEST_CASE(threads_share_a_graph) {
  Products p(with_feature(), {.most_shapes = 3});
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (std::uint32_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::uint32_t i = 0; i < 12; ++i) {
        const auto batch = 1 + (t * 5 + i * 7) % 6;
        const auto y = p.tensor(DataType::float32, {batch, 2});
        p.dispatch(p.ones({batch, 3}), p.ones({3, 2}), y);
        if (p.read(y) == std::vector<float>(batch * 2, 3)) ++right;
      }
    });
  for (auto& thread : threads) thread.join();
  BOOST_TEST(right == 48);
}

BOOST_AUTO_TEST_SUITE_END()
