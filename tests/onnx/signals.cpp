// Windows and transforms, pixels at positions, optimizers, n-grams.
#include <cmath>
#include <limits>
#include <numbers>

#include "tests/onnx/fixture.hpp"

using namespace onnx_tests;
using polychron::ErrorKind;

BOOST_AUTO_TEST_SUITE(signals)

BOOST_AUTO_TEST_CASE(windows) {
  const auto window = [](const char* op, std::int64_t periodic) {
    return Model(17)
        .node(op, {"n"}, {"y"}, {{"periodic", periodic}})
        .initializer("n", longs({}, {4}));
  };
  check(window("HannWindow", 1), {}, {{"y", floats({4}, {0, 0.5, 1, 0.5})}});
  check(window("HannWindow", 0), {}, {{"y", floats({4}, {0, 0.75, 0.75, 0})}});
  check(window("BlackmanWindow", 1), {}, {{"y", floats({4}, {0, 0.34, 1, 0.34})}});
  cannot(Model(17).node("HannWindow", {"n"}, {"y"}), {{"n", longs({}, {4})}},
         ErrorKind::not_supported, "input 0 ('n') must be known when it is imported");
}

BOOST_AUTO_TEST_CASE(transforms) {
  // A cosine of one turn: half of its length at 1 and at the last.
  const auto x = floats({1, 4, 1}, {1, 0, -1, 0});
  const auto whole = floats({1, 4, 2}, {0, 0, 2, 0, 0, 0, 2, 0});
  check(Model(17).node("DFT", {"x"}, {"y"}), {{"x", x}}, {{"y", whole}});
  check(Model(17).node("DFT", {"x"}, {"y"}, {{"onesided", 1}}), {{"x", x}},
        {{"y", floats({1, 3, 2}, {0, 0, 2, 0, 0, 0})}});
  check(Model(17).node("DFT", {"x"}, {"y"}, {{"inverse", 1}}), {{"x", whole}},
        {{"y", floats({1, 4, 2}, {1, 0, 0, 0, -1, 0, 0, 0})}});
  check(Model(17).node("STFT", {"x", "step", "w"}, {"y"}).initializer("step", longs({}, {2})),
        {{"x", floats({1, 4, 1}, {1, 2, 3, 4})}, {"w", floats({2}, {1, 10})}},
        {{"y", floats({1, 2, 2, 2}, {21, 0, -19, 0, 43, 0, -37, 0})}});
}

// [batch, length] is the same as [batch, length, 1].
BOOST_AUTO_TEST_CASE(signals_without_a_last_dimension) {
  const auto flat = floats({2, 4}, {1, 0, -1, 0, 1, 2, 3, 4});
  const auto x = floats({2, 4, 1}, flat.data);
  const auto spectra = floats({2, 4, 2}, {0, 0, 2, 0, 0, 0, 2, 0, 10, 0, -2, 2, -2, 0, -2, -2});
  for (const std::int64_t opset : {17, 20})
    for (const auto& signal : {flat, x})
      check(Model(opset).node("DFT", {"x"}, {"y"}), {{"x", signal}}, {{"y", spectra}});
  for (const auto& signal : {flat, x}) {
    const Values values{{"x", signal}, {"w", floats({2}, {1, 10})}};
    check(Model(17).node("STFT", {"x", "step", "w"}, {"y"}).initializer("step", longs({}, {2})),
          values,
          {{"y", floats({2, 2, 2, 2}, {1, 0, 1, 0, -1, 0, -1, 0, 21, 0, -19, 0, 43, 0, -37, 0})}});
  }
  // The length of a signal for STFT may be 2. For DFT two numbers are a complex one.
  check(Model(17).node("STFT", {"x", "step", "w"}, {"y"}).initializer("step", longs({}, {2})),
        {{"x", floats({1, 2}, {1, 2})}, {"w", floats({2}, {1, 10})}},
        {{"y", floats({1, 1, 2, 2}, {21, 0, -19, 0})}});
  cannot(Model(17).node("DFT", {"x"}, {"y"}), {{"x", floats({2, 2}, {1, 2, 3, 4})}},
         ErrorKind::bad_data, "axis 1 is that of the parts");
  for (const std::string op : {"DFT", "STFT"})
    cannot(Model(17).node(op, {"x", "n"}, {"y"}).initializer("n", longs({}, {2})),
           {{"x", floats({4}, {1, 2, 3, 4})}}, ErrorKind::bad_data, "a signal of shape [4]");
}

