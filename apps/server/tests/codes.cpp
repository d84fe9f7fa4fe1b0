// Models made of code, and with them tensors of strings, which no ONNX model here has.
#include <boost/asio/post.hpp>
#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>
#include <cctype>
#include <list>
#include <mutex>
#include <thread>

#include "protocol/strings.hpp"
#include "rig.hpp"

namespace polychron::server::tests {

namespace {

/// What the tests see of the code below, and how they let it go on.
struct Desk {
  std::mutex mutex;
  std::vector<Promise<EngineOutcome>> held;
  std::vector<EngineRequest> requests;  ///< without their tensors
  std::atomic<int> alive{0};

  std::size_t holds() {
    const std::lock_guard lock(mutex);
    return held.size();
  }
};

/// Strings in upper case, and their lengths. Some strings make it misbehave.
class Upper final : public Engine {
 public:
  explicit Upper(Desk& desk) : desk_(desk) { ++desk_.alive; }
  ~Upper() override { --desk_.alive; }
  const Signature& signature() const override { return signature_; }
  std::vector<Context> contexts() const override { return {}; }

  Future<EngineOutcome> infer(EngineRequest&& request) override {
    const auto& x = request.inputs.front();
    std::vector<std::string> strings;
    std::vector<std::int64_t> lengths;
    for (const auto each : strings_of(x)) {
      strings.emplace_back(each);
      for (auto& c : strings.back()) c = static_cast<char>(std::toupper(c));
      lengths.push_back(static_cast<std::int64_t>(each.size()));
    }
    const auto order = strings.empty() ? "" : strings.front();
    Promise<EngineOutcome> promise;
    auto future = promise.future();
    EngineAnswer answer;
    answer.outputs.push_back({"n", WireType::int64, x.shape, Buffer::copy_of(lengths)});
    if (order == "THROW") throw Error(ErrorKind::operation_error, "the code failed");
    if (order == "THROW SOMETHING") throw std::runtime_error("something");
    if (order == "REJECT") promise.reject(Error(ErrorKind::context_lost, "it is gone"));
    if (order == "REFUSE") promise.resolve(Refusal(Status::bad_request, "'x' is not nice"));
    if (order == "MISSING") promise.resolve(std::move(answer));
    if (order == "SHORT") strings.pop_back();
    if (order == "HOLD") {
      const std::lock_guard lock(desk_.mutex);
      desk_.held.push_back(promise);
      desk_.requests.push_back(
          {request.label, {}, {}, {}, request.deadline, request.begin_by, request.cancellation});
    }
    if (order == "DROP" || order == "HOLD") return future;
    answer.outputs.push_back({"y", WireType::bytes, x.shape, bytes_of(strings)});
    promise.resolve(std::move(answer));
    return future;
  }

