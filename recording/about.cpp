#include "recording/about.hpp"

#include <algorithm>
#include <concepts>
#include <type_traits>

namespace polychron::recording {

namespace {

void add_field(std::string& line, std::string_view text) {
  line += '\t';
  for (const char c : text) line += c == '\t' || c == '\n' || c == '\r' ? ' ' : c;
}

void add_tensors(const msg::Operation& operation, Footprint& footprint) {
  std::visit(
      [&](const auto& o) {
        using O = std::remove_cvref_t<decltype(o)>;
        constexpr bool only_reads =
            std::is_same_v<O, msg::op::Read> || std::is_same_v<O, msg::op::Query>;
        if constexpr (requires { o.tensor; })
          (only_reads ? footprint.reads : footprint.writes).push_back(o.tensor->id);
        if constexpr (requires { o.graph; }) footprint.graph = o.graph->id;
        if constexpr (requires { o.inputs; })
          for (const auto& tensor : o.inputs) footprint.reads.push_back(tensor->id);
        if constexpr (requires { o.outputs; })
          for (const auto& tensor : o.outputs) footprint.writes.push_back(tensor->id);
      },
      operation);
}

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

template <class V>
std::string_view label_of(const V& variant) {
  return std::visit(
      [](const auto& alternative) -> std::string_view {
        if constexpr (requires { alternative.label; })
          return alternative.label;
        else
          return {};
      },
      variant);
}

std::uint32_t counted_from_one(std::size_t index) { return static_cast<std::uint32_t>(index + 1); }

/// What messages have in common is taken from any that has it.
struct Visitor {
  Description& to;

  void operator()(const msg::submit& m) const {
    to.about.what = counted_from_one(m.call.index());
    to.about.label = label_of(m.call);
    add_objects(m.call, to.footprint);
    if (const auto* report = std::get_if<msg::Report>(&m.call)) error(report->error);
  }
  void operator()(const msg::carry_out& m) const {
    to.about.what = counted_from_one(m.operation.index());
    to.about.ticket = m.stamp.ticket;
    to.about.label = label_of(m.operation);
    to.footprint.lane = m.stamp.at.lane;
    to.footprint.turn = m.stamp.at.turn;
    for (const auto& wait : m.stamp.waits) {
      to.footprint.waits.push_back(wait.at.lane);
      to.footprint.waits.push_back(wait.at.turn);
    }
    add_tensors(m.operation, to.footprint);
    if (const auto* fail = std::get_if<msg::op::Fail>(&m.operation)) error(fail->error);
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
