// Weights that are used in place, from a mapping of their file, whatever others do to the file.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "tests/forked.hpp"
#include "tests/onnx/folder.hpp"
#include "tests/onnx/session_fixture.hpp"
#include "tests/patience.hpp"

using namespace onnx_tests;
using polychron::testing::Forked;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(mapped_weights)

namespace {

constexpr std::uint32_t elements = 300'000;  // 1.2 MB

/// Gives the model an initializer: the elements at `offset` of a file.
void add_weights(Model& model, const std::string& name, const std::string& file,
                 std::size_t offset = 0) {
  auto& tensor = *model.graph().add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(proto::TensorProto::FLOAT);
  tensor.add_dims(elements);
  tensor.set_data_location(proto::TensorProto::EXTERNAL);
  const auto entry = [&](const std::string& key, const std::string& value) {
    auto& added = *tensor.add_external_data();
    added.set_key(key);
    added.set_value(value);
  };
  entry("location", file);
  entry("offset", std::to_string(offset));
}

/// y = x + w.
Model sum() {
  return Model()
      .node("Add", {"x", "w"}, {"y"})
      .input("x", proto::TensorProto::FLOAT, {elements})
      .output("y");
}

std::string weights(float each) {
  return to_bytes(floats({elements}, Reals(elements, static_cast<double>(each))));
}

/// A model in a folder, with weights that are all 3.
struct Loaded : Folder {
  fs::path file = root / "model/w.bin";
  explicit Loaded(std::size_t offset = 0) {
    write(file, std::string(offset, '-') + weights(3));
    auto model = sum();
    add_weights(model, "w", "w.bin", offset);
    write("model/m.onnx", model.bytes());
  }
  polychron::onnx::Model model() const { return polychron::onnx::load(root / "model/m.onnx"); }
};

bool is_mapped(const fs::path& file) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.ends_with(" " + file.string())) return true;
  return false;
}

/// True if every y is `expected` for an x of 1.
bool gives(const Session& session, float expected) {
  const auto outputs = session.run({{"x", Floats(elements, 1)}}).get();
  return values(outputs, "y") == Floats(elements, expected);
}

/// False, with a message, where the system grants no lease.
bool has_leases() {
  const Loaded loaded;
  const int descriptor = open(loaded.file.c_str(), O_RDONLY | O_CLOEXEC);
  const bool granted = fcntl(descriptor, F_SETLEASE, F_RDLCK) == 0;
  close(descriptor);
  if (!granted) BOOST_TEST_MESSAGE("skipped: no leases on the files of " << loaded.root);
  return granted;
}

/// `write` in another process, as a deployment would.
void elsewhere(const std::function<bool()>& write) {
  const auto failed = Forked::run([&](Forked& child) { child.expect("the write", write); });
  BOOST_TEST(failed.empty(), failed);
}

}  // namespace

BOOST_AUTO_TEST_CASE(are_mapped_as_long_as_they_are_used) {
  if (!has_leases()) return;
  const Loaded loaded;
  std::optional<polychron::onnx::Model> model(loaded.model());
  BOOST_TEST(!is_mapped(loaded.file));  // load() reads no external data
  std::optional<Session> session(std::in_place, context(), *model);
  model.reset();
  BOOST_TEST(is_mapped(loaded.file));
  BOOST_TEST(gives(*session, 4));
  session.reset();
  BOOST_TEST(polychron::testing::comes([&] { return !is_mapped(loaded.file); }));
}

BOOST_AUTO_TEST_CASE(a_file_that_is_cut_leaves_the_old_bytes) {
  if (!has_leases()) return;
  const Loaded loaded;
  const auto model = loaded.model();
  const Session session(context(), model);
  std::atomic<bool> ended{false};
  std::atomic<std::size_t> wrong{0};
  std::thread busy([&] {
    while (!ended)
      if (!gives(session, 4)) ++wrong;
  });
  elsewhere([&] { return truncate(loaded.file.c_str(), 0) == 0; });
  BOOST_TEST(fs::file_size(loaded.file) == 0U);
  BOOST_TEST(!is_mapped(loaded.file));
  ended = true;
  busy.join();
  BOOST_TEST(wrong == 0U);
  BOOST_TEST(gives(session, 4));
  BOOST_TEST(gives(Session(context(), model), 4));
  BOOST_CHECK_EXCEPTION(loaded.model(), Error,
                        [](const Error& error) { return error.kind() == ErrorKind::bad_data; });
}

BOOST_AUTO_TEST_CASE(a_file_that_is_overwritten_leaves_the_old_bytes) {
  if (!has_leases()) return;
  const Loaded loaded;
  const Session session(context(), loaded.model());
  // By this process, too.
  std::fstream(loaded.file, std::ios::in | std::ios::out | std::ios::binary) << weights(5);
  BOOST_TEST(gives(session, 4));
  BOOST_TEST(gives(Session(context(), loaded.model()), 6));
}

BOOST_AUTO_TEST_CASE(a_file_that_is_replaced_leaves_the_old_bytes) {
  const Loaded loaded;
  const Session session(context(), loaded.model());
  loaded.write("model/new.bin", weights(5));
  fs::rename(loaded.root / "model/new.bin", loaded.file);
  BOOST_TEST(gives(session, 4));
  fs::remove(loaded.file);
  BOOST_TEST(gives(session, 4));
}

