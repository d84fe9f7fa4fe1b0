// The records of a recording, all blocks of it together, by kind and in order of time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "observe/recording/file.hpp"

namespace polychron::trace {

struct ObjectKey {
  std::uint64_t context = 0;
  bool graph = false;
  std::uint64_t id = 0;
  auto operator<=>(const ObjectKey&) const = default;
};
struct ObjectName {
  std::string label;
  std::uint64_t actor = 0, bytes = 0;
};

/// How an actor handled a message: recording::HandlingBegan and HandlingEnded together.
struct Handled {
  std::uint64_t context = 0, by = 0;
  std::int64_t begin = 0;
  std::uint64_t duration = 0;
  recording::LogicalTime begin_clock = 0, clock = 0, end_clock = 0, sent = 0;
  recording::Address message = 0;
  std::uint32_t kind = 0;
  bool threw = false;
  bool goes_on = false;  ///< it had not ended by the end of the recording
};

template <class R>
struct OfThread {
  std::uint64_t thread = 0;
  R record;
};

struct Records {
  struct Context {
    std::string label;
    std::uint32_t lanes = 1;
    bool made = false;      ///< while this was recorded; else its beginning is missing
    bool left_out = false;  ///< at times (Context::set_traced)
  };
  std::map<std::uint64_t, Context> contexts;
  std::map<std::uint64_t, std::string> threads;  ///< names of those that have one
  std::map<ObjectKey, ObjectName> objects;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::string>> plans;
  std::vector<recording::ActorBegan> began;
  std::vector<recording::ActorEnded> ended;
  std::vector<OfThread<recording::Sent>> sent;
  std::vector<Handled> handled;
  std::vector<recording::Carried> carried;
  std::vector<recording::StepsTaken> steps;
  std::vector<recording::Called> called;  ///< of each context in the order in which it took them
  std::vector<recording::Answered> answered;
  std::vector<recording::GivenBack> given_back;
  std::vector<recording::Rejected> rejected;
  std::vector<recording::Lost> lost;
  std::vector<recording::Unheard> unheard;
  std::vector<OfThread<recording::CallerWaited>> caller_waits;
  /// By this library's numbers (observe/recording/record_numbers.hpp); behind its own what only the
  /// file has.
  std::vector<std::string> messages, receivers, calls, operations, outcomes;
  std::vector<std::string> operators;  ///< by the file's numbers
  std::vector<std::string> unknown;    ///< kinds that this library does not have
  std::uint64_t dropped = 0;
  std::int64_t first = 0, taken = 0;
};

/// Texts in the records lie in `bytes`. Throws bad_data.
Records read_records(std::span<const std::byte> bytes);

/// "dispatch" of number 1, which the file's tables know; "" of 0.
inline const std::string& name_in(const std::vector<std::string>& table, std::size_t number) {
  static const std::string none;
  return number == 0 || number > table.size() ? none : table[number - 1];
}

}  // namespace polychron::trace
