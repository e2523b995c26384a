#include "separable/data/products.hpp"

namespace separable {

template std::unique_ptr<Products<Single<float>>> make_products<Single<float>>(
    const AnyRows&, const std::vector<bool>*);
template std::unique_ptr<Products<Single<double>>> make_products<Single<double>>(
    const AnyRows&, const std::vector<bool>*);
template std::unique_ptr<Products<Lanes<float>>> make_products<Lanes<float>>(
    const AnyRows&, const std::vector<bool>*);
template std::unique_ptr<Products<Lanes<double>>> make_products<Lanes<double>>(
    const AnyRows&, const std::vector<bool>*);

}  // namespace separable
