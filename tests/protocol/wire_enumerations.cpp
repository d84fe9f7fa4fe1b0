// Enumerations of calls, which are read unchecked (only ErrorKind is checked). Not built: these
// fail.
#include "messages/call_codec.hpp"
#include "tests/protocol/fixture.hpp"

using namespace polychron;
using namespace polychron::testing;

BOOST_AUTO_TEST_SUITE(wire_enumerations)

/// A call in which one enumeration has a value that has no name.
template <class T>
void refused(T call) {
  rejected(ErrorKind::bad_data,
           msg::wire::from_bytes<msg::Call>(msg::wire::to_bytes(msg::Call(call))));
}

BOOST_AUTO_TEST_CASE(a_value_without_a_name_is_bad_data) {
  refused(msg::PushScope{ErrorFilter(77)});
  refused(msg::LendTensor{1, 2, LeaseMode(77)});
  auto graph = std::make_shared<ops::Graph>();
  graph->values.push_back({ops::Value::Kind(77), {DataType::float32, {1}}, nullptr, false});
  refused(msg::Build{1, graph});
  graph = std::make_shared<ops::Graph>();
  graph->values.push_back({ops::Value::Kind::input, {DataType(77), {1}}, nullptr, false});
  refused(msg::Build{1, graph});
  graph = std::make_shared<ops::Graph>();
  graph->nodes.push_back({ops::OpId{0}, {}, {}, CastAttributes{DataType(77)}, ""});
  refused(msg::Build{1, graph});
}

BOOST_AUTO_TEST_SUITE_END()
