// Random graphs: the bytes are a program of calls of the builder, on every row of the operator
// table. The builder refuses wrong calls, and stays as it was. The rest is built and run.
#include <algorithm>
#include <string>
#include <vector>

#include "ops/table.hpp"
#include "tests/fuzz/attributes.hpp"
#include "tests/fuzz/site.hpp"

namespace fuzz {
namespace {

using namespace polychron;

constexpr std::size_t most_calls = 48;

class Program {
 public:
  Program(const std::uint8_t* bytes, std::size_t count)
      : pattern_(bytes, std::min<std::size_t>(count, 16)), data_(bytes, count) {}

  void run() {
    for (std::size_t i = 0; i < most_calls && data_.remaining_bytes() > 0; ++i) {
      try {
        call();
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::type_error && error.kind() != ErrorKind::invalid_state)
          finding(std::string("a call threw ") + error.what());
        check_refusal(error);
      }
    }
    build_and_run(builder_, outputs(), pattern_);
    if (twice_) build_and_run(builder_, results_, pattern_);
  }

 private:
  void call() {
    const auto choice = byte();
    if (choice < 24) {
      operands_.push_back(builder_.input(name(), {type(), shape()}));
    } else if (choice < 40) {
      operands_.push_back(constant({type(), shape()}));
    } else if (choice < 48) {
      Number value;
      AnyField any(data_);
      any("", value);
      operands_.push_back(builder_.constant(type(), value));
    } else if (choice < 50) {
      GraphBuilder stranger(context());
      operands_.push_back(stranger.input(name(), {DataType::float32, {2, 3}}));
    } else if (choice == 50) {
      twice_ = true;
    } else if (choice == 51) {
      builder_.destroy();
    } else {
      apply(ops::rows()[byte() % ops::rows().size()]);
    }
  }

  void apply(const ops::Row& row) {
    std::vector<const Operand*> operands;
    const auto rules = row.operands();
    const std::size_t count =
        row.call.variadic() ? 1U + byte() % 5U : rules.size() + (byte() > 250);
    operands_.reserve(operands_.size() + count);  // other objects point to the operands
    for (std::size_t i = 0; i < count; ++i)
      operands.push_back(
          operand(row, row.call.variadic() ? 0 : std::min(i, rules.size() - 1), i, operands));
    const auto index = byte() < 250 ? row.attributes : byte() % std::variant_size_v<Attributes>;
    auto given = attributes(index, data_);
    for (auto& result : builder_.apply(row.name, operands, std::move(given), name())) {
      results_.emplace_back("r" + std::to_string(results_.size()), result);
      operands_.push_back(std::move(result));
    }
  }

  /// An existing operand, or a new one that the rule may take.
  const Operand* operand(const ops::Row& row, std::size_t rule_index, std::size_t index,
                         const std::vector<const Operand*>& before) {
    const auto& rule = row.operands()[rule_index];
    const auto choice = byte();
    if (rule.optional && choice < 100) return nullptr;
    if (choice % 4 < 2 && !operands_.empty()) return &operands_[byte() % operands_.size()];
    const auto types = rule.types.members();
    OperandDescriptor descriptor{types[byte() % types.size()], {}};
    // `same_as` may lie beyond all of them: the same as no other.
    const auto like = static_cast<std::size_t>(row.call.variadic() && index > 0 ? 0 : rule.same_as);
    if (like < before.size() && before[like] != nullptr && byte() < 240)
      descriptor.data_type = before[like]->data_type();
    descriptor.shape = fitting_shape(rule, before);
    operands_.push_back(choice % 4 == 2 ? constant(descriptor)
                                        : builder_.input(name(), descriptor));
    return &operands_.back();
  }

  Shape fitting_shape(const ops::OperandRule& rule, const std::vector<const Operand*>& before) {
    const Operand* like = before.empty() ? nullptr : before[byte() % before.size()];
    const auto choice = like == nullptr ? 7 : byte() % 8;
    if (choice < 2) return like->shape();
    if (choice < 4 && !like->shape().empty()) return {like->shape()[byte() % like->shape().size()]};
    if (choice == 4) return {};
    if (choice == 5) {  // some dimensions of the other, in another order
      Shape result;
      for (auto n = rule.rank_min + byte() % 3; n > 0 && !like->shape().empty(); --n)
        result.push_back(like->shape()[byte() % like->shape().size()]);
      return result;
    }
    Shape result(std::min<std::size_t>(rule.rank_min + byte() % 4U, rule.rank_max));
    for (auto& dimension : result) dimension = size(data_);
    return result;
  }

  Operand constant(const OperandDescriptor& descriptor) {
    const bool is_type = static_cast<std::size_t>(descriptor.data_type) < all_data_types.size();
    const auto length = is_type ? byte_length(descriptor).value_or(0) : 0;
    if (length > 1U << 20) return builder_.input(name(), descriptor);
    const auto wrong = byte() > 252 ? 1U : 0U;
    return builder_.constant(descriptor, filled(length + wrong, pattern_));
  }

  NamedOperands outputs() {
    auto chosen = results_;
    const auto keep = byte();
    if (keep < 128 && chosen.size() > 3) chosen.erase(chosen.begin(), chosen.end() - 3);
    if (keep % 32 == 31 && !chosen.empty()) chosen.push_back(chosen.front());
    if (keep % 32 == 30 && !operands_.empty()) chosen.emplace_back(name(), operands_[0]);
    return chosen;
  }

  std::uint8_t byte() { return data_.ConsumeIntegral<std::uint8_t>(); }
  DataType type() { return static_cast<DataType>(byte() % 32 == 31 ? byte() : byte() % 10); }
  std::string name() {
    const auto choice = byte();
    if (choice > 224) return data_.ConsumeRandomLengthString(40);
    return "x" + std::to_string(choice % 32);
  }
  Shape shape() {
    const auto choice = byte();
    Shape result(choice < 240 ? choice % 5U : choice % 16U);
    for (auto& dimension : result) dimension = size(data_);
    return result;
  }

  std::span<const std::uint8_t> pattern_;
  FuzzedDataProvider data_;
  GraphBuilder builder_{context()};
  std::vector<Operand> operands_;
  NamedOperands results_;
  bool twice_ = false;
};

}  // namespace
}  // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  fuzz::Program(bytes, count).run();
  return 0;
}
