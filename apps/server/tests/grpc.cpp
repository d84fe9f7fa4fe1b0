// gRPC as its C++ client speaks it: tensors of strings. tests/clients.py has the rest.
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <boost/test/unit_test.hpp>
#include <future>

#include "inference.grpc.pb.h"
#include "protocol/strings.hpp"
#include "rig.hpp"

namespace polychron::server::tests {

namespace {

/// Gives its input back.
class Echo final : public Engine {
 public:
  const Signature& signature() const override { return signature_; }
  std::vector<Context> contexts() const override { return {}; }
  Future<EngineOutcome> infer(EngineRequest&& request) override {
    Promise<EngineOutcome> promise;
    EngineAnswer answer{std::move(request.inputs)};
    promise.resolve(std::move(answer));
    return promise.future();
  }

 private:
  const Signature signature_{{{"x", WireType::bytes, {{}}}}, {{"x", WireType::bytes, {{}}}}};
};

struct GrpcRig {
  GrpcRig()
      : rig({},
            [](auto& options) {
              options.grpc = true;
              options.grpc_port = 0;
              options.service.body_budget = 1 << 20;
              options.service.repository_interface = true;
              options.engines["echo"] = [](const EngineOrigin&, const EngineHost&) {
                return std::make_shared<Echo>();
              };
            }),
        channel(::grpc::CreateChannel("127.0.0.1:" + std::to_string(rig.app->grpc_port()),
                                      ::grpc::InsecureChannelCredentials())),
        stub(inference::GRPCInferenceService::NewStub(channel)) {
    rig.folder.write("echo/config.json", R"({"code": "echo"})");
    rig.look();
  }
  ::grpc::Status infer(const inference::ModelInferRequest& request) {
    ::grpc::ClientContext context;
    return stub->ModelInfer(&context, request, &response);
  }
  Rig rig;
  std::shared_ptr<::grpc::Channel> channel;
  std::unique_ptr<inference::GRPCInferenceService::Stub> stub;
  inference::ModelInferResponse response;  ///< of the last call
};

inference::ModelInferRequest request_of(std::int64_t count) {
  inference::ModelInferRequest request;
  request.set_model_name("echo");
  auto* input = request.add_inputs();
  input->set_name("x");
  input->set_datatype("BYTES");
  input->add_shape(count);
  return request;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(grpc)

BOOST_AUTO_TEST_CASE(strings_raw_and_typed) {
  GrpcRig rig;
  const auto expected = [] {
    std::string bytes;
    append_string(bytes, std::string("\xff\0", 2));
    append_string(bytes, "");
    return bytes;
  }();
  for (const bool raw : {false, true}) {
    auto request = request_of(2);
    if (raw) {
      request.add_raw_input_contents(expected);
    } else {
      auto* contents = request.mutable_inputs(0)->mutable_contents();
      contents->add_bytes_contents(std::string("\xff\0", 2));
      contents->add_bytes_contents("");
    }
    const auto status = rig.infer(request);
    const auto& response = rig.response;
    BOOST_TEST(status.ok(), status.error_message());
    BOOST_TEST(response.outputs(0).datatype() == "BYTES");
    BOOST_TEST((response.raw_output_contents(0) == expected));
  }
}

BOOST_AUTO_TEST_CASE(damaged_strings_are_refused) {
  GrpcRig rig;
  auto request = request_of(1);
  request.add_raw_input_contents("abcdefg");
  const auto status = rig.infer(request);
  BOOST_TEST((status.error_code() == ::grpc::StatusCode::INVALID_ARGUMENT));
  BOOST_TEST(status.error_message().find("tensor 'x', BYTES [1]: element 0 has a length of") == 0U,
             status.error_message());
}

BOOST_AUTO_TEST_CASE(what_a_request_takes_in_memory_counts) {
  GrpcRig rig;
  auto request = request_of(50'000);
  for (int i = 0; i < 50'000; ++i)  // 2 bytes each on the wire
    request.mutable_inputs(0)->mutable_contents()->add_bytes_contents("");
  const auto status = rig.infer(request);
  BOOST_TEST((status.error_code() == ::grpc::StatusCode::UNAVAILABLE));
  BOOST_TEST(status.error_message().find("the bodies of requests in flight have") == 0U,
             status.error_message());
}

BOOST_AUTO_TEST_CASE(what_would_be_ignored_is_refused) {
  GrpcRig rig;
  for (const std::string name : {"sequence_id", "shared_memory_region", "classification"})
    for (const int place : {0, 1, 2}) {
      auto request = request_of(0);
      auto& parameters = place == 0   ? *request.mutable_parameters()
                         : place == 1 ? *request.mutable_inputs(0)->mutable_parameters()
                                      : *request.add_outputs()->mutable_parameters();
      if (place == 2) request.mutable_outputs(0)->set_name("x");
      parameters[name].set_string_param("7");
      auto status = rig.infer(request);
      BOOST_TEST((status.error_code() == ::grpc::StatusCode::UNIMPLEMENTED));
      BOOST_TEST(status.error_message().find(": parameter '" + name + "' is not supported") !=
                 std::string::npos);
      parameters[name].set_int64_param(7);
      BOOST_TEST((rig.infer(request).error_code() == ::grpc::StatusCode::UNIMPLEMENTED));
      parameters[name].set_int64_param(0);  // as if it were absent
      status = rig.infer(request);
      BOOST_TEST(status.ok(), status.error_message());
    }
  inference::RepositoryModelLoadRequest load;
  inference::RepositoryModelLoadResponse loaded;
  load.set_model_name("echo");
  const auto status_of_load = [&] {
    ::grpc::ClientContext context;
    return rig.stub->RepositoryModelLoad(&context, load, &loaded);
  };
  BOOST_TEST(status_of_load().ok());
  (*load.mutable_parameters())["config"].set_string_param("{}");
  const auto refused = status_of_load();
  BOOST_TEST((refused.error_code() == ::grpc::StatusCode::UNIMPLEMENTED));
  BOOST_TEST(refused.error_message().find("parameter 'config'") == 0U, refused.error_message());
}

BOOST_AUTO_TEST_CASE(calls_that_are_unknown_are_told_so) {
  GrpcRig rig;
  ::grpc::ClientContext context;
  ::grpc::GenericStub stub(rig.channel);
  const ::grpc::Slice nothing;
  const ::grpc::ByteBuffer request(&nothing, 1);
  ::grpc::ByteBuffer response;
  std::promise<::grpc::Status> promise;
  stub.UnaryCall(&context, "/inference.GRPCInferenceService/SystemSharedMemoryStatus", {}, &request,
                 &response, [&](const ::grpc::Status& status) { promise.set_value(status); });
  const auto status = promise.get_future().get();
  BOOST_TEST((status.error_code() == ::grpc::StatusCode::UNIMPLEMENTED));
  BOOST_TEST(status.error_message().find("SystemSharedMemoryStatus' is not supported: ") !=
                 std::string::npos,
             status.error_message());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::server::tests