BOOST_AUTO_TEST_CASE(transforms_back_from_half_a_spectrum) {
  const auto back = [](const Value& spectrum, const Attributes& more = {}) {
    Attributes attributes{{"inverse", 1}, {"onesided", 1}};
    attributes.insert(attributes.end(), more.begin(), more.end());
    return Model(17).node("DFT", {"x", "n"}, {"y"}, attributes).initializer("n", spectrum);
  };
  const auto without_length =
      Model(17).node("DFT", {"x"}, {"y"}, {{"inverse", 1}, {"onesided", 1}});
  // Of 1, 2, 3, 4, and of 1, 2, 3.
  const auto four = floats({1, 3, 2}, {10, 0, -2, 2, -2, 0});
  const auto three = floats({1, 2, 2}, {6, 0, -1.5, std::sqrt(3) / 2});
  check(without_length, {{"x", four}}, {{"y", floats({1, 4, 1}, {1, 2, 3, 4})}});
  check(back(longs({}, {4})), {{"x", four}}, {{"y", floats({1, 4, 1}, {1, 2, 3, 4})}});
  check(back(longs({}, {3})), {{"x", three}}, {{"y", floats({1, 3, 1}, {1, 2, 3})}});
  // A shorter length takes the first bins, and a longer one fills up with zeros.
  check(back(longs({}, {2})), {{"x", four}}, {{"y", floats({1, 2, 1}, {4, 6})}});
  check(back(longs({}, {8})), {{"x", floats({1, 1, 2}, {8, 0})}},
        {{"y", floats({1, 8, 1}, {1, 1, 1, 1, 1, 1, 1, 1})}});
  // The imaginary parts of the first bin and of the middle one have no place in a real signal.
  check(without_length, {{"x", floats({1, 3, 2}, {10, 7, -2, 2, -2, 5})}},
        {{"y", floats({1, 4, 1}, {1, 2, 3, 4})}});
  // Along another axis, two signals at once.
  check(back(longs({}, {4}), {{"axis", 0}}),
        {{"x", floats({3, 2, 2}, {10, 0, 10, 0, -2, 2, -2, -2, -2, 0, -2, 0})}},
        {{"y", floats({4, 2, 1}, {1, 1, 2, 4, 3, 3, 4, 2})}});
  cannot(without_length, {{"x", floats({1, 3, 1}, {10, -2, -2})}}, ErrorKind::bad_data,
         "half a spectrum must be complex");
  cannot(without_length, {{"x", floats({1, 1, 2}, {10, 0})}}, ErrorKind::bad_data,
         "a spectrum of one bin, and no length");
}

BOOST_AUTO_TEST_CASE(pixels_at_positions) {
  const auto x = floats({1, 1, 2, 2}, {1, 2, 3, 4});
  const auto sample = [](const Attributes& attributes) {
    return Model(16).node("GridSample", {"x", "g"}, {"y"}, attributes);
  };
  const auto grid = floats({1, 1, 3, 2}, {0, 0, -1, -1, 3, 0});
  check(sample({{"align_corners", 1}}), {{"x", x}, {"g", grid}},
        {{"y", floats({1, 1, 1, 3}, {2.5, 1, 0})}});
  check(sample({{"align_corners", 1}, {"padding_mode", "border"}}), {{"x", x}, {"g", grid}},
        {{"y", floats({1, 1, 1, 3}, {2.5, 1, 3})}});
  check(sample({{"mode", "nearest"}, {"padding_mode", "reflection"}}),
        {{"x", x}, {"g", floats({1, 1, 1, 2}, {1.4, -0.5})}}, {{"y", floats({1, 1, 1, 1}, {2})}});
  cannot(sample({{"mode", "best"}}), {{"x", x}, {"g", grid}}, ErrorKind::bad_data, "'best'");
}

BOOST_AUTO_TEST_CASE(places_in_volumes) {
  const auto sample = [](const Attributes& attributes) {
    return Model(20).node("GridSample", {"x", "g"}, {"y"}, attributes);
  };
  // Depth, height, width: 2, 1, 3. A position is x, y, z.
  const auto x = floats({1, 2, 2, 1, 3}, {1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60});
  const auto grid = floats({1, 1, 1, 3, 3}, {0, 0, 0, -1, 0, 1, 0.5, 0, -1});
  check(sample({{"align_corners", 1}}), {{"x", x}, {"g", grid}},
        {{"y", floats({1, 2, 1, 1, 3}, {3.5, 4, 2.5, 35, 40, 25})}});
  check(sample({{"align_corners", 1}, {"mode", "nearest"}}),
        {{"x", x}, {"g", floats({1, 1, 1, 1, 3}, {0.9, 0, -0.9})}},
        {{"y", floats({1, 2, 1, 1, 1}, {3, 30})}});
  cannot(sample({}), {{"x", x}, {"g", floats({1, 1, 1, 2}, {0, 0})}}, ErrorKind::bad_data,
         "a grid of shape [1, 1, 1, 2]");
  cannot(sample({}), {{"x", ramp({1, 1, 2})}, {"g", grid}}, ErrorKind::not_supported,
         "an image of shape [1, 1, 2]");
}

