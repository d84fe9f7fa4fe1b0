// A context on a runtime that records, and the stories of it.
#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "observe/trace/check.hpp"
#include "observe/trace/joined_trace.hpp"
#include "polychron/polychron.hpp"
#include "tests/device.hpp"

namespace polychron::testing {

inline const OperandDescriptor one_number{DataType::float32, {1}};

struct Recorded {
  explicit Recorded(const TraceOptions& trace = {}, const ContextOptions& options = {}) {
    runtime.start_trace(trace);
    context = runtime.create_context(options).get();
  }

  Tensor tensor(const std::string& label) {
    TensorDescriptor descriptor;
    descriptor.data_type = DataType::float32;
    descriptor.shape = {1};
    descriptor.readable = descriptor.writable = true;
    descriptor.label = label;
    return context.create_tensor(descriptor).get();
  }
  /// out = in * 2 + 1.
  Graph graph(const std::string& label) {
    GraphBuilder builder(context);
    const auto two = builder.constant(one_number, std::vector{2.0F});
    const auto one = builder.constant(one_number, std::vector{1.0F});
    const auto out = builder.add(builder.mul(builder.input("in", one_number), two), one);
    return builder.build({{"out", out}}, {label}).get();
  }
  trace::JoinedTrace story() { return trace::join(runtime.trace()); }

  Runtime runtime;
  Context context;
};

/// The events that `holds` is true of.
template <class F>
std::vector<trace::Index> events_where(const trace::JoinedTrace& story, F holds) {
  std::vector<trace::Index> found;
  for (trace::Index i = 0; i < story.events.size(); ++i)
    if (holds(story.events[i])) found.push_back(i);
  return found;
}

inline std::vector<trace::Index> operations(const trace::JoinedTrace& story,
                                            const std::string& name) {
  return events_where(story, [&](const trace::Event& event) {
    return event.kind == trace::Event::Kind::operation && event.name == name;
  });
}

/// The promises of each recording: indexes resolve, times nest, causes are earlier.
inline void check_promises(const trace::JoinedTrace& story) {
  using trace::Event;
  for (trace::Index i = 0; i < story.events.size(); ++i) {
    const auto& event = story.events[i];
    BOOST_REQUIRE(event.actor < story.actors.size());
    BOOST_TEST((i == 0 || story.events[i - 1].begin <= event.begin), "event " << i);
    if (!event.cause) {
      // Lanes meet when the context begins, which is before it handles anything.
      const bool first = event.kind == Event::Kind::call || event.name == "meet";
      BOOST_TEST((first || story.dropped != 0), "nothing led to " << trace::title_of(event));
      continue;
    }
    BOOST_REQUIRE(*event.cause < story.events.size());
    const auto& cause = story.events[*event.cause];
    BOOST_TEST(cause.begin <= event.begin,
               trace::title_of(event) << " is before its cause " << trace::title_of(cause));
    const bool within = event.kind == Event::Kind::step ||
                        (event.kind == Event::Kind::operation && event.error.size() < 2);
    if (within)
      BOOST_TEST((event.actor == cause.actor && event.end() <= cause.end()),
                 trace::title_of(event) << " is not within " << trace::title_of(cause));
  }
  for (const auto& message : story.messages) {
    BOOST_REQUIRE((message.from_actor && message.to_actor && message.sent));
    if (message.from) BOOST_REQUIRE(*message.from < story.events.size());
    if (!message.to) continue;
    BOOST_REQUIRE(*message.to < story.events.size());
    BOOST_TEST(*message.sent <= *message.received);
    BOOST_TEST(story.events[*message.to].actor == *message.to_actor);
  }
  const auto verdict = trace::check(story);
  BOOST_TEST(verdict.checked > 0U);
  for (const auto& broken : verdict.broken) BOOST_ERROR(broken);
}

}  // namespace polychron::testing
