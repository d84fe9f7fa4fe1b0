// Initializers in files beside the model, and the paths that must not be followed.
#include <chrono>
#include <filesystem>

#include "tests/onnx/fixture.hpp"
#include "tests/onnx/folder.hpp"

using namespace onnx_tests;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(external_data)

namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

/// y = x + w, w being [4] with its data elsewhere.
Model model(const Entries& entries) {
  Model model;
  model.node("Add", {"x", "w"}, {"y"}).input("x", ramp({4})).output("y");
  auto& tensor = *model.graph().add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(proto::TensorProto::FLOAT);
  tensor.add_dims(4);
  tensor.set_data_location(proto::TensorProto::EXTERNAL);
  for (const auto& [key, value] : entries) {
    auto& entry = *tensor.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }
  return model;
}

void refused(const Folder& folder, const Entries& entries, const std::string& words) {
  folder.write("model/m.onnx", model(entries).bytes());
  try {
    polychron::onnx::load(folder.root / "model/m.onnx");
    BOOST_ERROR("it was taken, where an error with '" << words << "' was expected");
  } catch (const polychron::Error& error) {
    BOOST_TEST(to_string(error.kind()) == "bad_data");
    const std::string what = error.what();
    BOOST_TEST(what.find(words) != std::string::npos, what);
    BOOST_TEST(what.find("initializer 'w'") != std::string::npos, what);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(is_read_from_its_place) {
  const Folder folder;
  const auto w = floats({4}, {10, 20, 30, 40});
  // An odd offset, so that the bytes are not aligned in the file.
  folder.write("model/weights/w.bin", "abc" + to_bytes(w) + "rest");
  const auto whole = model({{"location", "weights/w.bin"}, {"offset", "3"}, {"length", "16"}});
  folder.write("model/m.onnx", whole.bytes());
  const Values expected{{"y", floats({4}, {10, 21, 32, 43})}};
  const auto loaded = polychron::onnx::load(folder.root / "model/m.onnx");
  BOOST_TEST(loaded.summary().initializer_bytes == 16U);
  compare(build(loaded), {{"x", ramp({4})}}, expected, 0);
  // From memory, with the folder given.
  const auto bytes = whole.bytes();
  const auto again = polychron::onnx::load(std::as_bytes(std::span(bytes)), folder.root / "model");
  compare(build(again), {{"x", ramp({4})}}, expected, 0);
  // Without a length: as many bytes as the shape takes.
  folder.write("model/weights/w.bin", to_bytes(w));
  folder.write("model/m.onnx", model({{"location", "weights/w.bin"}}).bytes());
  compare(build(polychron::onnx::load(folder.root / "model/m.onnx")), {{"x", ramp({4})}}, expected,
          0);
}

BOOST_AUTO_TEST_CASE(paths_that_lead_elsewhere) {
  const Folder folder;
  folder.write("secret.bin", std::string(16, 's'));
  fs::create_symlink(folder.root / "secret.bin", folder.root / "model/link.bin");
  fs::create_directory_symlink(folder.root, folder.root / "model/up");
  refused(folder, {{"location", (folder.root / "secret.bin").string()}}, "relative to the model");
  refused(folder, {{"location", "../secret.bin"}}, "'..' is not allowed");
  refused(folder, {{"location", "weights/../../secret.bin"}}, "'..' is not allowed");
  refused(folder, {{"location", "link.bin"}}, "leads out of the model's folder");
  refused(folder, {{"location", "up/secret.bin"}}, "leads out of the model's folder");
  refused(folder, {{"location", "weights"}}, "not a regular file");
  refused(folder, {{"location", ""}}, "relative to the model");
  refused(folder, {}, "relative to the model");
  refused(folder, {{"location", "none.bin"}}, "No such file");
  refused(folder, {{"location", std::string("w\0.bin", 6)}}, "relative to the model");
}

BOOST_AUTO_TEST_CASE(a_link_inside_the_folder_is_followed) {
  const Folder folder;
  folder.write("model/weights/w.bin", to_bytes(ramp({4})));
  fs::create_symlink("weights/w.bin", folder.root / "model/w.bin");
  folder.write("model/m.onnx", model({{"location", "w.bin"}}).bytes());
  BOOST_TEST(polychron::onnx::load(folder.root / "model/m.onnx").summary().initializers == 1U);
}

BOOST_AUTO_TEST_CASE(ranges_that_are_not_there) {
  const Folder folder;
  folder.write("model/w.bin", std::string(20, 'w'));
  const std::string at = "w.bin";
  refused(folder, {{"location", at}, {"offset", "5"}}, "16 bytes at 5 are asked of its 20");
  refused(folder, {{"location", at}, {"offset", "18446744073709551615"}}, "are asked of its 20");
  refused(folder, {{"location", at}, {"length", "20"}},
          "20 bytes of external data where shape [4]");
  refused(folder, {{"location", at}, {"offset", "-1"}}, "'offset' is '-1'");
  refused(folder, {{"location", at}, {"length", "16x"}}, "'length' is '16x'");
  refused(folder, {{"location", at}, {"length", "99999999999999999999"}}, "'length' is");
}

BOOST_AUTO_TEST_CASE(ranges_that_overlap) {
  const Folder folder;
  folder.write("model/w.bin", std::string(20, 'w'));
  const auto with = [](const std::string& second) {
    auto both = model({{"location", "w.bin"}, {"offset", "0"}});
    auto copy = model({{"location", "w.bin"}, {"offset", second}}).graph().initializer(0);
    copy.set_name("v");
    *both.graph().add_initializer() = copy;
    return both;
  };
  folder.write("model/same.onnx", with("0").bytes());
  BOOST_TEST(polychron::onnx::load(folder.root / "model/same.onnx").summary().initializers == 2U);
  folder.write("model/overlap.onnx", with("4").bytes());
  BOOST_CHECK_THROW(polychron::onnx::load(folder.root / "model/overlap.onnx"), polychron::Error);
}

// load() reads no external data. An import reads each file once, and only those that the outputs
// need.
BOOST_AUTO_TEST_CASE(is_read_when_an_import_needs_it) {
  const Folder folder;
  const auto file = folder.root / "model/w.bin";
  const auto w = floats({4}, {10, 20, 30, 40});
  const auto needed = model({{"location", "w.bin"}});
  auto spare = needed;
  *spare.graph().mutable_node(0)->mutable_input(1) = "x";
  const auto loaded = [&](const Model& whole) {
    folder.write("model/w.bin", to_bytes(w));
    folder.write("model/m.onnx", whole.bytes());
    return polychron::onnx::load(folder.root / "model/m.onnx");
  };
  const auto refuses = [](const polychron::onnx::Model& loaded) {
    BOOST_CHECK_EXCEPTION(build(loaded), polychron::Error, [](const polychron::Error& error) {
      const std::string what = error.what();
      BOOST_TEST(what.find("initializer 'w'") != std::string::npos, what);
      BOOST_TEST(
          what.find("'w.bin': it has changed since the model was loaded") != std::string::npos,
          what);
      return error.kind() == polychron::ErrorKind::bad_data;
    });
  };
  const auto late = loaded(needed);
  const auto time = fs::last_write_time(file);
  fs::last_write_time(file, time + std::chrono::seconds(1));
  refuses(late);
  folder.write("model/w.bin", "shorter");
  fs::last_write_time(file, time);
  refuses(late);
  fs::remove(file);
  refuses(late);
  folder.write("model/w.bin", to_bytes(w));
  fs::last_write_time(file, time);
  const Values expected{{"y", floats({4}, {10, 21, 32, 43})}};
  compare(build(late), {{"x", ramp({4})}}, expected, 0);
  fs::remove(file);  // it has been read
  compare(build(late), {{"x", ramp({4})}}, expected, 0);
  const auto never = loaded(spare);
  BOOST_TEST(never.summary().initializer_bytes == 16U);
  fs::remove(file);
  compare(build(never), {{"x", ramp({4})}}, {{"y", ramp({4}, 0, 2)}}, 0);
}

BOOST_AUTO_TEST_CASE(from_memory_without_a_folder) {
  const auto bytes = model({{"location", "w.bin"}}).bytes();
  BOOST_CHECK_EXCEPTION(load(bytes), polychron::Error, [](const polychron::Error& error) {
    return std::string(error.what()).find("not loaded from a file") != std::string::npos;
  });
}

BOOST_AUTO_TEST_SUITE_END()
