// Requests that are joined along dimension 0.
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <deque>
#include <list>
#include <random>
#include <thread>

#include "models/joint.hpp"
#include "rig.hpp"

namespace polychron::server::tests {

namespace {

/// A batcher of one lane, whose runs end when the test says so. No thread but the test's.
struct Bench {
  explicit Bench(std::uint32_t most = 8, std::chrono::microseconds window = std::chrono::hours(1)) {
    ModelConfig config;
    config.max_batch = most;
    config.batch_window = window;
    batcher = std::make_shared<Batcher>(config, io.get_executor(),
                                        [this](Batch&& batch, std::function<void()> done) {
                                          if (without_memory) throw std::bad_alloc();
                                          running.push_back({std::move(batch), std::move(done)});
                                        });
  }
  struct Running {
    Batch batch;
    std::function<void()> done;
  };

  Future<EngineOutcome> add(std::vector<float> values, const Cancellation& cancellation = {},
                            const std::vector<std::string>& outputs = {}) {
    BatchMember member;
    const auto rows = static_cast<std::uint32_t>(values.size() / 2);
    member.request.inputs.push_back({"x", WireType::fp32, {rows, 2}, Buffer::copy_of(values)});
    member.request.cancellation = cancellation;
    member.request.outputs = outputs;
    member.request.label = "request " + std::to_string(++made);
    member.rows = rows;
    auto future = member.promise.future();
    batcher->add(std::move(member));
    return future;
  }
  /// Answers the oldest running batch with its own input.
  void echo(std::uint32_t rows) {
    auto [batch, done] = std::move(running.front());
    running.pop_front();
    auto request = joined(batch, rows, "joined");
    done();
    settle(std::move(batch), EngineAnswer{std::move(request.inputs)}, rows);
  }
  std::vector<std::size_t> sizes() const {
    std::vector<std::size_t> all;
    for (const auto& each : running) all.push_back(each.batch.size());
    return all;
  }

