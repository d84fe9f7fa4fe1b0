#include "apps/tool/throughput.hpp"

#include <atomic>
#include <chrono>
#include <deque>
#include <future>
#include <memory>
#include <vector>

namespace tool {
namespace {

/// Membership of a client in the group whose members wait for each other. A client that fails
/// leaves the group.
class Among {
 public:
  explicit Among(std::atomic<int>& count) : count_(count) { ++count_; }
  ~Among() { leave(); }
  Among(const Among&) = delete;
  Among& operator=(const Among&) = delete;

  void leave() {
    if (!left_) --count_;
    left_ = true;
  }
  bool anybody() const { return count_ > 0; }

 private:
  std::atomic<int>& count_;
  bool left_ = false;
};

/// The number of clients that have not reached each phase.
struct Counts {
  std::atomic<int> starting = 0, counting = 0;
};

struct Membership {
  explicit Membership(Counts& counts) : starting(counts.starting), counting(counts.counting) {}
  Among starting, counting;
};

class Client {
 public:
  Client(const SendRun& send, const Seconds& now) : send_(send), now_(now) {}

  Throughput measure(Membership& mine, double warm_until, double seconds) {
    double begin = 0, end = 0;
    do {
      begin = next_end();
      mine.starting.leave();
    } while (begin < warm_until || mine.starting.anybody());
    Throughput counted;
    do {
      end = next_end();
      ++counted.runs;
    } while (end < begin + seconds);
    mine.counting.leave();
    counted.per_second = static_cast<double>(counted.runs) / (end - begin);
    while (mine.counting.anybody()) next_end();
    for (; !on_their_way_.empty(); on_their_way_.pop_front()) on_their_way_.front().get();
    return counted;
  }

 private:
  /// The time at which the oldest run ended.
  double next_end() {
    while (on_their_way_.size() < runs_on_their_way) on_their_way_.push_back(send_());
    on_their_way_.front().get();
    on_their_way_.pop_front();
    return now_();
  }

  const SendRun& send_;
  const Seconds& now_;
  std::deque<polychron::Future<polychron::NamedBuffers>> on_their_way_;
};

}  // namespace

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Throughput measure_throughput(const SendRun& send, int clients, double warm_up, double seconds,
                              const Seconds& now) {
  Counts counts;
  const double warm_until = now() + warm_up;
  std::vector<std::future<Throughput>> others;  // their destructors wait for the clients
  others.reserve(static_cast<std::size_t>(clients));
  // Declared after the vector: if a thread cannot be created, leaving this membership releases the
  // clients in it.
  Membership own(counts);
  for (int i = 1; i < clients; ++i)
    others.push_back(std::async(
        std::launch::async, [&, membership = std::make_unique<Membership>(counts)]() mutable {
          const auto mine = std::move(membership);  // leaves with the call, even if it throws
          return Client(send, now).measure(*mine, warm_until, seconds);
        }));
  auto sum = Client(send, now).measure(own, warm_until, seconds);
  for (auto& other : others) {
    const auto counted = other.get();
    sum.per_second += counted.per_second;
    sum.runs += counted.runs;
  }
  return sum;
}

}  // namespace tool
