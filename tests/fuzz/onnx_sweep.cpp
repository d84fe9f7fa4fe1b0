// Damages ONNX models one place at a time, each place in the same ways: other ranks, shorter or
// longer lists, inputs left out, numbers at the edges, other types and names. Its findings are the
// same each time. Usage: fuzz_sweep SEEDS FINDINGS [EVERY [FIRST]]: each EVERY-th damage from the
// FIRST on. It writes a model with a finding to FINDINGS.
#include <google/protobuf/stubs/logging.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count);
extern "C" void __sanitizer_set_death_callback(void (*callback)());

namespace fuzz {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using Limits = std::numeric_limits<std::int64_t>;

constexpr int most_dimensions = 6;
constexpr std::size_t most_names = 4;  // that replace an input's name
constexpr int element_types = 24;      // and one that does not exist
constexpr std::int64_t edges[]{
    0, -1, 1, 2, 3, 7, 65536, 0x7fffffff, 1LL << 32, Limits::max(), Limits::min()};
constexpr double real_edges[]{0,
                              -1,
                              0.5,
                              1e30,
                              std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN()};

std::string running;        ///< the model that runs now
std::uint64_t damages = 0;  ///< number so far
std::string findings;       ///< a directory

void keep() {
  const auto path = findings + "/sweep-crash-" + std::to_string(damages - 1);
  std::ofstream(path, std::ios::binary) << running;
  std::fprintf(stderr, "sweep: Test unit written to %s\n", path.c_str());
}

class Sweep {
 public:
  Sweep(std::uint64_t every, std::uint64_t first) : every_(every), first_(first) {}

  void model(onnx::ModelProto& model) {
    model_ = &model;
    names_.clear();
    for (const auto& node : model.graph().node())
      for (const auto& name : node.input())
        if (names_.size() < most_names) names_.insert(name);
    message(model);
  }
  std::uint64_t runs() const { return runs_; }

 private:
  /// Damages the fields of a message, then the messages in them.
  void message(Message& message) {
    const auto* r = message.GetReflection();
    std::vector<const FieldDescriptor*> fields;
    r->ListFields(message, &fields);
    const std::unique_ptr<Message> whole(message.New());
    whole->CopyFrom(message);
    const auto damaged = [&](auto&& damage) {
      if (!due()) return;
      damage();
      run();
      message.CopyFrom(*whole);
    };
    for (const auto* field : fields) {
      damaged([&] { r->ClearField(&message, field); });
      if (field->is_repeated())
        repeated(message, field, damaged);
      else
        single(message, field, damaged);
    }
    for (const auto* field : fields) {
      if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
      if (!field->is_repeated()) this->message(*r->MutableMessage(&message, field));
      for (int i = 0; field->is_repeated() && i < r->FieldSize(message, field); ++i)
        this->message(*r->MutableRepeatedMessage(&message, field, i));
    }
  }

  template <class Damaged>
  void single(Message& message, const FieldDescriptor* field, const Damaged& damaged) {
    const auto* r = message.GetReflection();
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        return damaged([&] { r->SetString(&message, field, "z"); });
      case FieldDescriptor::CPPTYPE_INT64:
        for (const auto edge : edges) damaged([&] { r->SetInt64(&message, field, edge); });
        return;
      case FieldDescriptor::CPPTYPE_INT32:
        for (int type = 0; type < element_types; ++type)
          damaged([&] { r->SetInt32(&message, field, type); });
        return;
      case FieldDescriptor::CPPTYPE_FLOAT:
        for (const auto edge : real_edges)
          damaged([&] { r->SetFloat(&message, field, static_cast<float>(edge)); });
        return;
      default:
        return;
    }
  }

