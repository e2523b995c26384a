# Coefficients of glmnet, recorded once: Rscript record.R DATA > paths.json
#
# DATA is the folder that SEPARABLE_DATA names. glmnet minimises, with W rows of weight 1,
#   gaussian  1/(2W) sum (y - s)^2             + lambda (alpha |w|_1 + (1 - alpha)/2 |w|^2)
#   binomial  1/W sum log(1 + exp(-y s))       + lambda (alpha |w|_1 + (1 - alpha)/2 |w|^2)
# where standardize=TRUE penalises the weights of columns over their standard deviation (1/W). In the
# gaussian family it first divides y by its standard deviation, which changes the second part of the
# penalty; so y is divided here, and the formula is exact. Only weights that are not 0 are written.

suppressPackageStartupMessages(library(glmnet))
glmnet.control(fdev = 0, devmax = 1, pmin = 1e-15, epsnr = 1e-14, mxitnr = 1000)

RATIOS <- c(0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01)

number <- function(x) paste(sprintf("%.12g", x), collapse = ",")

unit <- function(y) (y - mean(y)) / sqrt(mean((y - mean(y))^2))

# The smallest lambda at which all weights are 0, to three digits of a stated share of it.
lambdas <- function(x, y, alpha, standardize, ratios) {
  z <- scale(x, scale = FALSE)
  if (standardize) z <- sweep(z, 2, pmax(sqrt(colMeans(z^2)), 1e-300), "/")
  most <- max(abs(crossprod(z, y - mean(y)))) / nrow(x) / alpha
  signif(most * ratios, 3)
}

path <- function(name, family, x, y, alpha, standardize, ratios) {
  lambda <- lambdas(x, y, alpha, standardize, ratios)
  fit <- glmnet(x, y, family, alpha = alpha, lambda = lambda, standardize = standardize,
                thresh = 1e-14, maxit = 1e8)
  stopifnot(length(fit$lambda) == length(lambda), fit$jerr == 0)
  models <- sapply(seq_along(lambda), function(k) {
    w <- fit$beta[, k]
    used <- which(w != 0)
    sprintf('{"lambda":%s,"intercept":%s,"columns":[%s],"weights":[%s]}', number(lambda[k]),
            number(fit$a0[k]), paste(used - 1, collapse = ","), number(w[used]))
  })
  sprintf('{"data":"%s","family":"%s","l1_ratio":%s,"standardize":%s,"models":[\n%s]}', name,
          family, number(alpha), tolower(standardize), paste(models, collapse = ",\n"))
}

all_paths <- function(name, family, x, y, ratios = RATIOS) {
  if (family == "gaussian") y <- unit(y)
  grid <- expand.grid(alpha = c(1, 0.5), standardize = c(TRUE, FALSE))
  mapply(function(a, s) path(name, family, x, y, a, s, ratios), grid$alpha, grid$standardize)
}

root <- commandArgs(trailingOnly = TRUE)[1]
prostate <- read.delim(file.path(root, "esl-prostate", "prostate.data"), row.names = 1)
leukemia <- read.csv(gzfile(file.path(root, "leukemia", "leukemia.csv.gz")), check.names = FALSE)
spambase <- read.csv(gzfile(file.path(root, "spambase", "spambase.data.gz")), header = FALSE)

genes <- as.matrix(leukemia[, !(names(leukemia) %in% c("split", "sample", "class"))])
aml <- as.numeric(leukemia$class == "AML")
few <- RATIOS[1:6]
found <- c(
  all_paths("prostate", "gaussian", as.matrix(prostate[, 1:8]), prostate$lpsa),
  all_paths("leukemia", "gaussian", genes, aml, few),
  all_paths("leukemia", "binomial", genes, aml, few),
  all_paths("spambase", "binomial", as.matrix(spambase[, 1:57]), spambase[, 58])
)
cat(sprintf('{"glmnet":"%s","paths":[\n%s\n]}\n', packageVersion("glmnet"),
            paste(found, collapse = ",\n")))
