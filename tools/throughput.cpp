#include "tools/throughput.hpp"

#include <atomic>
#include <chrono>
#include <deque>
#include <future>
#include <memory>
#include <vector>

namespace tool {
namespace {

/// One of those who have not counted yet; whoever fails is none, either.
class Counting {
 public:
  explicit Counting(std::atomic<int>& count) : count_(count) { ++count_; }
  ~Counting() { end(); }
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;

  void end() {
    if (!ended_) --count_;
    ended_ = true;
  }
  bool anybody() const { return count_ > 0; }

 private:
  std::atomic<int>& count_;
  bool ended_ = false;
};

class Client {
 public:
  Client(const SendRun& send, const Seconds& now) : send_(send), now_(now) {}

  Throughput measure(Counting& counting, double warm_until, double seconds) {
    double begin = 0, end = 0;
    do begin = next_end();
    while (begin < warm_until);
    Throughput counted;
    do {
      end = next_end();
      ++counted.runs;
    } while (end < begin + seconds);
    counting.end();
    counted.per_second = static_cast<double>(counted.runs) / (end - begin);
    while (counting.anybody()) next_end();
    for (; !on_their_way_.empty(); on_their_way_.pop_front()) on_their_way_.front().get();
    return counted;
  }

 private:
  /// When the oldest run had ended, with the others behind it.
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
  std::atomic<int> count = 0;
  const double warm_until = now() + warm_up;
  std::vector<std::future<Throughput>> others;  // whose destructors wait for them
  // After the vector: those in there wait for this one to end if a thread cannot be made.
  Counting own(count);
  for (int i = 1; i < clients; ++i)
    others.push_back(
        std::async(std::launch::async, [&, counting = std::make_unique<Counting>(count)]() mutable {
          const auto mine = std::move(counting);  // ends with the call, also if that fails
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
