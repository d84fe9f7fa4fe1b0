// A server of gRPC in the test's own process, and what calls say to it.
#pragma once

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <functional>
#include <list>
#include <string>

#include "frames.hpp"
#include "inference.pb.h"
#include "rig.hpp"

namespace polychron::server::tests {

constexpr int invalid_argument = 3, deadline_exceeded = 4, not_found = 5, resource_exhausted = 8,
              unimplemented = 12, unavailable = 14, unauthenticated = 16;

struct GrpcServer {
  explicit GrpcServer(const std::function<void(ServerOptions&)>& change = {})
      : rig({"simple", "copy_fp32"}, [&](auto& options) {
          options.grpc = true;
          options.grpc_port = 0;
          options.engines["holds"] = [&](const EngineOrigin&, const EngineHost&) {
            return std::make_shared<Holding>(requests);
          };
          if (change) change(options);
        }) {}
  /// Adds the model "holds", which answers when release() is called.
  void hold(const std::string& config = R"({"code": "holds"})") {
    rig.folder.write("holds/config.json", config);
    rig.look();
  }
  void wait_for_held(std::uint64_t count) const {
    until([&] { return rig.model("holds")->in_flight() == count; });
  }
  void release() {
    for (auto& each : requests)
      each.resolve(EngineOutcome(Refusal(Status::unavailable, "enough", 1)));
    requests.clear();
  }
  std::uint16_t port() const { return rig.app->grpc_port(); }
  std::uint64_t held() const { return rig.app->service().budget.used(); }
  double connections() const { return rig.app->service().metrics.connections.Value(); }
  void check_serves() const {
    FrameClient client(port());
    BOOST_TEST(client.call(1, live_method).answer == message_text("\b\1"));
  }
  std::list<Promise<EngineOutcome>> requests;
  Rig rig;
};

/// A model of one input with so many zeros.
inline std::string copied_zeros(std::size_t count, const std::string& model = "copy_fp32") {
  inference::ModelInferRequest request;
  request.set_model_name(model);
  auto* input = request.add_inputs();
  input->set_name("x");
  input->set_datatype("FP32");
  input->add_shape(static_cast<std::int64_t>(count));
  request.add_raw_input_contents(std::string(count * 4, '\0'));
  return request.SerializeAsString();
}

inline std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * 4096;
}

}  // namespace polychron::server::tests
