// The mistakes of a run, lane by lane.
//
//   problem   record all the weights w_k that a run goes through without storing any of them
//   given     each row with a mistake, and the presentations before it
//   returns   for each lane a list of (row u_k, step_k, time t_k): w_k = w_{k-1} + step_k x_{u_k},
//             from the start w_0 on, and w_k is what presentations t_k + 1 ... t_{k+1} leave
//             behind: it survives t_{k+1} - t_k of them
//   steps     1. a row of weight k + f takes up to k steps of one size, one a presentation
//             2. and one scaled by f, if it is still on the wrong side: an entry for each
//             A row that moves no score (x = 0 and no intercept) changes no weights: no entry.
//   source    Freund and Schapire 1999
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "separable/math/lanes.hpp"
#include "separable/online/epochs.hpp"

namespace separable {

struct MistakeList {
    std::vector<std::int64_t> row;
    std::vector<double> step, time;

    void add(std::int64_t i, double size, double presented) {
        row.push_back(i), step.push_back(size), time.push_back(presented);
    }
};

template <class Lane>
class MistakeRecord {
   public:
    using Score = typename Lane::Score;

    explicit MistakeRecord(int n_lanes) : lanes(static_cast<std::size_t>(n_lanes)) {}

    // A row of some weight, with targets y and scores s before its first presentation.
    void note(std::int64_t i, const Score& y, const Score& s, const OnlineProblem& problem,
              double squared_norm, double weight, double presented) {
        if (squared_norm == 0) return;
        const double eta = problem.eta;
        for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
            const double target = Lane::get(y, static_cast<int>(lane));
            const double margin = target * Lane::get(s, static_cast<int>(lane));
            const Presentations p(margin, eta * squared_norm, weight, presented,
                                  problem.tie_is_right(target));
            for (double k = 0; k < p.whole_steps; ++k)
                lanes[lane].add(i, eta * target, presented + k);  // 1
            if (p.fraction > 0)
                lanes[lane].add(i, eta * target * p.fraction, presented + std::floor(weight));  // 2
        }
    }

    std::vector<MistakeList> lanes;
};

}  // namespace separable
