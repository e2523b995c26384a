// The list of losses. A new one is a header beside this and an entry in Losses.
//
// A loss is a function of the score s and the target y: -1 or +1 for two classes, a number in
// regression. It has a name, declares whether it is for classes only and whether it is convex in s,
// and has value(s, y); gradient(s, y), the derivative in s (a subgradient at a kink); and
// implicit_gradient(s, y, gain), the gradient a at the score after the step, a = gradient(s - gain
// a, y), with which steps never overshoot. All are templates of the float type and vectorize.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>

#include "separable/loss/epsilon_insensitive.hpp"
#include "separable/loss/hinge.hpp"
#include "separable/loss/huber.hpp"
#include "separable/loss/log_loss.hpp"
#include "separable/loss/modified_huber.hpp"
#include "separable/loss/perceptron_loss.hpp"
#include "separable/loss/sigmoid_mse.hpp"
#include "separable/loss/squared_epsilon_insensitive.hpp"
#include "separable/loss/squared_error.hpp"
#include "separable/loss/squared_hinge.hpp"

namespace separable {

using Losses =
    std::tuple<PerceptronLoss, HingeLoss, SquaredHingeLoss, LogLoss, SigmoidMse, SquaredErrorLoss,
               HuberLoss, EpsilonInsensitiveLoss, ModifiedHuberLoss, SquaredEpsilonInsensitiveLoss>;

// A loss of one row in every lane, behind one virtual call.
template <class Lane>
class LanesLoss {
   public:
    using T = typename Lane::T;
    virtual ~LanesLoss() = default;
    // out[lane] = gradient(s[lane], y[lane])
    virtual void gradients(const T* s, const T* y, T* out) const = 0;
    // out[lane] = implicit_gradient(s[lane], y[lane], gain[lane]), g being the gradients
    virtual void implicit_gradients(const T* s, const T* y, const T* g, const T* gain,
                                    T* out) const = 0;
    // out[k] = value(s[k], y[k]) for k < n
    virtual void values(std::size_t n, const T* s, const T* y, T* out) const = 0;
};

template <class Lane, class Loss>
class LanesLossOf final : public LanesLoss<Lane> {
   public:
    using typename LanesLoss<Lane>::T;

    explicit LanesLossOf(const Loss& loss) : loss_(loss) {}

    void gradients(const T* s, const T* y, T* out) const override {
        for (int lane = 0; lane < Lane::kWidth; ++lane)
            out[lane] = loss_.gradient(s[lane], y[lane]);
    }

    void implicit_gradients(const T* s, const T* y, const T* g, const T* gain,
                            T* out) const override {
        if constexpr (requires {
                          loss_.template implicit_gradients<T, Lane::kWidth>(s, y, g, gain, out);
                      })
            loss_.template implicit_gradients<T, Lane::kWidth>(s, y, g, gain, out);
        else
            for (int lane = 0; lane < Lane::kWidth; ++lane)
                out[lane] = loss_.implicit_gradient(s[lane], y[lane], gain[lane]);
    }

    void values(std::size_t n, const T* s, const T* y, T* out) const override {
        for (std::size_t k = 0; k < n; ++k) out[k] = loss_.value(s[k], y[k]);
    }

   private:
    Loss loss_;
};

// Calls use(loss) with the loss of that name, with its parameter where it has one.
template <class Use>
auto with_loss(std::string_view name, double epsilon, Use&& use) {
    using Result = decltype(use(std::declval<HingeLoss>()));
    Result result{};
    bool is_known = false;
    const auto try_one = [&]<class Loss>() {
        if (is_known || name != Loss::kName) return;
        is_known = true;
        if constexpr (requires { Loss{epsilon}; })
            result = use(Loss{epsilon});
        else
            result = use(Loss{});
    };
    [&]<class... L>(std::tuple<L...>*) {
        (try_one.template operator()<L>(), ...);
    }(static_cast<Losses*>(nullptr));
    if (!is_known) throw std::invalid_argument("there is no loss " + std::string(name));
    return result;
}

template <class Lane>
std::unique_ptr<LanesLoss<Lane>> make_loss(std::string_view name, double epsilon) {
    return with_loss(name, epsilon, [](const auto& loss) -> std::unique_ptr<LanesLoss<Lane>> {
        return std::make_unique<LanesLossOf<Lane, std::decay_t<decltype(loss)>>>(loss);
    });
}

}  // namespace separable