BOOST_AUTO_TEST_CASE(a_file_that_changes_before_it_is_used_is_refused) {
  const Loaded loaded;
  const auto model = loaded.model();
  fs::resize_file(loaded.file, weights(3).size() + 1);
  BOOST_CHECK_EXCEPTION(Session(context(), model), Error, [](const Error& error) {
    return std::string(error.what()).find("has changed since the model") != std::string::npos;
  });
  BOOST_TEST(!is_mapped(loaded.file));
}

// Each of these is a copy, and works.
BOOST_AUTO_TEST_CASE(some_files_are_read) {
  const auto is_read = [](const Loaded& loaded) {
    const Session session(context(), loaded.model());
    BOOST_TEST(gives(session, 4));
    return !is_mapped(loaded.file);
  };
  BOOST_TEST(is_read(Loaded(2)), "its elements are not aligned");
  const Loaded open_for_writing;
  {
    const std::ofstream writer(open_for_writing.file, std::ios::app);
    BOOST_TEST(is_read(open_for_writing), "a program may write");
  }
  BOOST_TEST(is_read(open_for_writing) != has_leases());
}

BOOST_AUTO_TEST_CASE(a_file_for_each_tensor_takes_few_descriptors) {
  constexpr std::size_t most = 64;
  const Folder folder;
  Model model;
  model.input("x", proto::TensorProto::FLOAT, {elements});
  const auto bytes = weights(3);
  const auto name = [](std::size_t i) { return "w" + std::to_string(i); };
  std::string before = "x";
  for (std::size_t i = 0; i <= most; ++i) {
    folder.write("model/" + name(i), bytes);
    add_weights(model, name(i), name(i));
    const auto after = i == most ? "y" : "sum" + std::to_string(i);
    model.node("Add", {before, name(i)}, {after});
    before = after;
  }
  folder.write("model/m.onnx", model.output("y").bytes());
  const Session session(context(), polychron::onnx::load(folder.root / "model/m.onnx"));
  std::size_t mapped = 0;
  for (std::size_t i = 0; i <= most; ++i)
    if (is_mapped(folder.root / "model" / name(i))) ++mapped;
  BOOST_TEST(mapped == (has_leases() ? most : 0));
  BOOST_TEST(gives(session, 1 + 3 * (most + 1)));
}

// Protobuf aligns nothing: of four places in a row, one suits a float.
BOOST_AUTO_TEST_CASE(initializers_of_the_models_own_file) {
  const bool leases = has_leases();
  const Folder folder;
  const auto file = folder.root / "model/m.onnx";
  std::size_t in_place = 0;
  for (std::size_t pad = 1; pad <= 4; ++pad) {
    auto whole = sum();
    whole.proto().set_producer_name(std::string(pad, 'p'));
    whole.initializer("w", floats({elements}, Reals(elements, 3)));
    folder.write("model/m.onnx", whole.bytes());
    const auto model = polychron::onnx::load(file);
    if (is_mapped(file)) ++in_place;
    BOOST_TEST(model.summary().initializer_bytes == elements * sizeof(float));
    const Session session(context(), model);
    BOOST_TEST(gives(session, 4));
    elsewhere([&] { return truncate(file.c_str(), 5) == 0; });
    BOOST_TEST(gives(session, 4));
    BOOST_TEST(gives(Session(context(), model), 4));
  }
  BOOST_TEST(in_place == (leases ? 1U : 0U));
}

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)

// The system lends a file to its owner and to root.
BOOST_AUTO_TEST_CASE(a_file_of_another_user_is_read) {
  if (getuid() != 0) {
    BOOST_TEST_MESSAGE("skipped: only root can become another user");
    return;
  }
  const Loaded loaded;
  for (const auto& name : {"", "model", "model/m.onnx", "model/w.bin"})
    fs::permissions(loaded.root / name, fs::perms::all);
  const auto failed = Forked::run([&](Forked& child) {
    child.expect("another user", [] { return setuid(65534) == 0; });
    const Session session(loaded.model());
    child.expect("the weights", [&] { return gives(session, 4); });
    child.expect("no mapping", [&] { return !is_mapped(loaded.file); });
  });
  BOOST_TEST(failed.empty(), "in the child: " << failed);
}

// The lease is the parent's: it ends when the parent copies the bytes for a writer.
BOOST_AUTO_TEST_CASE(a_forked_child_maps_them_again) {
  if (!has_leases()) return;
  const Loaded loaded;
  const auto model = loaded.model();
  auto session = std::make_optional<Session>(context(), model);
  const auto failed = Forked::run([&](Forked& child) {
    const Session own(model);
    child.expect("the weights", [&] { return gives(own, 4); });
    child.expect("its writer", [&] { return truncate(loaded.file.c_str(), 0) == 0; });
    child.expect("the old bytes", [&] { return gives(own, 4); });
    child.expect("no lease is left", [&] {
      const int descriptor = open(loaded.file.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
      return descriptor >= 0 && close(descriptor) == 0;
    });
  });
  BOOST_TEST(failed.empty(), "in the child: " << failed);
  BOOST_TEST(gives(*session, 4));
}

#endif

BOOST_AUTO_TEST_SUITE_END()
