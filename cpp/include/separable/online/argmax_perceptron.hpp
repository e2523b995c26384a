// The multi-class perceptron, and the same with a pocket.
//
//   problem   find w_k, b_k with s_y > s_k for every row and every class k != y, s_k = w_k.x + b_k
//   given     rows, labels, weights, eta; a start w, b; which classes have been met
//   returns   w, b, the classes met and the number of mistakes in each epoch; averaged: u, from
//             which the mean of all w is w - u / t; with a pocket: the best w, b met
//   steps     for each row in the epoch's order:
//             1. s_k = w_k.x + b_k for every class
//             2. the rival r is the best class met so far other than y, the first on ties;
//                a mistake is s_y <= s_r
//             3. on a mistake w_y += eta x, w_r -= eta x, and so the intercepts
//             4. averaged: u_k += t (change of w_k), t being the presentations before this one
//             until an epoch makes no mistake
//   source    Crammer and Singer 2003 (the single-rival update)
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "separable/data/products.hpp"
#include "separable/math/lanes.hpp"
#include "separable/online/epochs.hpp"
#include "separable/online/pocket.hpp"

namespace separable {

// Classes in blocks of lanes: class k is lane k % width of block k / width.
template <class Lane>
struct ArgmaxState {
    using T = typename Lane::T;
    T* w;                 // [block][feature][lane]
    T* b;                 // [block][lane]
    double* u = nullptr;  // as w, for the mean; null: none is kept
    double* u_b = nullptr;
    bool* met = nullptr;  // [class]
    std::int64_t n_classes = 0;
    std::int64_t n_features = 0;

    std::int64_t n_blocks() const { return (n_classes + Lane::kWidth - 1) / Lane::kWidth; }
    std::int64_t block_size() const { return n_features * Lane::kWidth; }
};

template <class Lane>
void class_scores(const Products<Lane>& x, std::int64_t i, const ArgmaxState<Lane>& state,
                  typename Lane::T* s) {
    for (std::int64_t block = 0; block < state.n_blocks(); ++block) {
        const auto b = Lane::load(state.b + block * Lane::kWidth);
        Lane::store(x.dot(i, state.w + block * state.block_size()) + b, s + block * Lane::kWidth);
    }
}

// The best class met other than y, the first on ties; -1 if there is none.
template <class Scores>
std::int64_t best_rival(const Scores& s, const bool* met, std::int64_t n_classes, std::int64_t y) {
    std::int64_t rival = -1;
    for (std::int64_t k = 0; k < n_classes; ++k)
        if (k != y && met[k] && (rival < 0 || s[k] > s[rival])) rival = k;
    return rival;
}

// Steps 2 to 4 for all presentations of one row, as a recursion on its scores.
//
// Rivals within one step of the best take turns, in the same order each round, so many rounds are
// taken at once: as long as the row stays mistaken and no other rival comes within a step.
class ArgmaxSteps {
   public:
    std::vector<double> size;  // [class] the step along x in units of eta
    std::vector<double> time;  // [class] sum of steps x presentations before each
    std::int64_t mistakes = 0;

    ArgmaxSteps(std::vector<double> s, const bool* met, std::int64_t n_classes, std::int64_t y,
                double gain, double weight, double presented)
        : size(s.size(), 0.0), time(s.size(), 0.0), s_(std::move(s)), y_(y), gain_(gain) {
        double done = 0;
        while (done < weight) {
            const std::int64_t r = best_rival(s_, met, n_classes, y);
            if (r < 0 || s_[y] > s_[r]) break;
            if (gain <= 0) {  // an empty row without intercept: mistaken for ever, no step to take
                mistakes += whole_count(std::ceil(weight - done));
                break;
            }
            const auto group = rivals_within_a_step(met, n_classes, r);
            const auto turns = static_cast<double>(group.size());
            const double rounds = std::floor(
                std::min({rounds_before_change(met, n_classes, group), (weight - done) / turns}));
            if (rounds >= 1) {
                for (std::size_t turn = 0; turn < group.size(); ++turn)
                    take(group[turn], rounds, turns, presented + done + static_cast<double>(turn));
                done += rounds * turns;
            } else {
                take(r, std::min(1.0, weight - done), 0, presented + done);
                done += 1;
            }
        }
    }

