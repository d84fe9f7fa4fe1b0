// The bytes and the time that strangers may take. Cases count the answers of a victim beside an
// attack, or look at an account that has to return to zero.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <future>
#include <list>
#include <thread>

#include "core/worker.hpp"
#include "http/block.hpp"
#include "http/deadline.hpp"
#include "protocol/compression.hpp"
#include "rig.hpp"

namespace polychron::server::tests {

namespace {

std::uint64_t held(const Rig& rig) { return rig.app->service().budget.used(); }

}  // namespace

BOOST_AUTO_TEST_SUITE(limits)

// -- what the header decides ----------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_refusal_by_the_header_needs_no_body) {
  const Rig rig({"simple"}, [](auto& options) {
    options.http.body_bytes = 1'000'000;
    options.http.json_bytes = 500'000;
  });
  const std::string some = "Content-Length: 100000\r\n", chunked = "Transfer-Encoding: chunked\r\n";
  const std::tuple<std::string, std::string, std::string, int> all[] = {
      {"POST", live, some, 405},
      {"POST", live, chunked, 405},
      {"GET", live, some, 400},
      {"GET", live, chunked, 400},
      {"HEAD", live, some, 400},
      {"GET", "/v2/repository/index", some, 400},
      {"GET", "/metrics", "Content-Encoding: gzip\r\n" + some, 400},
      {"GET", infer_simple, "", 405},
      {"POST", "/nowhere", some, 404},
      {"POST", "/v2/models/none/infer", some, 404},
      {"POST", infer_simple, "Content-Encoding: br\r\n" + some, 415},
      {"POST", infer_simple, "Inference-Header-Content-Length: x\r\n" + some, 400},
      {"POST", infer_simple, "Inference-Header-Content-Length: 500001\r\n" + some, 413},
      {"POST", infer_simple, "Content-Length: 500001\r\n", 413},
      {"POST", infer_simple, "Content-Length: 1000001\r\n", 413},
  };
  for (const auto& [method, target, headers, status] : all) {
    Client client(rig.port());
    client.send(head_text(method, target, headers));
    const auto response = client.receive(method == "HEAD");
    BOOST_TEST((response && response->status == status), method << " " << target << " " << headers);
    BOOST_TEST(held(rig) == 0U);
  }
  // The connection goes on behind a body whose end is known, and behind none.
  Client client(rig.port());
  client.send(head_text("POST", live, some) + std::string(100'000, 'x'));
  BOOST_TEST(client.receive().value().status == 405);
  BOOST_TEST(client.get(infer_simple).status == 405);
  BOOST_TEST(client.get(live).status == 200);
  client.send(head_text("POST", live, chunked));
  BOOST_TEST(client.receive().value().headers.at("connection") == "close");
}

BOOST_AUTO_TEST_CASE(strangers_bodies_take_no_room) {
  const Rig rig({"simple"}, [](auto& options) {
    options.service.tokens = {"secret"};
    options.service.body_budget = 100'000;
  });
  // Each would fill the room for bodies.
  std::list<Client> strangers;
  for (const auto& target : {infer_simple, live, std::string("/v2/models/none/infer")}) {
    auto& stranger = strangers.emplace_back(rig.port());
    stranger.send(head_text("POST", target, "Content-Length: 99000\r\n") +
                  std::string(98'000, ' '));
    BOOST_TEST(stranger.receive().value().status == (target == live ? 405 : 401));
  }
  BOOST_TEST(held(rig) == 0U);
  Client client(rig.port());
  BOOST_TEST(
      client.post(infer_simple, simple_request(), "Authorization: bearer secret\r\n").status ==
      200);
  for (auto& stranger : strangers) {
    stranger.send(std::string(1000, ' '));
    BOOST_TEST(stranger.get(live).status == 200);
  }
}

// -- time -----------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_transfer_has_to_go_on) {
  using std::chrono::seconds;
  const Transfer::Clock::time_point begin{};
  Transfer transfer(seconds(30), begin);
  BOOST_TEST((transfer.due() == begin + seconds(30)));
  transfer.pass(Transfer::least - 1, begin + seconds(29));  // bytes, but too few
  BOOST_TEST((transfer.due() == begin + seconds(30)));
  transfer.pass(1, begin + seconds(29));
  BOOST_TEST((transfer.due() == begin + seconds(31)));  // a second for what has passed
  transfer.pass(100 * Transfer::least, begin + seconds(30));
  BOOST_TEST((transfer.due() == begin + seconds(60)));  // not 131: the next 64 KiB are due
  transfer.pass(Transfer::least, begin + seconds(59));
  BOOST_TEST((transfer.due() == begin + seconds(89)));
}

BOOST_AUTO_TEST_CASE(a_body_in_chunks_that_stops_is_told) {
  const Rig rig({"simple"},
                [](auto& options) { options.http.transfer_timeout = std::chrono::seconds(1); });
  Client client(rig.port());
  client.send(head_text("POST", infer_simple, "Transfer-Encoding: chunked\r\n") + "5\r\nab");
  BOOST_TEST(client.receive().value().status == 408);
}

// -- bytes ----------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(the_budget_counts_to_the_byte) {
  Budget budget(100);
  {
    BudgetShare first(budget), second(budget);
    first.set(60);
    BOOST_CHECK_NO_THROW(budget.refuse_beyond(40));
    BOOST_CHECK_THROW(budget.refuse_beyond(41), Refusal);
    BOOST_CHECK_THROW(second.set(41), Refusal);
    BOOST_TEST(budget.used() == 60U);
    second.set(40);
    BOOST_TEST(budget.used() == 100U);
    first.set(10);
    BOOST_TEST(budget.used() == 50U);
    BOOST_CHECK_THROW(first.set(61), Refusal);
    BOOST_TEST(budget.used() == 50U);
  }
  BOOST_TEST(budget.used() == 0U);
}

BOOST_AUTO_TEST_CASE(a_body_without_a_length_grows_by_doubling) {
  Budget budget(1 << 20);
  GrowingBody body(3, 100'000, budget);
  std::vector<const std::byte*> blocks;
  for (int i = 0; i < 100'000; ++i) {
    const auto space = body.space();
    BOOST_REQUIRE(!space.empty());
    space.front() = static_cast<std::byte>(i % 251);
    body.add(1);
    const auto* block = space.data() - 3 - i;
    if (blocks.empty() || blocks.back() != block) blocks.push_back(block);
  }
  BOOST_TEST(blocks.size() < 8U);
  BOOST_TEST(budget.used() >= 100'000U);
  BOOST_TEST(!body.space().empty());  // for the one that is too many
  BOOST_CHECK_THROW(body.add(1), Refusal);
  bool same = true;
  const auto all = body.take();
  for (std::size_t i = 0; i < 100'000; ++i) same &= all.bytes[i] == static_cast<std::byte>(i % 251);
  BOOST_TEST(same);
  BOOST_TEST(all.bytes.size() == 100'001U);
}

BOOST_AUTO_TEST_CASE(a_hundred_thousand_chunks) {
  const Rig rig({"simple"});
  Client client(rig.port());
  std::string chunks;
  for (int i = 0; i < 100'000; ++i) chunks += "1\r\n \r\n";
  client.send(head_text("POST", infer_simple, "Transfer-Encoding: chunked\r\n") + chunks);
  for (const char each : simple_request()) client.send(std::string("1\r\n") + each + "\r\n");
  client.send("0\r\n\r\n");
  BOOST_TEST(client.receive().value().status == 200);
  BOOST_TEST(held(rig) == 0U);
}

BOOST_AUTO_TEST_CASE(limits_of_bodies_to_the_byte) {
  const auto request = simple_request();
  for (const std::size_t more : {0, 1}) {
    const Rig rig({"simple"}, [&](auto& options) { options.http.json_bytes = request.size(); });
    const int expected = more == 0 ? 200 : 413;
    const auto text = request + std::string(more, ' ');
    Client client(rig.port());
    BOOST_TEST(client.post(infer_simple, text).status == expected);
    BOOST_TEST(
        client.post(infer_simple, compressed(text, "gzip"), "Content-Encoding: gzip\r\n").status ==
        expected);
    char size[20];
    std::snprintf(size, sizeof(size), "%zx", text.size());
    client.send(head_text("POST", infer_simple, "Transfer-Encoding: chunked\r\n") + size + "\r\n" +
                text + "\r\n0\r\n\r\n");
    BOOST_TEST(client.receive().value().status == expected);
  }
}

BOOST_AUTO_TEST_CASE(an_answer_counts_until_it_is_read) {
  const Rig rig({"copy_fp32"});
  const std::size_t bytes = 16 << 20;
  const std::string json = R"({"parameters":{"binary_data_output":true},"inputs":[{"name":"x",)"
                           R"("datatype":"FP32","shape":[4194304],)"
                           R"("parameters":{"binary_data_size":16777216}}]})";
  Client silent(rig.port());
  silent.send(
      post_text("/v2/models/copy_fp32/infer", json + std::string(bytes, 'a'),
                "Inference-Header-Content-Length: " + std::to_string(json.size()) + "\r\n"));
  until([&] { return rig.model("copy_fp32")->metrics()->success.count == 1; });
  until([&] { return held(rig) > bytes && held(rig) < bytes + 4096; });
  BOOST_TEST(silent.receive().value().body.size() > bytes);
  until([&] { return held(rig) == 0; });
}

// -- neighbours -----------------------------------------------------------------------------------

/// 16 MiB of JSON with a million numbers, in few bytes.
std::string bomb() {
  std::string data = "[0";
  for (int i = 1; i < 1 << 20; ++i) data += ",0.0000000000";
  return compressed(copy_request("FP32", data + "]", 1 << 20), "gzip");
}

BOOST_AUTO_TEST_CASE(large_bodies_do_not_hold_up_small_ones) {
  const Rig rig({"simple", "copy_fp32"}, [](auto& options) { options.io_threads = 1; });
  const auto large = post_text("/v2/models/copy_fp32/infer", bomb(), "Content-Encoding: gzip\r\n");
  Client victim(rig.port());
  int fewest = 1'000'000;
  for (int i = 0; i < 5; ++i) {
    Client attacker(rig.port());
    std::atomic<int> status = 0;
    attacker.send(large);
    std::jthread waits([&] { status = attacker.receive().value().status; });
    int answers = 0;
    while (status == 0) answers += victim.post(infer_simple, simple_request()).status == 200;
    BOOST_TEST(status == 200);
    fewest = std::min(fewest, answers);
  }
  // One thread for the connections: were the large body its work, there would be one or two.
  BOOST_TEST(fewest > 10);
  BOOST_TEST(held(rig) == 0U);
}

BOOST_AUTO_TEST_CASE(the_worker_does_the_smallest_first) {
  std::string done;
  {
    Worker worker;
    std::promise<void> go;
    worker.add(0, [wait = go.get_future().share()] { wait.wait(); });
    worker.add(3, [&] { done += "c"; });
    worker.add(1, [&] { done += "a"; });
    worker.add(2, [&] { done += "b"; });
    worker.add(1, [&] { done += "A"; });
    go.set_value();
  }
  BOOST_TEST(done == "aAbc");  // all of it, though the worker has ended
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::server::tests