  boost::asio::io_context io;
  std::shared_ptr<Batcher> batcher;
  std::deque<Running> running;
  int made = 0;
  bool without_memory = false;  ///< runs do not start
};

std::vector<float> values_of(Future<EngineOutcome>&& future) {
  auto outcome = std::move(future).get();
  const auto& output = std::get<EngineAnswer>(outcome).outputs.at(0);
  BOOST_TEST(output.shape.at(0) * 2 == output.bytes.size() / 4);
  std::vector<float> values(output.bytes.size() / 4);
  std::memcpy(values.data(), output.bytes.data(), output.bytes.size());
  return values;
}

Status status_of(Future<EngineOutcome>&& future) {
  auto outcome = std::move(future).get();
  const auto* refusal = std::get_if<Refusal>(&outcome);
  return refusal ? refusal->status() : Status::ok;
}

using Sizes = std::vector<std::size_t>;
using Values = std::vector<float>;

}  // namespace

BOOST_AUTO_TEST_SUITE(batches)

BOOST_AUTO_TEST_CASE(a_request_runs_at_once_while_the_lane_is_free) {
  Bench bench;
  auto alone = bench.add({1, 2});
  BOOST_TEST(bench.sizes() == Sizes{1});
  // These wait for the lane, and then share it.
  auto a = bench.add({3, 4, 5, 6}), b = bench.add({7, 8}), c = bench.add({9, 10});
  BOOST_TEST(bench.sizes() == Sizes{1});
  bench.echo(1);
  BOOST_TEST(values_of(std::move(alone)) == Values({1, 2}));
  BOOST_TEST(bench.sizes() == Sizes{3});
  bench.echo(8);  // padded
  BOOST_TEST(values_of(std::move(a)) == Values({3, 4, 5, 6}));
  BOOST_TEST(values_of(std::move(b)) == Values({7, 8}));
  BOOST_TEST(values_of(std::move(c)) == Values({9, 10}));
}

BOOST_AUTO_TEST_CASE(a_full_batch_and_a_window_do_not_wait_for_the_lane) {
  Bench bench(4);
  std::list<Future<EngineOutcome>> all;
  for (int i = 0; i < 6; ++i) all.push_back(bench.add({1, 2}));
  BOOST_TEST(bench.sizes() == Sizes({1, 4}));          // and one waits
  all.push_back(bench.add({1, 2, 3, 4, 5, 6, 7, 8}));  // does not fit beside it
  BOOST_TEST(bench.sizes() == Sizes({1, 4, 1, 1}));
  Bench brief(4, std::chrono::microseconds(1));
  auto first = brief.add({1, 2}), second = brief.add({3, 4});
  BOOST_TEST(brief.sizes() == Sizes{1});
  brief.io.run();  // the timer
  BOOST_TEST(brief.sizes() == Sizes({1, 1}));
}

BOOST_AUTO_TEST_CASE(requests_for_other_outputs_are_not_joined) {
  Bench bench;
  auto first = bench.add({1, 2}), a = bench.add({3, 4}), b = bench.add({5, 6}, {}, {"y"});
  bench.echo(1);
  BOOST_TEST(bench.sizes() == Sizes{1});
  bench.echo(1);
  BOOST_TEST(bench.sizes() == Sizes{1});
  bench.echo(1);
  BOOST_TEST(values_of(std::move(b)) == Values({5, 6}));
}

BOOST_AUTO_TEST_CASE(a_member_that_leaves_does_not_touch_its_neighbours) {
  Bench bench;
  Cancellation leaves;
  auto first = bench.add({1, 2}), a = bench.add({3, 4}), b = bench.add({5, 6}, leaves),
       c = bench.add({7, 8});
  leaves.cancel();
  bench.echo(1);
  BOOST_TEST((status_of(std::move(b)) == Status::cancelled));
  BOOST_TEST(bench.sizes() == Sizes{2});
  bench.echo(2);
  BOOST_TEST(values_of(std::move(a)) == Values({3, 4}));
  BOOST_TEST(values_of(std::move(c)) == Values({7, 8}));
  // A whole group that left frees the lane for the next.
  Cancellation all;
  auto busy = bench.add({1, 2}), gone = bench.add({3, 4}, all),
       stays = bench.add({5, 6}, {}, {"y"});
  all.cancel();
  bench.echo(1);
  BOOST_TEST((status_of(std::move(gone)) == Status::cancelled));
  bench.echo(1);
  BOOST_TEST(values_of(std::move(stays)) == Values({5, 6}));
}

BOOST_AUTO_TEST_CASE(a_failed_run_fails_all_of_its_batch) {
  Bench bench;
  auto first = bench.add({1, 2}), a = bench.add({3, 4}), b = bench.add({5, 6});
  bench.echo(1);
  auto [batch, done] = std::move(bench.running.front());
  BOOST_TEST(joined(batch, 2, "2 joined requests").label == "2 joined requests");
  done();
  settle(std::move(batch), Refusal(Status::internal, "the chain"), 2);
  BOOST_TEST((status_of(std::move(a)) == Status::internal));
  BOOST_TEST((status_of(std::move(b)) == Status::internal));
}

BOOST_AUTO_TEST_CASE(broken_invariants_end_requests_alone) {
  Bench bench;
  auto first = bench.add({1, 2}), a = bench.add({3, 4}), b = bench.add({5, 6});
  bench.echo(1);
  auto [batch, done] = std::move(bench.running.front());
  const auto broken = [](const std::string& what) {
    return [what](const Error& error) {
      BOOST_TEST(error.message() == "a broken invariant, please report it: " + what);
      return error.kind() == ErrorKind::internal;
    };
  };
  // Room for one of the two.
  BOOST_CHECK_EXCEPTION(joined(batch, 1, ""), Error,
                        broken("a batch has as many rows as its members"));
  batch.front().request.inputs.front().bytes = Buffer::copy_of(Values({7}));
  BOOST_CHECK_EXCEPTION(joined(batch, 2, ""), Error,
                        broken("a member's input has the rows of the member"));
  BatchMember wrong;
  wrong.rows = 0;
  BOOST_CHECK_EXCEPTION(bench.batcher->add(std::move(wrong)), Error,
                        broken("a member of a batch has 1 to max_batch rows"));
  done();
  std::vector<WireTensor> whole;
  whole.push_back({"x", WireType::fp32, {1, 2}, Buffer(8)});
  settle(std::move(batch), EngineAnswer{std::move(whole)}, 1);
  BOOST_TEST(values_of(std::move(a)).size() == 2U);
  BOOST_TEST((status_of(std::move(b)) == Status::internal));
}

BOOST_AUTO_TEST_CASE(a_batch_without_memory_frees_its_lane) {
  Bench bench;
  bench.without_memory = true;
  BOOST_TEST((status_of(bench.add({1, 2})) == Status::unavailable));
  bench.without_memory = false;
  auto first = bench.add({1, 2}), a = bench.add({3, 4}), b = bench.add({5, 6});
  BOOST_TEST(bench.sizes() == Sizes{1});
  bench.without_memory = true;
  bench.echo(1);
  BOOST_TEST(values_of(std::move(first)) == Values({1, 2}));
  BOOST_TEST((status_of(std::move(a)) == Status::unavailable));
  BOOST_TEST((status_of(std::move(b)) == Status::unavailable));
  bench.without_memory = false;
  auto last = bench.add({7, 8});
  bench.echo(1);
  BOOST_TEST(values_of(std::move(last)) == Values({7, 8}));
}

BOOST_AUTO_TEST_CASE(many_threads_join_and_leave) {
  boost::asio::io_context io;
  auto work = boost::asio::make_work_guard(io);
  ModelConfig config;
  config.max_batch = 8;
  config.batch_window = std::chrono::microseconds(50);
  config.lanes = 2;
  const auto batcher = std::make_shared<Batcher>(
      config, io.get_executor(), [&](Batch&& batch, std::function<void()> done) {
        boost::asio::post(io, [held = std::make_shared<Batch>(std::move(batch)), done] {
          std::uint32_t rows = 0;
          for (const auto& each : *held) rows += each.rows;
          auto request = joined(*held, rows, "joined");
          done();
          settle(std::move(*held), EngineAnswer{std::move(request.inputs)}, rows);
        });
      });
  std::vector<std::jthread> loops;
  for (int i = 0; i < 2; ++i) loops.emplace_back([&] { io.run(); });
  std::atomic<int> right{0}, wrong{0}, left{0};
  const auto call = [&](int number) {
    const Values sent(static_cast<std::size_t>(2 * (1 + number % 4)), static_cast<float>(number));
    Cancellation cancellation;
    BatchMember member;
    member.rows = static_cast<std::uint32_t>(sent.size() / 2);
    member.request.inputs.push_back({"x", WireType::fp32, {member.rows, 2}, Buffer::copy_of(sent)});
    member.request.cancellation = cancellation;
    auto future = member.promise.future();
    batcher->add(std::move(member));
    if (number % 7 == 0) cancellation.cancel();
    auto outcome = std::move(future).get();
    const auto* answer = std::get_if<EngineAnswer>(&outcome);
    if (!answer) return ++left;
    const auto& bytes = answer->outputs.at(0).bytes;
    const bool same = bytes.size() == sent.size() * sizeof(float) &&
                      std::memcmp(bytes.data(), sent.data(), bytes.size()) == 0;
    return same ? ++right : ++wrong;
  };
  std::vector<std::jthread> clients;
  for (int t = 0; t < 8; ++t)
    clients.emplace_back([&call, t] {
      for (int i = 0; i < 500; ++i) call(t * 500 + i);
    });
  clients.clear();
  work.reset();
  loops.clear();
  BOOST_TEST(wrong == 0);
  BOOST_TEST(right + left == 4000);
}

BOOST_AUTO_TEST_CASE(every_client_gets_its_own_rows) {
  Rig rig({});
  rig.folder.add("copy_fp32", "copy/model");
  rig.folder.write("copy/config.json", R"({"max_batch": 16, "batch_window_us": 1000})");
  rig.look();
  const auto model = rig.model("copy");
  BOOST_TEST(model->engine().graphs().builds == 5U);  // 1, 2, 4, 8 and 16 rows
  const auto seed = std::random_device()();
  std::mt19937 random(seed);
  std::list<Client> clients;
  for (int i = 0; i < 8; ++i) clients.emplace_back(rig.port());
  for (int rounds = 0; rounds < 20 || model->metrics()->joined.Value() == 0; ++rounds) {
    std::vector<std::string> expected;
    for (auto& client : clients) {
      const auto rows = 1 + random() % 6;
      std::string data = "[" + std::to_string(random() % 1000);
      for (std::size_t i = 1; i < rows; ++i) data += "," + std::to_string(random() % 1000);
      expected.push_back("\"data\":" + data + "]");
      client.send(post_text("/v2/models/copy/infer", copy_request("FP32", data + "]", rows)));
    }
    auto wanted = expected.begin();
    for (auto& client : clients) {
      const auto response = client.receive().value();
      BOOST_TEST(response.body.find(*wanted++) != std::string::npos,
                 "seed " << seed << ": " << response.body);
    }
  }
  // More rows than a batch has, and none, run alone.
  BOOST_TEST(clients.front()
                 .post("/v2/models/copy/infer", copy_request("FP32",
                                                             "[1,2,3,4,5,6,7,8,9,"
                                                             "10,11,12,13,14,15,16,17]",
                                                             17))
                 .status == 200);
  const auto stats = clients.front().get("/v2/models/copy/stats").body;
  const auto number = [&](const std::string& name) {
    return std::stoul(stats.substr(stats.find("\"" + name + "\":") + name.size() + 3));
  };
  BOOST_TEST(number("execution_count") < number("inference_count"), stats);
  until([&] { return model->in_flight() == 0; });
}

BOOST_AUTO_TEST_CASE(models_whose_requests_cannot_be_joined) {
  Rig rig({});
  Client client(rig.port());
  const auto reason = [&](const std::string& name, const std::string& more = {}) {
    rig.folder.add(name);
    rig.folder.write(name + ".json", R"({"max_batch": 16, "batch_window_us": 1000)" + more + "}");
    rig.look();
    return client.get("/v2/models/" + name).body;
  };
  BOOST_TEST(reason("simple").find("max_batch: dimension 0 of 'INPUT0', INT32 [1, 16], has to") !=
             std::string::npos);
  BOOST_TEST(reason("product").find("max_batch: dimension 0 of ") != std::string::npos);
  BOOST_TEST(reason("copy_fp32", R"(, "sizes": {"n": 8})")
                 .find("max_batch: 16 rows, but 'sizes' allows at most 8 of 'n'") !=
             std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::server::tests