   private:
    // Steps along x for y and against r: one at time `first` if there is no period, else one at
    // first, first + period, ... (`steps` of them).
    void take(std::int64_t r, double steps, double period, double first) {
        const double times =
            period > 0 ? steps * (first + period * (steps - 1) / 2) : steps * first;
        mistakes += period > 0 ? whole_count(steps) : 1;
        s_[y_] += gain_ * steps, s_[r] -= gain_ * steps;
        size[y_] += steps, size[r] -= steps;
        time[y_] += times, time[r] -= times;
    }

    // In the order of their turns: by score, the first on ties.
    std::vector<std::int64_t> rivals_within_a_step(const bool* met, std::int64_t n_classes,
                                                   std::int64_t best) const {
        std::vector<std::int64_t> group;
        for (std::int64_t k = 0; k < n_classes; ++k)
            if (k == best || (k != y_ && met[k] && s_[k] > s_[best] - gain_)) group.push_back(k);
        std::stable_sort(group.begin(), group.end(), [&](auto a, auto b) { return s_[a] > s_[b]; });
        return group;
    }

    // Rounds, each a step for every rival of the group, that leave the row mistaken before every
    // step and all other rivals a step below.
    double rounds_before_change(const bool* met, std::int64_t n_classes,
                                const std::vector<std::int64_t>& group) const {
        const double turns = static_cast<double>(group.size());
        const double lowest = s_[group.back()];
        double rounds = (lowest - s_[y_]) / ((turns + 1) * gain_) - 1;
        for (std::int64_t k = 0; k < n_classes; ++k)
            if (k != y_ && met[k] && std::find(group.begin(), group.end(), k) == group.end())
                rounds = std::min(rounds, (lowest - s_[k]) / gain_ - 1);
        return rounds;
    }

    std::vector<double> s_;
    std::int64_t y_;
    double gain_;
};

template <class Lane>
void take_argmax_steps(const Products<Lane>& x, std::int64_t i, const ArgmaxSteps& steps,
                       double eta, bool fit_intercept, const ArgmaxState<Lane>& state) {
    using T = typename Lane::T;
    for (std::int64_t block = 0; block < state.n_blocks(); ++block) {
        auto step = Lane::broadcast(T(0));
        double time[Lane::kWidth] = {};
        for (int lane = 0; lane < Lane::kWidth; ++lane) {
            const auto k = static_cast<std::size_t>(block * Lane::kWidth + lane);
            if (steps.size[k] == 0) continue;
            Lane::set(step, lane, static_cast<T>(eta * steps.size[k]));
            time[lane] = steps.time[k] / steps.size[k];
        }
        if (!Lane::any(step)) continue;
        T* w = state.w + block * state.block_size();
        T* b = state.b + block * Lane::kWidth;
        if (state.u)
            x.add_timed(i, step, time, w, state.u + block * state.block_size());
        else
            x.add(i, step, w);
        if (!fit_intercept) continue;
        for (int lane = 0; lane < Lane::kWidth; ++lane) {
            const T before = b[lane];
            b[lane] += Lane::get(step, lane);
            if (state.u_b)
                state.u_b[block * Lane::kWidth + lane] +=
                    time[lane] * (static_cast<double>(b[lane]) - static_cast<double>(before));
        }
    }
}

// The epochs that both share: `learn(steps)` takes the steps of a mistaken row, `seen(mistake)`
// ends every row.
template <class Lane, class Learn, class Seen>
OnlineRun argmax_epochs(const Products<Lane>& x, const OnlineProblem& problem,
                        const ArgmaxState<Lane>& state, EpochOrder& order, std::int64_t first_epoch,
                        std::int64_t max_epochs, double presented, Heartbeat& heartbeat,
                        Learn learn, Seen seen) {
    using T = typename Lane::T;
    OnlineRun run;
    run.presented = presented;
    std::vector<T> s(static_cast<std::size_t>(state.n_blocks() * Lane::kWidth));

    for (std::int64_t epoch = 0; epoch < max_epochs && !run.converged; ++epoch) {
        std::int64_t mistakes = 0;
        order.start(first_epoch + epoch);
        for (std::size_t t = 0; t < order.size(); ++t) {
            const std::int64_t i = order[t];
            if (order.fetches(t)) x.prefetch(order.to_fetch(t), order[t + 1], state.w);
            const std::int32_t y = problem.label[i];
            class_scores(x, i, state, s.data());  // 1
            if (!std::all_of(s.begin(), s.end(), [](T score) { return std::isfinite(score); })) {
                run.overflow_row = i;
                return run;
            }
            state.met[y] = true;
            const std::int64_t r = best_rival(s, state.met, state.n_classes, y);  // 2
            const bool mistake = r >= 0 && s[y] <= s[r];
            const double weight = problem.weight_of(i);
            if (mistake) {
                const double gain = problem.eta * problem.squared_norm(x, i);
                const ArgmaxSteps steps({s.begin(), s.end()}, state.met, state.n_classes, y, gain,
                                        weight, run.presented);
                mistakes += steps.mistakes;
                learn(i, steps);  // 3, 4
            }
            seen(mistake);
            run.presented += Presentations::count(weight);
            heartbeat.row();
        }
        run.converged = mistakes == 0;
        run.mistakes.push_back({mistakes});
    }
    return run;
}

template <class Lane>
OnlineRun argmax_perceptron(const Products<Lane>& x, const OnlineProblem& problem,
                            const ArgmaxState<Lane>& state, EpochOrder& order,
                            std::int64_t first_epoch, std::int64_t max_epochs, double presented,
                            Heartbeat& heartbeat) {
    return argmax_epochs(
        x, problem, state, order, first_epoch, max_epochs, presented, heartbeat,
        [&](std::int64_t i, const ArgmaxSteps& steps) {
            take_argmax_steps(x, i, steps, problem.eta, problem.fit_intercept, state);
        },
        [](bool) {});
}

// The pocket of pocket.hpp for the classes together: one run, one record, one count of mistakes.
template <class Lane>
class ArgmaxPocket {
   public:
    using T = typename Lane::T;

