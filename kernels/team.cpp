#include "kernels/team.hpp"

#include "base/invariant.hpp"
#include "kernels/threads.hpp"

namespace polychron::kernels {

bool TeamMachine::Spin::again() noexcept {
  // A thread first spins, 25 ns a look, which serves work that comes at once. It then yields, 0.4
  // us a look, so that other threads can have the processor.
  constexpr int looks = 1000, polite_looks = 200;
  if (++looks_ > looks + polite_looks) return false;
  if (looks_ <= looks)
    breathe();
  else
    std::this_thread::yield();
  return true;
}

Crew::Crew(std::size_t lanes, std::size_t cores, std::shared_ptr<Executions> all)
    : all_(std::move(all)), steps_(lanes, cores, all_->count) {
  try {
    for (std::size_t helper = 0; helper < steps_.helpers(); ++helper)
      threads_.emplace_back([this, helper] {
        use_standard_arithmetic();
        use_one_thread();
        steps_.serve(helper);
      });
  } catch (...) {
    end();
    throw;
  }
}

Crew::~Crew() { end(); }

void Crew::end() noexcept {
  steps_.close();
  for (std::thread& thread : threads_) thread.join();
}

Team::Team(int threads)
    : crew_([threads] {
        ensure(threads >= 1, "a team includes its caller");
        return std::make_shared<Crew>(1, static_cast<std::size_t>(threads),
                                      std::make_shared<Executions>());
      }()),
      lane_(0) {}

// Not inline: libstdc++ 12 keeps a table of waiting threads in each shared object, so a thread that
// waits in this one is woken by this one alone.
void Team::run(Bound& step, std::size_t parts) { crew_->steps_.run(lane_, step, parts); }

}  // namespace polychron::kernels
