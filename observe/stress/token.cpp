// Replay tokens: a program and a schedule as JSON in CBOR, in the letters of base64url.
#include <array>
#include <nlohmann/json.hpp>

#include "observe/stress/explorer.hpp"

namespace polychron::stress {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Call, kind, tensor, inputs, graph, value, way, deadline,
                                   cancellation, context, foreign, then)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PlannedFault, point, nth, kind, inherent, throws, context)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Program, backend, lanes, max_in_flight, spare_bytes, blocks,
                                   interrupts, late, contexts, tensors, faults, clients)

namespace {

Error no_token() { return Error(ErrorKind::bad_data, "this is not a replay token"); }

/// The version of tokens: a token with another number is refused.
constexpr int version = 3;
constexpr std::string_view letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string to_letters(const std::vector<std::uint8_t>& bytes) {
  std::string text;
  std::uint32_t bits = 0;
  int count = 0;
  for (const auto byte : bytes) {
    bits = bits << 8U | byte;
    for (count += 8; count >= 6; count -= 6) text += letters[bits >> (count - 6) & 63U];
  }
  if (count > 0) text += letters[bits << (6 - count) & 63U];
  return text;
}

std::vector<std::uint8_t> from_letters(const std::string& text) {
  std::vector<std::uint8_t> bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const auto value = letters.find(c);
    if (value == std::string_view::npos) throw no_token();
    bits = bits << 6U | static_cast<std::uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes.push_back(static_cast<std::uint8_t>(bits >> count & 255U));
    }
  }
  return bytes;
}

/// Checks sizes that a world has no room for. The token may come from anywhere.
void check_sizes(const Program& program) {
  const auto most = [](bool fits) {
    if (!fits) throw Error(ErrorKind::bad_data, "this replay token asks for what no program has");
  };
  most(program.lanes >= 1 && program.lanes <= 16 && program.tensors >= 1 && program.tensors <= 64 &&
       program.max_in_flight >= 1 && program.clients.size() <= 64 &&
       program.backend <= Computes::real && program.contexts >= 1 && program.contexts <= 8);
  for (const auto& client : program.clients)
    for (const auto& call : client) {
      most(static_cast<std::size_t>(call.kind) < kinds && call.graph < 2 && call.tensor < 1024 &&
           call.way < 3 && call.deadline < 1000 && call.context < program.contexts &&
           (!call.foreign || program.contexts > 1));
      if (call.kind == Kind::dispatch) most(call.inputs.size() == call.graph + 1);
      for (const auto input : call.inputs) most(input < 1024);
    }
  for (const auto& fault : program.faults)
    most(fault.point <= FaultPoint::execute && fault.nth >= 1 &&
         fault.kind <= ErrorKind::internal && fault.context < program.contexts);
}

}  // namespace

std::string token_of(const Program& program, const Schedule& schedule) {
  return to_letters(nlohmann::json::to_cbor(nlohmann::json{version, program, schedule}));
}

RunResult replay(const std::string& token, Program* program, RunRecording* recording) {
  Program known;
  Schedule schedule;
  try {
    const auto value = nlohmann::json::from_cbor(from_letters(token));
    if (!value.is_array() || value.size() != 3) throw no_token();
    if (value.at(0).get<int>() != version)
      throw Error(ErrorKind::bad_data, "this replay token is of another version");
    value.at(1).get_to(known);
    value.at(2).get_to(schedule);
  } catch (const nlohmann::json::exception&) {
    throw no_token();
  }
  check_sizes(known);
  if (program != nullptr) *program = known;
  ReplayStrategy strategy(std::move(schedule));
  return run(known, strategy, nullptr, recording);
}

}  // namespace polychron::stress