    ArgmaxPocket(const Products<Lane>& x, const OnlineProblem& problem,
                 std::span<const std::int64_t> rows, std::int64_t cheap_values,
                 Heartbeat& heartbeat)
        : x_(x),
          problem_(problem),
          rows_(rows),
          budget_(rows.size(), x.n_values, cheap_values),
          heartbeat_(heartbeat) {}

    void end_run(const ArgmaxState<Lane>& state) {
        if (budget_.allows(run_, record_)) evaluate(state);
    }

    void count_row(bool mistake) {
        budget_.row_presented();
        run_ = mistake ? 0 : run_ + 1;
    }

    void finish(const ArgmaxState<Lane>& state) { evaluate(state); }

   private:
    void evaluate(const ArgmaxState<Lane>& state) {
        std::vector<T> s(static_cast<std::size_t>(state.n_blocks() * Lane::kWidth));
        double wrong = 0;
        for (const std::int64_t i : rows_) {
            class_scores(x_, i, state, s.data());
            const std::int64_t r = best_rival(s, state.met, state.n_classes, problem_.label[i]);
            if (r >= 0 && s[problem_.label[i]] <= s[r]) wrong += problem_.weight_of(i);
            budget_.row_evaluated();
            heartbeat_.row();
            if (wrong >= mistakes) return;
        }
        mistakes = wrong;
        w.assign(state.w, state.w + state.n_blocks() * state.block_size());
        b.assign(state.b, state.b + state.n_blocks() * Lane::kWidth);
    }

    const Products<Lane>& x_;
    const OnlineProblem& problem_;
    std::span<const std::int64_t> rows_;
    EvaluationBudget budget_;
    Heartbeat& heartbeat_;
    std::int64_t run_ = 0, record_ = 0;

   public:
    std::vector<T> w, b;
    double mistakes = std::numeric_limits<double>::infinity();
};

// The best weights met go into the pocket.
template <class Lane>
OnlineRun argmax_pocket_perceptron(const Products<Lane>& x, const OnlineProblem& problem,
                                   const ArgmaxState<Lane>& state, EpochOrder& order,
                                   std::int64_t first_epoch, std::int64_t max_epochs,
                                   double presented, Heartbeat& heartbeat,
                                   ArgmaxPocket<Lane>& pocket) {
    const auto run = argmax_epochs(
        x, problem, state, order, first_epoch, max_epochs, presented, heartbeat,
        [&](std::int64_t i, const ArgmaxSteps& steps) {
            pocket.end_run(state);
            take_argmax_steps(x, i, steps, problem.eta, problem.fit_intercept, state);
        },
        [&](bool mistake) { pocket.count_row(mistake); });
    if (run.overflow_row < 0) pocket.finish(state);
    return run;
}

}  // namespace separable
