# What microagg.R promises, on a survey with all kinds of columns: Rscript check.R FILE WAY COMMAND
given <- commandArgs(TRUE)
source(given[1], encoding = "UTF-8")
via <- given[2]
protect <- function(...) microaggregate(..., via = via, command = given[3])
refused <- function(call, said) {
  message <- tryCatch({ call; "nothing" }, error = conditionMessage)
  if (!grepl(said, message, fixed = TRUE)) stop(message, " instead of ", said)
}

n <- 60
i <- seq_len(n)
survey <- data.frame(
  id = paste0("f", i),
  region = factor(c("Nord", "S\u00fcd")[1 + i %% 2], levels = c("S\u00fcd", "Nord", "Atlantis")),
  size = factor(c("s", "m", "l")[1 + i %% 3], levels = c("s", "m", "l"), ordered = TRUE),
  active = c(TRUE, FALSE, NA)[1 + i %% 3],
  staff = as.integer(7 * i %% 61),
  turnover = exp(sin(i)),
  when = as.Date("2026-01-01") + i,
  w = 1 + i %% 5,
  txt = c("a, b", "\u00e9\"<c>", NA)[1 + i %% 3],
  stringsAsFactors = FALSE
)
survey$staff[c(3, 9, 15, 21)] <- NA  # all of one region

# Means of groups of at least k within strata; missing where it was, and all else as it was.
result <- protect(survey, 4, columns = c("staff", "turnover"), by = "region", missing = "pattern")
new <- result$protected
kept <- setdiff(names(survey), c("staff", "turnover"))
stopifnot(
  identical(new[kept], survey[kept]),
  identical(class(new$staff), "integer"),
  identical(is.na(new$staff), is.na(survey$staff)),
  min(new$staff, na.rm = TRUE) >= 0,
  identical(result$kept, i),
  grepl("^k = 4 holds for these columns only: region, staff, turnover", result$verdict),
  result$loss > 0, result$loss < 100
)
group <- interaction(survey$region, new$turnover, is.na(survey$staff), drop = TRUE)
stopifnot(
  min(table(group)) >= 4,
  isTRUE(all.equal(new$turnover, ave(survey$turnover, group))),
  isTRUE(all.equal(as.numeric(new$staff), round(ave(survey$staff, group)), tolerance = 1e-12))
)

# NA_integer_ alone in a column of one record would be -1073741823 if it were a number.
gaps <- data.frame(a = c(1L, NA, 3L, NA, 5L, 6L), b = c(1, 2, 3, 4, 5, 6))
stopifnot(
  identical(protect(gaps, 2, missing = "pattern")$protected$a, c(2L, NA, 2L, NA, 6L, 6L)),
  identical(protect(gaps, 2, missing = "drop")$kept, c(1L, 3L, 5L, 6L)),
  identical(nrow(protect(gaps, 2, missing = "drop")$protected), 4L)
)
refused(protect(gaps, 2), "2 values")

# Categories come back as they went.
mixed <- protect(
  survey, 5, columns = "turnover", ordinal = "size", nominal = c("region", "txt", "active"),
  missing = "pattern"
)$protected
stopifnot(
  is.ordered(mixed$size), identical(levels(mixed$size), levels(survey$size)),
  is.factor(mixed$region), "Atlantis" %in% levels(mixed$region),
  is.character(mixed$txt), all(mixed$txt %in% survey$txt), is.logical(mixed$active),
  identical(is.na(mixed$txt), is.na(survey$txt))
)

# A level that only records had that were left out is not published.
few <- survey[c("region", "turnover")]
few$region[1] <- "Atlantis"
few$turnover[1] <- NA
stopifnot(
  identical(levels(protect(few, 3, "turnover", missing = "drop")$protected$region),
            c("S\u00fcd", "Nord"))
)

# Methods, options, weights, names of rows, other arguments.
weighted <- protect(survey, 3, columns = "turnover", weight = "w", method = "vmdav",
                    options = list(gamma = 0.5), average_weight = TRUE)$protected
group <- interaction(weighted$turnover, weighted$w, drop = TRUE)
total <- ave(survey$turnover * survey$w, group, FUN = sum) / ave(survey$w, group, FUN = sum)
stopifnot(isTRUE(all.equal(weighted$turnover, total)))
ranked <- protect(survey, 3, columns = c("turnover", "w"), method = "individual")
stopifnot(min(table(ranked$protected$turnover)) >= 3, length(ranked$kept) == n)
named <- data.frame(x = c(1, 2, 9, 10), row.names = c("A", "B", "C", "D"))
suppressMessages(named <- protect(named, 2)$protected)
stopifnot(identical(named, data.frame(x = c(1.5, 1.5, 9.5, 9.5))))
if (via == "reticulate") {
  plain <- protect(survey, 3, columns = "turnover")$protected
  other <- protect(survey, 3, columns = "turnover", shuffle = TRUE, seed = 5L)
  stopifnot(
    !identical(other$kept, i), identical(sort(other$kept), i),
    identical(other$protected$id, survey$id[other$kept]),
    identical(other$protected$turnover, plain$turnover[other$kept])
  )
}
report <- tempfile(fileext = ".html")
protect(survey, 3, columns = "turnover", report = report)
stopifnot(file.exists(report))

refused(protect(survey, 3, "active"), "is TRUE and FALSE: name it in nominal, or make 1 and 0")
refused(protect(survey, 3, "when"), "is a date or time: make a number of it that may be averaged")
refused(protect(survey, 3, "nothing"), "column \"nothing\" is unknown")
refused(protect(survey, 3, "turnover", ordinal = "txt"), "must be an ordered factor")
refused(protect(survey, 3, "turnover", method = "mdavv"), "mdavv")
refused(protect(survey, 100, "turnover"), "100")

refused(
  microaggregate(survey, 3, "turnover", via = "command", command = "no-such-microagg"),
  "the command \"no-such-microagg\" is not found: install the Python package microagg-gpu"
)

# Moments that are printed with the same text are not equal.
moments <- data.frame(x = c(1, 1, 9, 9), t = as.POSIXct("2026-01-01", tz = "UTC") + (1:4) / 8)
stopifnot(
  length(unique(as.character(moments$t))) < 4 || getRversion() >= "4.3",
  grepl("k = 2 holds for these columns only: x.", protect(moments, 2, "x")$verdict, fixed = TRUE)
)

for (package in c("tibble", "data.table")) {
  if (!requireNamespace(package, quietly = TRUE)) next
  table <- if (package == "tibble") tibble::as_tibble(survey) else data.table::as.data.table(survey)
  before <- if (package == "tibble") table else data.table::copy(table)
  again <- protect(table, 4, columns = c("staff", "turnover"), by = "region", missing = "pattern")
  stopifnot(
    identical(class(again$protected), class(table)),
    isTRUE(all.equal(as.data.frame(again$protected), new)), isTRUE(all.equal(table, before))
  )
  dropped <- protect(table, 4, columns = "staff", missing = "drop")$protected
  stopifnot(identical(class(dropped), class(table)), nrow(dropped) == n - 4)
  cat("checked", package, "\n")
}
saveRDS(list(new, mixed, weighted), given[4])
cat("all is as promised\n")
