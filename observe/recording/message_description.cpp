#include "observe/recording/message_description.hpp"

#include <concepts>
#include <type_traits>

#include "messages/names.hpp"

namespace polychron::recording {

namespace {

void add_field(std::string& line, std::string_view text) {
  line += '\t';
  for (const char c : text) line += c == '\t' || c == '\n' || c == '\r' ? ' ' : c;
}

/// The footprint of an operation.
struct Touched {
  Footprint& footprint;
  void operator()(const msg::TensorSlot* tensor, bool changes) const {
    (changes ? footprint.writes : footprint.reads).push_back(tensor->id);
  }
  void operator()(const msg::GraphSlot* graph, bool) const { footprint.graph = graph->id; }
};

void add_objects(const msg::Call& call, Footprint& footprint) {
  std::visit(
      [&](const auto& c) {
        using C = std::remove_cvref_t<decltype(c)>;
        constexpr bool only_reads =
            std::is_same_v<C, msg::ReadTensor> || std::is_same_v<C, msg::QueryError>;
        if constexpr (requires { c.tensor; })
          (only_reads ? footprint.reads : footprint.writes).push_back(c.tensor);
        if constexpr (requires { c.graph; }) footprint.graph = c.graph;
        if constexpr (requires { c.inputs; })
          footprint.reads.assign(c.inputs.begin(), c.inputs.end());
        if constexpr (requires { c.outputs; })
          footprint.writes.assign(c.outputs.begin(), c.outputs.end());
      },
      call);
}

std::uint32_t counted_from_one(std::size_t index) { return static_cast<std::uint32_t>(index + 1); }

/// Takes each common field from every message that has it.
struct Visitor {
  Description& to;

  void operator()(const msg::submit& m) const {
    to.about.what = counted_from_one(m.call.index());
    to.about.label = msg::label_of(m.call);
    add_objects(m.call, to.footprint);
    if (const auto* report = std::get_if<msg::Report>(&m.call)) error(report->error);
  }
  void operator()(const msg::carry_out& m) const {
    to.about.what = counted_from_one(m.operation.index());
    to.about.ticket = m.stamp.ticket;
    to.about.label = msg::label_of(m.operation);
    to.footprint.lane = m.stamp.at.lane;
    to.footprint.turn = m.stamp.at.turn;
    for (const auto& wait : m.stamp.waits) {
      to.footprint.waits.push_back(wait.at.lane);
      to.footprint.waits.push_back(wait.at.turn);
    }
    msg::footprint_of(m.operation, Touched{to.footprint});
    if (const auto* fail = std::get_if<msg::op::Fail>(&m.operation)) error(fail->error);
  }
  void operator()(const msg::compiled& m) const {
    to.footprint.graph = m.call.graph;
    to.about.label = m.call.description->label;
    if (!m.plan) error(m.plan.error());
  }
  template <class Message>
  void operator()(const Message& m) const {
    if constexpr (requires { m.ticket; }) to.about.ticket = m.ticket;
    if constexpr (requires { m.outcome; }) {
      to.about.what = counted_from_one(m.outcome.index());
      std::visit(
          [&](const auto& outcome) {
            if constexpr (requires { outcome.error; }) error(outcome.error);
          },
          m.outcome);
    }
    if constexpr (requires {
                    { m.error } -> std::convertible_to<const Error&>;
                  })
      error(m.error);
    if constexpr (requires {
                    { *m.error } -> std::convertible_to<const Error&>;
                  })
      if (m.error) error(*m.error);
    if constexpr (requires { m.wait.at; }) {
      to.footprint.lane = m.wait.at.lane;
      to.footprint.turn = m.wait.at.turn;
    }
    if constexpr (requires { m.turn; }) to.footprint.turn = m.turn;
    if constexpr (requires { m.tensor; }) to.footprint.writes.push_back(m.tensor);
    if constexpr (requires { m.graph; }) to.footprint.graph = m.graph;
  }
  void error(const Error& error) const {
    to.error_text = lines_of(error);
    to.about.error = to.error_text;
  }
};

}  // namespace

std::string lines_of(const Error& error) {
  std::string lines;
  for (const auto* e = &error; e != nullptr; e = e->cause()) {
    if (!lines.empty()) lines += '\n';
    lines += std::to_string(e->ticket());
    add_field(lines, to_string(e->kind()));
    add_field(lines, e->operation());
    add_field(lines, e->label());
    add_field(lines, e->object());
    add_field(lines, e->ran() ? "ran" : "not run");
    add_field(lines, e->message());
  }
  return lines;
}

void describe(const msg::MessageView& message, Description& description) {
  description.about.message = static_cast<std::uint32_t>(message.index());
  std::visit([&](const auto* m) { Visitor{description}(*m); }, message);
}

}  // namespace polychron::recording
