// polychron bench's count of the runs of many clients, in a simulated time.
#include "apps/tool/throughput.hpp"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "polychron/polychron.hpp"

using polychron::NamedBuffers;

namespace {

using Reply = polychron::Promise<NamedBuffers>;

/// Makes runs one after the other. The test gives the time of each. It makes one only when all
/// clients have sent theirs, so that clients take turns. Once a client waits that sends no more,
/// runs take no time.
class Server final : public polychron::detail::Origin, public std::enable_shared_from_this<Server> {
 public:
  Server(int clients, std::function<double(int)> length)
      : full_(tool::runs_on_their_way * static_cast<std::size_t>(clients)),
        length_(std::move(length)) {}

  /// This run is refused; from then on they are made when they are sent.
  int refused = -1;
  /// The number of runs of the first client before any other comes.
  int alone = 0;

  tool::Throughput measure(int clients, double warm_up, double seconds) {
    const auto now = [this] {
      const std::lock_guard lock(mutex_);
      sends_ = false;
      return time_;
    };
    return tool::measure_throughput([this] { return send(); }, clients, warm_up, seconds, now);
  }

  polychron::Error error() const noexcept override { return {polychron::ErrorKind::internal, ""}; }
  void post(std::shared_ptr<polychron::detail::Deferred> callback) const noexcept override {
    callback->run();
  }
  Help help(const std::atomic<bool>&) const override {
    if (sends_) return Help::none;
    const std::lock_guard lock(mutex_);
    for (; !waiting_.empty(); waiting_.pop_front()) waiting_.front().resolve(NamedBuffers{});
    return Help::moved;
  }

 private:
  polychron::Future<NamedBuffers> send() {
    std::unique_lock lock(mutex_);
    sends_ = true;
    const auto me = std::this_thread::get_id();
    if (first_ == std::thread::id()) first_ = me;
    come_.wait(lock, [&] { return first_ == me || made_ >= alone; });
    auto reply = Reply::make(shared_from_this());
    auto future = reply.future();
    waiting_.push_back(std::move(reply));
    while (is_due()) make_one();
    if (made_ >= alone) come_.notify_all();
    return future;
  }
  bool is_due() const {
    if (refused >= 0 && made_ > refused) return !waiting_.empty();
    return waiting_.size() == (made_ < alone ? tool::runs_on_their_way : full_);
  }
  void make_one() {
    time_ += length_(made_);
    if (made_++ == refused)
      waiting_.front().reject(polychron::Error(polychron::ErrorKind::operation_error, "refused"));
    else
      waiting_.front().resolve(NamedBuffers{});
    waiting_.pop_front();
  }

  static thread_local bool sends_;  ///< since this thread looked at the time
  const std::size_t full_;
  const std::function<double(int)> length_;
  mutable std::mutex mutex_;
  std::condition_variable come_;
  std::thread::id first_;
  mutable std::deque<Reply> waiting_;
  int made_ = 0;
  double time_ = 100;
};
thread_local bool Server::sends_ = false;

auto always(double length) {
  return [length](int) { return length; };
}

std::shared_ptr<Server> server(int clients, std::function<double(int)> length) {
  return std::make_shared<Server>(clients, std::move(length));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(throughput)

BOOST_AUTO_TEST_CASE(the_rate_is_that_of_runs_that_took_alike) {
  const auto counted = server(1, always(0.25))->measure(1, 1, 16);
  BOOST_TEST(counted.per_second == 4);
  BOOST_TEST(counted.runs == 64U);
}

BOOST_AUTO_TEST_CASE(runs_that_only_warm_up_do_not_count) {
  const auto length = [](int run) { return run < 4 ? 8.0 : run < 36 ? 0.5 : 4.0; };
  const auto counted = server(1, length)->measure(1, 32, 16);
  BOOST_TEST(counted.per_second == 2);
}

BOOST_AUTO_TEST_CASE(a_run_is_counted_however_long_it_takes) {
  const auto counted = server(1, always(4))->measure(1, 0, 0.5);
  BOOST_TEST(counted.per_second == 0.25);
  BOOST_TEST(counted.runs == 1U);
}

BOOST_AUTO_TEST_CASE(clients_count_while_all_of_them_send) {
  // In any order, each has 32 of 128 runs that take 16 seconds.
  const auto counted = server(4, always(0.125))->measure(4, 1, 16);
  BOOST_TEST(counted.per_second == 8);
  BOOST_TEST(counted.runs == 4U * 32U);
}

BOOST_AUTO_TEST_CASE(nobody_counts_before_all_have_had_a_run) {
  const auto late = server(2, always(0.125));
  late->alone = 200;  // 25 seconds
  BOOST_TEST(late->measure(2, 0, 16).per_second == 8);
}

BOOST_AUTO_TEST_CASE(a_refused_run_is_told_and_the_others_end) {
  for (const int clients : {1, 2, 5}) {
    const auto refusing = server(clients, always(0.125));
    refusing->refused = 70;
    BOOST_CHECK_EXCEPTION(static_cast<void>(refusing->measure(clients, 1, 64)), polychron::Error,
                          [](const auto& error) { return error.message() == "refused"; });
  }
}

BOOST_AUTO_TEST_SUITE_END()
