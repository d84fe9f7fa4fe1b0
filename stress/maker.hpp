// Makes one call of a program.
#pragma once

#include <functional>
#include <string>

#include "stress/board.hpp"

namespace polychron::stress {

/// A graph that the program's backend can compute.
std::shared_ptr<const ops::Graph> graph_for(const Program& program, const std::string& label,
                                            std::size_t inputs);

class Maker {
 public:
  /// The call number `index` of `client`, made by that or by a callback: `caller`.
  Maker(Session& session, std::size_t client, std::size_t caller, std::size_t index,
        const Call& call)
      : session_(session),
        board_(*session.boards[call.context]),
        client_(client),
        caller_(caller),
        index_(index),
        call_(call) {}

  /// What the call needs is there, or never will be.
  bool ready() const;
  /// Makes the call, and notes what it throws. Not if what it needs is not there. `next`, if it is
  /// not empty, is run by a callback of the reply.
  void make(std::function<void()> next = {});
  /// Notes what came of an export that is settled.
  static void settle(Board& board, Board::Lent& lent);

 private:
  Board::Lent* first_lent() const;
  bool possible() const;
  /// `is(slot)` for every tensor that the call needs; true for one that needs none.
  template <class Is>
  bool of_its_tensors(Is is) const;
  void note_touches() const;
  template <class T, class Tell>
  void expect(Future<T> future, Tell tell);
  template <class Options>
  Options conditions() const;
  /// The tensor in `slot`; of another context, if the call takes one for its own.
  const Tensor& tensor(std::size_t slot, bool foreign) const;
  const Graph& graph(bool foreign) const;
  /// The context that its foreign operand is of.
  Board& other() const;
  void carry_out();
  /// A tensor that will be in the call's slot.
  void create(Future<Tensor> future);
  /// A write of a buffer that is moved.
  void move_in(const Tensor& target, const WriteOptions& options);
  void dispatch();
  void compute();
  void give_back();
  void read();

  Session& session_;
  Board& board_;
  const std::size_t client_, caller_, index_;
  const Call& call_;
  std::string label_;  ///< once it is made
  std::function<void()> next_;
};

}  // namespace polychron::stress
