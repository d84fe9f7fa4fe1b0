#include "models/signature.hpp"

#include <algorithm>
#include <set>

#include "protocol/strings.hpp"

namespace polychron::server {

namespace {

SignatureTensor tensor_of(const onnx::ValueInfo& info, const ModelConfig& config) {
  const auto type = wire_type_of(info.type);
  if (!type || !info.data_type)
    throw Error(ErrorKind::not_supported, "'" + printable(info.name) + "' is of type " +
                                              printable(info.type) + ", which cannot be served");
  SignatureTensor tensor{info.name, *type, {}, info.dimensions.has_value()};
  if (!tensor.known_rank) return tensor;
  tensor.dimensions = *info.dimensions;
  const auto whole = config.bindings.find(info.name);
  for (std::size_t i = 0; i < tensor.dimensions.size(); ++i) {
    auto& dimension = tensor.dimensions[i];
    if (dimension.value) continue;
    const auto one = config.bindings.find(dimension.symbol);
    if (whole != config.bindings.end() && i < whole->second.size())
      dimension.value = whole->second[i];
    else if (one != config.bindings.end() && one->second.size() == 1)
      dimension.value = one->second[0];
  }
  return tensor;
}

/// What symbols stand for in one request.
class Symbols {
 public:
  Symbols(const ModelConfig& config, const std::string& model) : config_(config), model_(model) {}

  void take(const std::string& symbol, std::uint32_t size, const std::string& tensor) {
    if (symbol.empty()) return;
    const auto [at, is_new] = sizes_.try_emplace(symbol, size, tensor);
    if (!is_new && at->second.first != size)
      bad_request("model '" + model_ + "': dimension '" + printable(symbol) + "' is " +
                  std::to_string(at->second.first) + " in input '" + printable(at->second.second) +
                  "' and " + std::to_string(size) + " in input '" + printable(tensor) + "'");
    const auto limit = config_.sizes.find(symbol);
    if (limit == config_.sizes.end()) return;
    if (size < limit->second.least || size > limit->second.most)
      bad_request("model '" + model_ + "': dimension '" + printable(symbol) + "' of input '" +
                  printable(tensor) + "' is " + std::to_string(size) + ", served are " +
                  std::to_string(limit->second.least) + " to " +
                  std::to_string(limit->second.most));
  }

 private:
  const ModelConfig& config_;
  const std::string& model_;
  std::map<std::string, std::pair<std::uint32_t, std::string>> sizes_;
};

bool fits(const WireTensor& given, const SignatureTensor& expected) {
  if (given.type != expected.type || given.shape.size() != expected.dimensions.size()) return false;
  for (std::size_t i = 0; i < given.shape.size(); ++i)
    if (const auto& value = expected.dimensions[i].value; value && *value != given.shape[i])
      return false;
  return true;
}

std::string names_of(const std::vector<SignatureTensor>& tensors) {
  std::string names;
  for (const auto& each : tensors)
    names += (names.empty() ? "'" : ", '") + printable(each.name, 60) + "'";
  return names;
}

void check_outputs(const InferRequest& request, const Signature& signature,
                   const std::string& model) {
  std::set<std::string_view> seen;
  for (const auto& wanted : request.outputs) {
    const bool known = std::any_of(signature.outputs.begin(), signature.outputs.end(),
                                   [&](const auto& each) { return each.name == wanted.name; });
    if (!known)
      bad_request("model '" + model + "' has no output '" + printable(wanted.name) + "'; it has " +
                  names_of(signature.outputs));
    if (!seen.insert(wanted.name).second)
      bad_request("output '" + printable(wanted.name) + "' is asked for twice");
  }
}

}  // namespace

Signature signature_of(const onnx::Summary& summary, const ModelConfig& config) {
  Signature signature;
  for (const auto& each : summary.inputs) signature.inputs.push_back(tensor_of(each, config));
  for (const auto& each : summary.outputs) signature.outputs.push_back(tensor_of(each, config));
  return signature;
}

Bindings check_request(const InferRequest& request, const Signature& signature,
                       const ModelConfig& config, const std::string& model) {
  auto bindings = config.bindings;
  Symbols symbols(config, model);
  std::set<std::string_view> seen;
  for (const auto& given : request.inputs) {
    const auto expected = std::find_if(signature.inputs.begin(), signature.inputs.end(),
                                       [&](const auto& each) { return each.name == given.name; });
    if (expected == signature.inputs.end())
      bad_request("model '" + model + "' has no input '" + printable(given.name) + "'; it has " +
                  names_of(signature.inputs));
    if (!seen.insert(given.name).second)
      bad_request("input '" + printable(given.name) + "' is given twice");
    if (!fits(given, *expected))
      bad_request("input '" + printable(given.name) + "' of model '" + model + "': expected " +
                  describe(*expected) + ", got " + describe(given.type, given.shape));
    if (given.type == WireType::bytes)
      check_strings(given);
    else if (given.bytes.size() != wire_size(given))
      bad_request("input '" + printable(given.name) + "': " + describe(given.type, given.shape) +
                  " has " + std::to_string(wire_size(given)) + " bytes, got " +
                  std::to_string(given.bytes.size()));
    bool is_free = false;
    for (std::size_t i = 0; i < given.shape.size(); ++i) {
      symbols.take(expected->dimensions[i].symbol, given.shape[i], given.name);
      is_free |= !expected->dimensions[i].value;
    }
    if (is_free) bindings[given.name] = given.shape;
  }
  for (const auto& each : signature.inputs)
    if (!seen.contains(each.name))
      bad_request("model '" + model + "': input '" + printable(each.name) + "' is missing, " +
                  describe(each));
  check_outputs(request, signature, model);
  return bindings;
}

std::vector<WireTensor> checked_outputs(std::vector<WireTensor>&& outputs,
                                        const std::vector<std::string>& wanted,
                                        const Signature& signature, const std::string& model) {
  const auto wrong = [&](const std::string& name, const std::string& why) {
    return Refusal(Status::internal,
                   "model '" + printable(model) + "': output '" + printable(name) + "' " + why);
  };
  std::vector<WireTensor> checked;
  const auto take = [&](const std::string& name, WireType type) {
    const auto found = std::find_if(outputs.begin(), outputs.end(),
                                    [&](const auto& each) { return each.name == name; });
    if (found == outputs.end()) throw wrong(name, "is missing");
    if (found->type != type)
      throw wrong(name, "is " + std::string(to_string(found->type)) + ", expected " +
                            std::string(to_string(type)));
    if (type == WireType::bytes) try {
        check_strings(*found);
      } catch (const Refusal& refusal) {
        throw Refusal(Status::internal, refusal.message());
      }
    else if (found->bytes.size() != wire_size(*found))
      throw wrong(name, "of " + describe(type, found->shape) + " has " +
                            std::to_string(found->bytes.size()) + " bytes");
    checked.push_back(std::move(*found));
  };
  for (const auto& each : signature.outputs) {
    if (!wanted.empty()) break;
    take(each.name, each.type);
  }
  for (const auto& name : wanted)
    for (const auto& each : signature.outputs)
      if (each.name == name) take(name, each.type);
  return checked;
}

std::string describe(const SignatureTensor& tensor) {
  std::string text = std::string(to_string(tensor.type)) + " [";
  for (std::size_t i = 0; i < tensor.dimensions.size(); ++i) {
    if (i > 0) text += ", ";
    const auto& value = tensor.dimensions[i].value;
    text += value ? std::to_string(*value) : "-1";
  }
  return text + "]";
}

}  // namespace polychron::server
