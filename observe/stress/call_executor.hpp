// Makes one call of a program.
#pragma once

#include <functional>
#include <string>

#include "observe/stress/subject.hpp"

namespace polychron::stress {

/// A graph that the program's backend can compute.
std::shared_ptr<const ops::Graph> graph_for(const Program& program, const std::string& label,
                                            std::size_t inputs);

class CallExecutor {
 public:
  /// Makes the call number `index` of `client`. `caller` is the client or a callback.
  CallExecutor(RunState& run_state, std::size_t client, std::size_t caller, std::size_t index,
               const Call& call)
      : run_state_(run_state),
        subject_(*run_state.subjects[call.context]),
        client_(client),
        caller_(caller),
        index_(index),
        call_(call) {}

  /// The objects that the call needs exist, or never will.
  bool ready() const;
  /// Makes the call, and notes an exception. Makes none if its objects do not exist. A callback of
  /// the reply runs `next`, if it is not empty.
  void execute(std::function<void()> next = {});
  /// Notes the result of an export that is settled.
  static void settle(Subject& subject, Subject::Lent& lent);

 private:
  Subject::Lent* first_lent() const;
  bool possible() const;
  /// `is(slot)` for every tensor that the call needs; true for one that needs none.
  template <class Is>
  bool of_its_tensors(Is is) const;
  void note_touches() const;
  template <class T, class Tell>
  void expect(Future<T> future, Tell tell);
  template <class Options>
  Options conditions() const;
  /// The tensor in `slot`, or the next context's if the call uses a foreign one.
  const Tensor& tensor(std::size_t slot, bool foreign) const;
  const Graph& graph(bool foreign) const;
  /// The context of the call's foreign operand.
  Subject& other() const;
  void carry_out();
  /// Notes a tensor that will be in the call's slot.
  void create(Future<Tensor> future);
  /// Writes a buffer by a move.
  void move_in(const Tensor& target, const WriteOptions& options);
  void dispatch();
  void compute();
  void give_back();
  void read();

  RunState& run_state_;
  Subject& subject_;
  const std::size_t client_, caller_, index_;
  const Call& call_;
  std::string label_;  ///< set when the call is made
  std::function<void()> next_;
};

}  // namespace polychron::stress