BOOST_AUTO_TEST_CASE(positions_of_pixels) {
  const auto grid = [](const Ints& size, std::int64_t align) {
    return Model(20)
        .node("AffineGrid", {"t", "s"}, {"y"}, {{"align_corners", align}})
        .initializer("s", list(size));
  };
  // x and y exchanged, and x moved by 10.
  const auto theta = floats({1, 2, 3}, {0, 1, 10, 1, 0, 0});
  check(grid({1, 1, 1, 2}, 0), {{"t", theta}}, {{"y", floats({1, 1, 2, 2}, {10, -0.5, 10, 0.5})}});
  check(grid({1, 1, 3, 2}, 1), {{"t", theta}},
        {{"y", floats({1, 3, 2, 2}, {9, -1, 9, 1, 10, -1, 10, 1, 11, -1, 11, 1})}});
  // One pixel is in the middle.
  check(grid({1, 1, 1, 2}, 1), {{"t", theta}}, {{"y", floats({1, 1, 2, 2}, {10, -1, 10, 1})}});
  check(grid({1, 1, 2, 1, 1}, 0), {{"t", floats({1, 3, 4}, {1, 0, 0, 0, 0, 1, 0, 5, 0, 0, 1, 0})}},
        {{"y", floats({1, 2, 1, 1, 3}, {0, 5, -0.5, 0, 5, 0.5})}});
  cannot(grid({1, 1, 1, 2, 2}, 0), {{"t", theta}}, ErrorKind::bad_data,
         "matrices of shape [1, 2, 3] for an image of [1, 1, 1, 2, 2]");
  cannot(grid({1, 1, 100'000, 100'000}, 0), {{"t", theta}}, ErrorKind::not_supported,
         "a grid of [100000, 100000]");
  cannot(grid({1, 1}, 0), {{"t", theta}}, ErrorKind::bad_data, "for an image of [1, 1]");
}

BOOST_AUTO_TEST_CASE(regions_of_an_image) {
  // One bin with one sample in the middle of the whole image.
  check(Model(16).node("RoiAlign", {"x", "r", "b"}, {"y"}, {{"sampling_ratio", 1}}),
        {{"x", floats({1, 1, 2, 2}, {1, 2, 3, 4})},
         {"r", floats({1, 4}, {0, 0, 2, 2})},
         {"b", longs({1}, {0})}},
        {{"y", floats({1, 1, 1, 1}, {2.5})}});
}

BOOST_AUTO_TEST_CASE(optimizers_are_refused) {
  auto model = Model(13).node("Momentum", {"rate", "t", "x", "g", "v"}, {"y", "w"});
  model.graph().mutable_node(0)->set_domain("ai.onnx.preview.training");
  const auto x = floats({1}, {1});
  cannot(model, {{"rate", x}, {"t", longs({}, {3})}, {"x", x}, {"g", x}, {"v", x}},
         ErrorKind::not_supported, "of domain 'ai.onnx.preview.training' it knows none");
}

BOOST_AUTO_TEST_CASE(mel_weights_want_frequencies) {
  // Found by fuzzing: no number, which has no place in a row.
  const auto mel = [](double low, double high) {
    return Model(17)
        .node("MelWeightMatrix", {"bins", "length", "rate", "low", "high"}, {"y"})
        .initializer("bins", longs({}, {2}))
        .initializer("length", longs({}, {8}))
        .initializer("rate", longs({}, {8000}))
        .initializer("low", floats({}, {low}))
        .initializer("high", floats({}, {high}));
  };
  // At 0, 427, 1114, 2220 and 4000 hertz: floor(9 * hertz / 8000) are 0, 0, 1, 2 and 4.
  check(mel(0, 4000), {}, {{"y", floats({5, 2}, {1, 0, 0, 1, 0, 0, 0, 0, 0, 0})}});
  const auto infinity = std::numeric_limits<double>::infinity();
  for (const auto& [low, high] : std::vector<std::pair<double, double>>{
           {std::nan(""), 4000}, {0, std::nan("")}, {-1, 4000}, {4000, 0}, {0, infinity}})
    cannot(mel(low, high), {}, ErrorKind::bad_data, "the edges are not valid frequencies");
}

BOOST_AUTO_TEST_CASE(n_grams) {
  const Attributes attributes{{"mode", "TF"},
                              {"min_gram_length", 1},
                              {"max_gram_length", 2},
                              {"max_skip_count", 1},
                              {"ngram_counts", Ints{0, 2}},
                              {"ngram_indexes", Ints{0, 1, 2}},
                              {"pool_int64s", Ints{5, 6, 5, 7}}};
  // 5, 6, and 5 followed by 7, next to it or after one other.
  check(Model(9).node("TfIdfVectorizer", {"x"}, {"y"}, attributes),
        {{"x", longs({5}, {5, 7, 5, 6, 7})}}, {{"y", floats({3}, {2, 1, 2})}});
}

BOOST_AUTO_TEST_SUITE_END()