 private:
  Desk& desk_;
  const Signature signature_{{{"x", WireType::bytes, {{}}}},
                             {{"y", WireType::bytes, {{}}}, {"n", WireType::int64, {{}}}}};
};

/// A server with the model "upper".
struct CodeRig {
  explicit CodeRig(const std::string& config = R"({"code": "upper"})") {
    rig = std::make_unique<Rig>(std::vector<std::string>{"copy_fp32"}, [this](auto& options) {
      options.engines["upper"] = [this](const EngineOrigin&, const EngineHost&) {
        return std::make_shared<Upper>(desk);
      };
    });
    rig->folder.write("upper/config.json", config);
    rig->look();
  }
  Desk desk;
  std::unique_ptr<Rig> rig;
};

std::string request_of(const std::string& data, std::size_t count, const std::string& more = {}) {
  return R"({"inputs":[{"name":"x","datatype":"BYTES","shape":[)" + std::to_string(count) +
         R"(],"data":)" + data + "}]" + more + "}";
}

const std::string infer_upper = "/v2/models/upper/infer";

/// A request whose strings are bytes behind the JSON.
Response post_bytes(Client& client, const std::string& bytes, std::size_t count,
                    bool binary_answer) {
  const auto json =
      R"({"parameters":{"binary_data_output":)" + std::string(binary_answer ? "true" : "false") +
      R"(},"inputs":[{"name":"x","datatype":"BYTES","shape":[)" + std::to_string(count) +
      R"(],"parameters":{"binary_data_size":)" + std::to_string(bytes.size()) + "}}]}";
  return client.post(infer_upper, json + bytes,
                     "Inference-Header-Content-Length: " + std::to_string(json.size()) + "\r\n");
}

std::string joined(const std::vector<std::string>& strings) {
  std::string bytes;
  for (const auto& each : strings) append_string(bytes, each);
  return bytes;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(codes)

BOOST_AUTO_TEST_CASE(strings_as_json) {
  const CodeRig code;
  Client client(code.rig->port());
  BOOST_TEST(client.get("/v2/models/upper").body ==
             R"({"name":"upper","versions":["1"],"platform":"code",)"
             R"("inputs":[{"name":"x","datatype":"BYTES","shape":[-1]}],)"
             R"("outputs":[{"name":"y","datatype":"BYTES","shape":[-1]},)"
             R"({"name":"n","datatype":"INT64","shape":[-1]}]})");
  const auto response =
      client.post(infer_upper, request_of(R"(["a\n\u0000\"","","\u00e4\ud83d\ude00"])", 3));
  BOOST_TEST(response.status == 200, response.body);
  const auto answer = boost::json::parse(response.body);
  BOOST_TEST(answer.at("outputs").at(0).at("data") ==
             boost::json::parse(R"(["A\n\u0000\"","","\u00e4\ud83d\ude00"])"));
  BOOST_TEST(answer.at("outputs").at(1).at("data") == boost::json::parse("[4,0,6]"));
  // None at all, and one output alone.
  const auto none = client.post(infer_upper, request_of("[]", 0, R"(,"outputs":[{"name":"n"}])"));
  BOOST_TEST(
      none.body.find(R"("outputs":[{"name":"n","datatype":"INT64","shape":[0],"data":[]}])") !=
          std::string::npos,
      none.body);
}

BOOST_AUTO_TEST_CASE(strings_as_bytes) {
  const CodeRig code;
  Client client(code.rig->port());
  const auto bytes = joined({std::string("\xff\0x", 3), "", "abc"});
  const auto response = post_bytes(client, bytes, 3, true);
  BOOST_TEST(response.status == 200, response.body);
  const auto length = std::stoul(response.headers.at("inference-header-content-length"));
  BOOST_TEST((response.body.substr(length, bytes.size()) ==
              joined({std::string("\xff\0X", 3), "", "ABC"})));
  // JSON cannot carry those bytes.
  const auto refused = post_bytes(client, bytes, 3, false);
  BOOST_TEST(refused.status == 400);
  BOOST_TEST(refused.body ==
             R"({"error":"output 'y' has bytes that are not UTF-8: ask for it with binary_data"})");
}

BOOST_AUTO_TEST_CASE(damaged_strings_are_refused) {
  const CodeRig code;
  Client client(code.rig->port());
  const auto error = [&](const std::string& bytes, std::size_t count) {
    const auto response = post_bytes(client, bytes, count, true);
    return std::to_string(response.status) + " " + response.body;
  };
  const auto abc = joined({"abc"});
  BOOST_TEST(error(abc, 2).find("400 {\"error\":\"tensor 'x', BYTES [2]: got 1 elements") == 0U);
  BOOST_TEST(error(abc.substr(0, 6), 1).find("a length of 3, but 2 bytes follow") !=
             std::string::npos);
  BOOST_TEST(error(abc + "12", 2).find("element 1 has 2 bytes, expected a length of 4") !=
             std::string::npos);
  BOOST_TEST(error(abc + "12", 1).find("more elements follow") != std::string::npos);
  BOOST_TEST(error(std::string(8 << 20, '\0'), 1).find("more elements follow") !=
             std::string::npos);
  BOOST_TEST(error("\xff\xff\xff\xff", 1).find("a length of 4294967295, but 0 bytes follow") !=
             std::string::npos);
  BOOST_TEST(error("", 4294967295).find("got 0 elements") != std::string::npos);
  BOOST_TEST(client.post(infer_upper, request_of("[1]", 1)).body ==
             R"({"error":"input 'x': element 0 is 1, expected a string"})");
  // Models of numbers have no strings.
  BOOST_TEST(client.post("/v2/models/copy_fp32/infer", request_of(R"(["a"])", 1)).body ==
             R"({"error":"input 'x' of model 'copy_fp32': expected FP32 [-1], got BYTES [1]"})");
  BOOST_TEST(client.post(infer_upper, request_of(R"(["a"])", 1)).status == 200);
}

BOOST_AUTO_TEST_CASE(code_that_misbehaves_costs_its_own_request) {
  const CodeRig code;
  Client client(code.rig->port());
  const auto error = [&](const std::string& order) {
    const auto response = client.post(infer_upper, request_of("[\"" + order + "\"]", 1));
    return std::to_string(response.status) + " " + response.body;
  };
  BOOST_TEST(error("throw").find("500 {\"error\":\"model 'upper', request: the code failed") == 0U,
             error("throw"));
  BOOST_TEST(error("throw something") == "500 {\"error\":\"model 'upper', request: something\"}");
  BOOST_TEST(error("reject").find("503 ") == 0U);
  BOOST_TEST(error("refuse") == "400 {\"error\":\"'x' is not nice\"}");
  BOOST_TEST(error("missing") == "500 {\"error\":\"model 'upper': output 'y' is missing\"}");
  BOOST_TEST(error("short") == "500 {\"error\":\"tensor 'y', BYTES [1]: got 0 elements\"}");
  BOOST_TEST(error("drop").find("503 ") == 0U);
  BOOST_TEST(error("fine").find("200 ") == 0U);
  BOOST_TEST(code.rig->model("upper")->in_flight() == 0U);
}

BOOST_AUTO_TEST_CASE(code_has_limits_deadlines_and_cancellation) {
  CodeRig code(R"({"code": "upper", "in_flight": 2})");
  auto& desk = code.desk;
  const auto model = code.rig->model("upper");
  const auto hold = request_of(R"(["hold"])", 1);
  Client late(code.rig->port()), other(code.rig->port());
  auto leaves = std::make_unique<Client>(code.rig->port());
  leaves->send(post_text(infer_upper, hold));
  until([&] { return desk.holds() == 1; });
  BOOST_TEST(
      late.post(infer_upper, request_of(R"(["hold"])", 1, R"(,"parameters":{"timeout":1000})"))
          .status == 504);
  until([&] { return desk.requests.at(1).cancellation.cancelled(); });
  // Both places are taken until the code is done with the requests.
  BOOST_TEST(model->in_flight() == 2U);
  BOOST_TEST(other.post(infer_upper, request_of(R"(["a"])", 1)).status == 429);
  leaves.reset();
  until([&] { return desk.requests.at(0).cancellation.cancelled(); });
  desk.held.clear();
  until([&] { return model->in_flight() == 0; });
  BOOST_TEST(other.post(infer_upper, request_of(R"(["a"])", 1)).status == 200);
}

BOOST_AUTO_TEST_CASE(a_request_that_waits_has_to_begin_in_time_to_end) {
  using Clock = std::chrono::steady_clock;
  CodeRig code;
  auto& desk = code.desk;
  const auto model = code.rig->model("upper");
  const auto hold = request_of(R"(["hold"])", 1, R"(,"parameters":{"timeout":600000000})");
  std::list<Client> clients;
  const auto send = [&] {
    const auto before = desk.holds();
    clients.emplace_back(code.rig->port()).send(post_text(infer_upper, hold));
    until([&] { return desk.holds() == before + 1; });
  };
  send();
  const auto begun = Clock::now();
  until([&] { return Clock::now() > begun + std::chrono::milliseconds(20); });
  EngineAnswer answer;
  std::string bytes;
  append_string(bytes, "A");
  answer.outputs.push_back(
      {"y", WireType::bytes, {1}, Buffer::copy_of(std::as_bytes(std::span(bytes)))});
  answer.outputs.push_back(
      {"n", WireType::int64, {1}, Buffer::copy_of(std::vector<std::int64_t>{1})});
  desk.held.front().resolve(std::move(answer));
  BOOST_TEST(clients.front().receive().value().status == 200);
  const auto usual = model->usual_time();
  BOOST_TEST((usual >= std::chrono::milliseconds(20)));
  const auto before = Clock::now();
  send();
  const auto between = Clock::now();
  send();
  const auto after = Clock::now();
  // The first has the lane to itself; the second ends in time only if it begins before.
  const std::chrono::minutes timeout(10);
  const auto& alone = desk.requests[1];
  BOOST_TEST((*alone.begin_by >= before + timeout && *alone.begin_by <= between + timeout));
  const auto& waits = desk.requests[2];
  BOOST_TEST((*waits.begin_by == *waits.deadline - usual));
  BOOST_TEST((*waits.deadline >= between + timeout && *waits.deadline <= after + timeout));
  desk.held.clear();
}

BOOST_AUTO_TEST_CASE(code_comes_and_goes) {
  CodeRig code;
  auto& rig = *code.rig;
  BOOST_TEST(code.desk.alive == 1);
  Client client(rig.port());
  client.send(post_text(infer_upper, request_of(R"(["hold"])", 1)));
  until([&] { return code.desk.holds() == 1; });
  // Any file of its folder belongs to it. The request keeps the old one.
  rig.folder.write("upper/words.txt", "new");
  rig.look();
  BOOST_TEST(code.desk.alive == 2);
  code.desk.held.clear();
  BOOST_TEST(client.receive().value().status == 503);  // the promise was dropped
  until([&] { return code.desk.alive == 1; });
  rig.folder.remove("upper");
  rig.look();
  until([&] { return code.desk.alive == 0; });
}

/// Answers on the server's loop, and not before its context is gone.
class Late final : public Engine {
 public:
  Late(Runtime& runtime, boost::asio::any_io_executor loop, std::atomic<bool>& answered)
      : context_(runtime.create_context().get()), loop_(std::move(loop)), answered_(answered) {}
  const Signature& signature() const override { return signature_; }
  std::vector<Context> contexts() const override { return {context_}; }
  Future<EngineOutcome> infer(EngineRequest&&) override {
    Promise<EngineOutcome> promise;
    thread_ = std::jthread([this, promise] {
      context_.lost().get();
      for (int i = 0; i < 1000; ++i) std::this_thread::yield();
      boost::asio::post(loop_, [this, promise] {
        answered_ = true;
        promise.resolve(Refusal(Status::internal, "too late"));
      });
    });
    return promise.future();
  }

 private:
  const Context context_;
  const boost::asio::any_io_executor loop_;
  std::atomic<bool>& answered_;
  const Signature signature_{{{"x", WireType::bytes, {{}}}}, {{"x", WireType::bytes, {{}}}}};
  std::jthread thread_;
};

BOOST_AUTO_TEST_CASE(the_end_waits_for_code_whose_request_has_timed_out) {
  std::atomic<bool> answered{false};
  {
    Rig rig({}, [&](auto& options) {
      options.engines["late"] = [&](const EngineOrigin&, const EngineHost& host) {
        return std::make_shared<Late>(host.runtime, host.loop, answered);
      };
    });
    rig.folder.write("late/config.json", R"({"code": "late"})");
    rig.look();
    Client client(rig.port());
    BOOST_TEST(
        client
            .post("/v2/models/late/infer", request_of("[]", 0, R"(,"parameters":{"timeout":1000})"))
            .status == 504);
    BOOST_TEST(!answered);
  }
  BOOST_TEST(answered);
}

BOOST_AUTO_TEST_CASE(configurations_that_are_wrong) {
  CodeRig code(R"({"code": "other"})");
  Client client(code.rig->port());
  const auto reason = [&](const std::string& model) {
    return client.post("/v2/models/" + model + "/infer", request_of("[]", 0)).body;
  };
  BOOST_TEST(reason("upper").find("code 'other' is unknown; this server has 'ocr', 'upper'") !=
                 std::string::npos,
             reason("upper"));
  code.rig->folder.write("empty/config.json", "{}");
  code.rig->folder.write("upper/config.json", R"({"code": "upper", "parameters": {"a": "b"}})");
  code.rig->look();
  code.rig->folder.write("copy_fp32.json", R"({"parameters": {"a": 1}})");
  code.rig->look();
  BOOST_TEST(client.get("/state.json").body.find("'parameters' are for models made of code") !=
             std::string::npos);
  BOOST_TEST(
      reason("empty").find("expected a model.onnx or a .gguf in its folder, or \\\"code\\\"") !=
          std::string::npos,
      reason("empty"));
  BOOST_TEST(reason("upper").find("'parameters' 'a': expected a whole number") != std::string::npos,
             reason("upper"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::server::tests
