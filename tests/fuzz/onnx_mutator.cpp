// Damages ONNX models as messages, not as bytes: numbers, names, types and lists of any field,
// found by protobuf's reflection. Most results are still models, so they reach the importer's
// handlers. Bytes that are no model are mutated as bytes.
#include <google/protobuf/stubs/logging.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* bytes, std::size_t count, std::size_t most);

namespace fuzz {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

/// A field that has a value. Of a repeated field it is the whole list.
struct Place {
  Message* message;
  const FieldDescriptor* field;
};

class Mutator {
 public:
  Mutator(Message& model, unsigned seed) : random_(seed) { collect(model); }

  void mutate() {
    if (places_.empty()) return;
    const auto [message, field] = pick(places_);
    if (field->is_repeated()) return repeated(*message, field);
    single(*message, field);
  }

 private:
  void collect(Message& message) {
    const auto* reflection = message.GetReflection();
    std::vector<const FieldDescriptor*> fields;
    reflection->ListFields(message, &fields);
    for (const auto* field : fields) {
      places_.push_back({&message, field});
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) remember(message, field);
      if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
      if (!field->is_repeated()) collect(*reflection->MutableMessage(&message, field));
      for (int i = 0; field->is_repeated() && i < reflection->FieldSize(message, field); ++i)
        collect(*reflection->MutableRepeatedMessage(&message, field, i));
    }
  }

  /// Remembers a name for other fields that take names.
  void remember(const Message& message, const FieldDescriptor* field) {
    if (field->type() != FieldDescriptor::TYPE_STRING) return;
    const auto* reflection = message.GetReflection();
    if (!field->is_repeated()) return names_.push_back(reflection->GetString(message, field));
    for (int i = 0; i < reflection->FieldSize(message, field); ++i)
      names_.push_back(reflection->GetRepeatedString(message, field, i));
  }

  void repeated(Message& message, const FieldDescriptor* field) {
    const auto* reflection = message.GetReflection();
    const int count = reflection->FieldSize(message, field);
    const auto at = [&] { return static_cast<int>(number() % static_cast<unsigned>(count)); };
    switch (count == 0 ? 1 : number() % 6) {
      case 0:
        reflection->SwapElements(&message, field, at(), count - 1);
        return reflection->RemoveLast(&message, field);
      case 1:
        return add(message, field);
      case 2:
        return reflection->SwapElements(&message, field, at(), at());
      default:
        return element(message, field, at());
    }
  }

