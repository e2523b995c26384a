# One path of glmnet, timed inside R: Rscript glmnet.R FOLDER FAMILY THRESH
#
# FOLDER holds the numbers as raw bytes: `shape` (rows, columns, strengths, non-zeros; 0 of dense
# columns), `x`, with `i` and `p` of sparse columns, `y` and `lambda`. Written there: `seconds` (wall
# and processor), `a0` and the weights `w` by strength. THRESH "default" leaves everything as it comes.

suppressPackageStartupMessages(library(glmnet))
given <- commandArgs(trailingOnly = TRUE)
whole <- function(name, n) readBin(file.path(given[1], name), "integer", n)
number <- function(name, n) readBin(file.path(given[1], name), "double", n)
write_out <- function(x, name) writeBin(as.double(x), file.path(given[1], name))

shape <- whole("shape", 4)
if (shape[4] > 0) {
  x <- sparseMatrix(i = whole("i", shape[4]), p = whole("p", shape[2] + 1), index1 = FALSE,
                    x = number("x", shape[4]), dims = shape[1:2])
} else {
  x <- matrix(number("x", shape[1] * shape[2]), shape[1], shape[2])
}
y <- number("y", shape[1])
lambda <- number("lambda", shape[3])

if (given[3] == "default") {
  took <- system.time(fit <- glmnet(x, y, given[2], lambda = lambda, standardize = FALSE))
} else {
  glmnet.control(fdev = 0, devmax = 1)  # or it ends before the last strength
  took <- system.time(fit <- glmnet(x, y, given[2], lambda = lambda, standardize = FALSE,
                                    thresh = as.numeric(given[3]), maxit = 1e7))
}
last <- pmin(seq_along(lambda), length(fit$lambda))  # the last model stands for those left out
write_out(c(took["elapsed"], took["user.self"] + took["sys.self"]), "seconds")
write_out(fit$a0[last], "a0")
write_out(as.matrix(fit$beta[, last]), "w")
