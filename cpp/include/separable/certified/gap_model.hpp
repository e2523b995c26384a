// What bounds on the rounding of duality gaps depend on, beside rows and models.
#pragma once

namespace separable {

// Penalty, loss and the sizes of rows, of all lanes.
struct GapModel {
    bool is_joint;        // a lane learns all classes
    bool is_penalised;    // by l1 and l2 as follows
    bool has_logarithms;  // in the gaps of rows
    double curvature;     // the largest second derivative of the loss; negative: piecewise linear
    double l1, l2;
    double length, largest;  // at least |z_i| and |z_ij| of any row
};

}  // namespace separable