  /// Adds a copy of an element, or a new one.
  void add(Message& message, const FieldDescriptor* field) {
    const auto* r = message.GetReflection();
    const int count = r->FieldSize(message, field);
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE: {
        auto* added = r->AddMessage(&message, field);
        if (count > 0) added->CopyFrom(r->GetRepeatedMessage(message, field, 0));
        if (count > 0) r->SwapElements(&message, field, count, 0);
        return;
      }
      case FieldDescriptor::CPPTYPE_STRING:
        return r->AddString(&message, field, name());
      case FieldDescriptor::CPPTYPE_INT64:
        return r->AddInt64(&message, field, integer(0));
      case FieldDescriptor::CPPTYPE_INT32:
        return r->AddInt32(&message, field, static_cast<std::int32_t>(integer(0)));
      case FieldDescriptor::CPPTYPE_UINT64:
        return r->AddUInt64(&message, field, static_cast<std::uint64_t>(integer(0)));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return r->AddFloat(&message, field, static_cast<float>(real(1)));
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return r->AddDouble(&message, field, real(1));
      default:
        return;
    }
  }

  void element(Message& message, const FieldDescriptor* field, int i) {
    const auto* r = message.GetReflection();
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        return r->SetRepeatedString(&message, field, i,
                                    text(field, r->GetRepeatedString(message, field, i)));
      case FieldDescriptor::CPPTYPE_INT64:
        return r->SetRepeatedInt64(&message, field, i,
                                   integer(r->GetRepeatedInt64(message, field, i)));
      case FieldDescriptor::CPPTYPE_INT32:
        return r->SetRepeatedInt32(
            &message, field, i,
            static_cast<std::int32_t>(integer(r->GetRepeatedInt32(message, field, i))));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return r->SetRepeatedFloat(
            &message, field, i, static_cast<float>(real(r->GetRepeatedFloat(message, field, i))));
      default:
        return;  // elements of lists of messages have places of their own
    }
  }

  void single(Message& message, const FieldDescriptor* field) {
    const auto* r = message.GetReflection();
    if (number() % 24 == 0) return r->ClearField(&message, field);
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        return r->SetString(&message, field, text(field, r->GetString(message, field)));
      case FieldDescriptor::CPPTYPE_INT64:
        return r->SetInt64(&message, field, integer(r->GetInt64(message, field)));
      case FieldDescriptor::CPPTYPE_INT32:  // element types are among these
        return r->SetInt32(
            &message, field,
            static_cast<std::int32_t>(number() % 4 != 0 ? number() % 24
                                                        : integer(r->GetInt32(message, field))));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return r->SetFloat(&message, field, static_cast<float>(real(r->GetFloat(message, field))));
      case FieldDescriptor::CPPTYPE_ENUM: {
        const auto* type = field->enum_type();
        return r->SetEnum(
            &message, field,
            type->value(static_cast<int>(number() % static_cast<unsigned>(type->value_count()))));
      }
      default:
        return;
    }
  }

  /// Bytes are numbers of a tensor, or an attribute's text; strings are names.
  std::string text(const FieldDescriptor* field, std::string value) {
    if (field->type() == FieldDescriptor::TYPE_STRING) return name();
    if (number() % 4 == 0 || value.empty()) {
      const auto count = value.size();
      value.resize(count + 8);
      value.resize(
          LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(value.data()), count, value.size()));
      return value;
    }
    const std::size_t width = value.size() % 8 == 0 ? 8 : value.size() % 4 == 0 ? 4 : 1;
    auto* element = value.data() + number() % (value.size() / width) * width;
    std::int64_t whole = 0;
    std::memcpy(&whole, element, width);
    whole = integer(whole);
    std::memcpy(element, &whole, width);
    return value;
  }

  std::string name() {
    if (number() % 32 == 0 || names_.empty()) return std::string(number() % 2, 'z');
    return pick(names_);
  }

  std::int64_t integer(std::int64_t value) {
    using Limits = std::numeric_limits<std::int64_t>;
    constexpr std::int64_t edges[]{0,
                                   1,
                                   -1,
                                   2,
                                   3,
                                   -2,
                                   4,
                                   7,
                                   8,
                                   16,
                                   127,
                                   255,
                                   1000,
                                   65535,
                                   65536,
                                   1 << 20,
                                   0x7fffffff,
                                   -0x80000000LL,
                                   1LL << 32,
                                   1LL << 40,
                                   Limits::max(),
                                   Limits::min(),
                                   5,
                                   6};
    switch (number() % 6) {
      case 0:
        return edges[number() % std::size(edges)];
      case 1:
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) + 1);
      case 2:
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) - 1);
      case 3:
        return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(value));
      default:
        return static_cast<std::int64_t>(number() % 9);
    }
  }

  double real(double value) {
    constexpr double edges[]{0,
                             1,
                             -1,
                             0.5,
                             2,
                             1e-6,
                             1e30,
                             -1e30,
                             3,
                             65536,
                             1e-40,
                             0.1,
                             std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()};
    return number() % 3 == 0 ? -value : edges[number() % std::size(edges)];
  }

  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[number() % list.size()];
  }
  unsigned number() { return static_cast<unsigned>(random_()); }

  std::minstd_rand random_;
  std::vector<Place> places_;
  std::vector<std::string> names_;
};

bool parse(onnx::ModelProto& model, const std::uint8_t* bytes, std::size_t count) {
  const google::protobuf::LogSilencer silence;
  return model.ParseFromArray(bytes, static_cast<int>(count));
}

/// Writes the model if there is room for it; 0 if not.
std::size_t write(const onnx::ModelProto& model, std::uint8_t* bytes, std::size_t most) {
  std::string text;
  const google::protobuf::LogSilencer silence;
  if (!model.SerializePartialToString(&text) || text.size() > most) return 0;
  std::copy(text.begin(), text.end(), bytes);
  return text.size();
}

}  // namespace
}  // namespace fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* bytes, std::size_t count,
                                               std::size_t most, unsigned seed) {
  onnx::ModelProto model;
  std::minstd_rand random(seed);
  if (random() % 32 != 0 && fuzz::parse(model, bytes, count)) {
    for (auto times = 1 + random() % 3; times > 0; --times)
      fuzz::Mutator(model, static_cast<unsigned>(random())).mutate();
    if (const auto written = fuzz::write(model, bytes, most)) return written;
  }
  return LLVMFuzzerMutate(bytes, count, most);
}

/// The first model with the second's graph appended, so that nodes of one read values of the other.
extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* first, std::size_t first_count,
                                                 const std::uint8_t* second,
                                                 std::size_t second_count, std::uint8_t* bytes,
                                                 std::size_t most, unsigned) {
  onnx::ModelProto model, other;
  if (!fuzz::parse(model, first, first_count) || !fuzz::parse(other, second, second_count))
    return 0;
  for (const auto& opset : other.opset_import()) {
    const auto same = [&](const auto& own) { return own.domain() == opset.domain(); };
    if (std::none_of(model.opset_import().begin(), model.opset_import().end(), same))
      *model.add_opset_import() = opset;
  }
  model.mutable_graph()->MergeFrom(other.graph());
  return fuzz::write(model, bytes, most);
}