  template <class Damaged>
  void repeated(Message& message, const FieldDescriptor* field, const Damaged& damaged) {
    const auto* r = message.GetReflection();
    const int count = r->FieldSize(message, field);
    const int longest = std::min(count + 2, most_dimensions);
    for (int size = 1; size < count; ++size)
      if (size > count - 3 || size < 3)
        damaged([&] {
          while (r->FieldSize(message, field) > size) r->RemoveLast(&message, field);
        });
    for (int size = count + 1; size <= longest; ++size)
      damaged([&] {
        for (int i = count; i < size; ++i) add(message, field);
      });
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING)
      for (int size = count + 1; size <= longest; ++size)
        damaged([&] {
          for (int i = count; i < size; ++i) r->AddString(&message, field, "z" + std::to_string(i));
        });
    for (int i = 0; i < std::min(count, 8); ++i) element(message, field, i, damaged);
  }

  /// Adds one more like the last.
  static void add(Message& message, const FieldDescriptor* field) {
    const auto* r = message.GetReflection();
    const int last = r->FieldSize(message, field) - 1;
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return r->AddMessage(&message, field)
            ->CopyFrom(r->GetRepeatedMessage(message, field, last));
      case FieldDescriptor::CPPTYPE_STRING:
        return r->AddString(&message, field, r->GetRepeatedString(message, field, last));
      case FieldDescriptor::CPPTYPE_INT64:
        return r->AddInt64(&message, field, r->GetRepeatedInt64(message, field, last));
      case FieldDescriptor::CPPTYPE_INT32:
        return r->AddInt32(&message, field, r->GetRepeatedInt32(message, field, last));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return r->AddFloat(&message, field, r->GetRepeatedFloat(message, field, last));
      default:
        return;
    }
  }

  template <class Damaged>
  void element(Message& message, const FieldDescriptor* field, int i, const Damaged& damaged) {
    const auto* r = message.GetReflection();
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        damaged([&] { r->SetRepeatedString(&message, field, i, ""); });
        for (const auto& name : names_)
          damaged([&] { r->SetRepeatedString(&message, field, i, name); });
        return;
      case FieldDescriptor::CPPTYPE_INT64:
        for (const auto edge : edges)
          damaged([&] { r->SetRepeatedInt64(&message, field, i, edge); });
        return;
      case FieldDescriptor::CPPTYPE_FLOAT:
        for (const auto edge : real_edges)
          damaged([&] { r->SetRepeatedFloat(&message, field, i, static_cast<float>(edge)); });
        return;
      default:
        return;
    }
  }

  bool due() {
    const auto at = damages++;
    return at >= first_ && (at - first_) % every_ == 0;
  }

  void run() {
    if (!model_->SerializePartialToString(&running)) return;
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(running.data()), running.size());
    ++runs_;
  }

  std::uint64_t every_, first_, runs_ = 0;
  onnx::ModelProto* model_ = nullptr;
  std::set<std::string> names_;
};

}  // namespace
}  // namespace fuzz

extern "C" const char* __asan_default_options() {
  return "handle_abort=1:detect_leaks=0:max_allocation_size_mb=512:allocator_may_return_null=0";
}

int main(int count, char** arguments) {
  if (count < 3 || count > 5) return 2;
  const google::protobuf::LogSilencer silence;
  fuzz::findings = arguments[2];
  __sanitizer_set_death_callback(fuzz::keep);
  std::set<std::filesystem::path> seeds;
  for (const auto& entry : std::filesystem::directory_iterator(arguments[1]))
    seeds.insert(entry.path());
  const auto number = [&](int i, std::uint64_t otherwise) {
    return i < count ? std::strtoull(arguments[i], nullptr, 10) : otherwise;
  };
  const auto every = number(3, 1);
  if (every == 0) return 2;
  fuzz::Sweep sweep(every, number(4, 0));
  std::size_t done = 0;
  for (const auto& path : seeds) {
    onnx::ModelProto model;
    std::ifstream file(path, std::ios::binary);
    if (!model.ParseFromIstream(&file)) continue;
    sweep.model(model);
    if (++done % 100 == 0) std::fprintf(stderr, "sweep: %zu of %zu models\n", done, seeds.size());
  }
  std::printf("sweep: %llu of %llu damages to %zu models\n",
              static_cast<unsigned long long>(sweep.runs()),
              static_cast<unsigned long long>(fuzz::damages), done);
}
