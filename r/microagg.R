# Microaggregation from R: source("microagg.R"), then
#
#   result <- microaggregate(companies, k = 5, columns = c("turnover", "staff"), by = "region")
#   result$verdict
#   result$protected
#
# It needs the Python package microagg-gpu, and either the R package reticulate, which calls it
# within R, or nothing else: then the command `microagg` is called and reads a temporary file.
#
# Both ways hand over doubles, integers and texts by themselves, so that NA stays missing:
# reticulate would make -2147483648 of NA_integer_, "NA" of NA_character_ and TRUE of NA. All
# columns that are not protected stay the R objects that they were.

#' Protect a data frame: each record gets the mean of a group of at least k similar ones.
#'
#' @param data A data frame, tibble or data.table.
#' @param k The least number of records in a group.
#' @param columns Names of the numeric columns to protect; by default all that have no other role.
#' @param by Names of columns of strata: a group never crosses strata.
#' @param weight Name of the column of sampling weights.
#' @param ordinal,nominal Names of columns of categories to protect; those of `ordinal` must be
#'   ordered factors.
#' @param method Name of the method; `microagg methods` lists them.
#' @param options List of options of the method, such as list(gamma = 0.2).
#' @param missing "error", "pattern" or "drop": what to do with missing values.
#' @param ... Other arguments of Python's microaggregate(), such as aggregate = "median".
#' @param report Name of an HTML file for a report. Do not publish it.
#' @param via "reticulate", "command", or "auto": reticulate if it is installed.
#' @param command The command, with its path if it is not on the search path.
#' @return A list: `protected`, the same kind of data frame; `verdict`, whether k holds over all its
#'   columns; `loss` in percent; `kept`, the numbers of the records that are published; and
#'   `messages` of the command.
microaggregate <- function(data, k, columns = NULL, by = NULL, weight = NULL, ordinal = NULL,
                           nominal = NULL, method = "mdav", options = list(), missing = "error",
                           ..., report = NULL, via = c("auto", "reticulate", "command"),
                           command = "microagg") {
  via <- match.arg(via)
  if (via == "auto") {
    via <- if (requireNamespace("reticulate", quietly = TRUE)) "reticulate" else "command"
  }
  if (!is.data.frame(data)) stop("data must be a data frame, tibble or data.table", call. = FALSE)
  if (anyDuplicated(names(data))) stop("give each column a name of its own", call. = FALSE)
  if (is.null(columns)) columns <- setdiff(names(data), c(by, weight, ordinal, nominal))
  unknown <- setdiff(c(columns, by, weight, ordinal, nominal), names(data))
  if (length(unknown)) stop("column ", dQuote(unknown[1], FALSE), " is unknown", call. = FALSE)
  for (name in c(columns, weight)) .microagg_number(data[[name]], name)
  for (name in ordinal) {
    if (!is.ordered(data[[name]])) {
      stop("column ", dQuote(name, FALSE), " of ordinal must be an ordered factor", call. = FALSE)
    }
  }
  roles <- list(
    columns = columns, by = by, weight = weight, ordinal = ordinal, nominal = nominal
  )
  run <- if (via == "reticulate") .microagg_reticulate else .microagg_command
  found <- run(data, k, roles, method, options, missing, list(...), report, command)
  c(list(protected = .microagg_rebuilt(data, found$kept, found$columns)), found[-1])
}

# A column of numbers, or an error that says what to do.
.microagg_number <- function(column, name) {
  what <- if (is.logical(column)) {
    "TRUE and FALSE: name it in nominal, or make 1 and 0 of it if a share may be published"
  } else if (inherits(column, c("Date", "POSIXt", "difftime"))) {
    "a date or time: make a number of it that may be averaged, such as the year or the age"
  } else if (!is.numeric(column)) {
    "not numeric: choose other columns, or name it in ordinal or nominal"
  } else if (is.object(column)) {
    paste0("of class ", class(column)[1], ": make it plain with as.numeric()")
  }
  if (!is.null(what)) stop("column ", dQuote(name, FALSE), " is ", what, call. = FALSE)
}

# The data with new columns. Everything else stays as it was, but for what would tell of records
# that are not published: texts as names of rows, and levels that only these records had.
.microagg_rebuilt <- function(data, kept, columns) {
  every <- identical(kept, seq_len(nrow(data)))
  result <- if (every) data else data[kept, , drop = FALSE]
  table <- inherits(data, "data.table") && requireNamespace("data.table", quietly = TRUE)
  if (table) {
    result <- data.table::copy(result)
  } else if (is.character(attr(data, "row.names"))) {
    message("the names of the rows are left out: they would tell who is who")
    rownames(result) <- NULL
  }
  for (name in names(data)) {
    new <- columns[[name]]
    old <- data[[name]]
    if (is.null(new)) {
      if (!is.factor(old) || every) next
      new <- result[[name]]
    }
    if (is.factor(new)) {
      gone <- setdiff(as.character(unique(old)), as.character(unique(new)))
      new <- factor(new, levels = setdiff(levels(new), gone), ordered = is.ordered(new))
    }
    if (table) data.table::set(result, j = name, value = new) else result[[name]] <- new
  }
  result
}

# New values of a column in its own type: numbers, or numbers of categories among `known`.
.microagg_typed <- function(old, new, known = NULL) {
  if (is.null(known)) {
    new[is.nan(new)] <- NA
    return(if (is.integer(old)) as.integer(round(new)) else new)
  }
  if (is.factor(old)) {
    return(factor(known[new], levels = levels(old), ordered = is.ordered(old)))
  }
  known[new]
}

# Categories of a column, and the number of each record's among them; NA if missing.
.microagg_codes <- function(column) {
  if (is.factor(column)) {
    return(list(known = levels(column), codes = as.integer(column)))
  }
  known <- unique(column)
  known <- known[!is.na(known)]
  list(known = known, codes = match(column, known, incomparables = NA))
}

# A text for each category, different for different ones: two moments may have the same text.
.microagg_texts <- function(known) {
  if (is.character(known)) return(enc2utf8(known))
  if (is.logical(known)) return(as.character(known))
  if (.microagg_plain(known)) return(sprintf("%.17g", known))
  as.character(seq_along(known))
}

.microagg_plain <- function(column) is.numeric(column) && !is.object(column)

# Through reticulate: an Arrow table of the data, and the result of Python's microaggregate().
.microagg_reticulate <- function(data, k, roles, method, options, missing, more, report, command) {
  arrow <- reticulate::import("pyarrow", convert = FALSE)
  numpy <- reticulate::import("numpy", convert = FALSE)
  python <- reticulate::import_builtins(convert = FALSE)
  library <- reticulate::import("microagg_gpu", convert = FALSE)
  # By their bytes: older versions of reticulate do not know the arrays of NumPy 2.
  bytes <- function(x, type) numpy$frombuffer(reticulate::r_to_py(x), dtype = type)
  numbers <- function(array) {
    raw <- reticulate::py_to_r(python$bytearray(array$astype("float64")$tobytes()))
    readBin(raw, "double", length(raw) / 8)
  }
  masked <- function(x) {
    absent <- is.na(x)
    x[absent] <- 0L
    values <- bytes(writeBin(as.vector(x), raw()), if (is.integer(x)) "int32" else "float64")
    arrow$array(values, mask = bytes(as.raw(absent), "bool"))
  }
  category <- function(x) {
    found <- .microagg_codes(x)
    known <- as.list(.microagg_texts(found$known))
    arrow$DictionaryArray$from_arrays(
      masked(found$codes - 1L), arrow$array(known, type = arrow$string()),
      ordered = is.ordered(x)
    )
  }
  column <- function(name) {
    x <- data[[name]]
    if (!.microagg_plain(x) || name %in% roles$nominal) return(category(x))
    masked(x)
  }
  table <- arrow$Table$from_arrays(lapply(names(data), column), names = as.list(names(data)))
  listed <- function(names) if (length(names)) as.list(names)
  given <- list(
    columns = listed(roles$columns), by = listed(roles$by), sampling_weight = roles$weight,
    ordinal = listed(roles$ordinal), nominal = listed(roles$nominal), missing = missing
  )
  given <- given[!vapply(given, is.null, NA)]
  result <- tryCatch(
    do.call(library$microaggregate, c(list(table, k, method), given, options, more)),
    error = function(problem) {
      said <- sub("^.*InputError: ", "", sub("\n.*", "", conditionMessage(problem)))
      stop(said, call. = FALSE)
    }
  )
  if (!is.null(report)) result$save_report(report)
  new <- list()
  for (name in unlist(reticulate::py_to_r(result$replaced))) {
    values <- result$protected$column(name)
    old <- data[[name]]
    if (name %in% c(roles$ordinal, roles$nominal)) {
      known <- .microagg_codes(old)$known
      listed <- reticulate::py_to_r(values$to_pylist())
      texts <- unlist(lapply(listed, function(x) if (is.null(x)) NA else x))
      codes <- match(texts, .microagg_texts(known), incomparables = NA)
      new[[name]] <- .microagg_typed(old, codes, known)
    } else {
      values <- numbers(values$to_numpy())
      new[[name]] <- .microagg_typed(if (identical(name, roles$weight)) 0.5 else old, values)
    }
  }
  list(
    columns = new, verdict = reticulate::py_str(result$verdict),
    loss = reticulate::py_to_r(result$loss), kept = as.integer(numbers(result$order)) + 1L,
    messages = character()
  )
}

# LD_LIBRARY_PATH without the folders that R puts in front of it. Those of the system are searched
# anyway, but after the own ones of a program.
.microagg_libraries <- function() {
  folders <- strsplit(Sys.getenv("LD_LIBRARY_PATH"), ":", fixed = TRUE)[[1]]
  own <- folders == R.home("lib") | grepl("^/usr/lib|/lib/server$", folders)
  paste(folders[!own], collapse = ":")
}

# Through the command: numbers with all their digits, and numbers instead of texts.
.microagg_command <- function(data, k, roles, method, options, missing, more, report, command) {
  if (identical(more$small_strata, "suppress") || isTRUE(more$shuffle)) {
    stop("small_strata = \"suppress\" and shuffle need via = \"reticulate\"", call. = FALSE)
  }
  if (Sys.which(command) == "") {
    stop(
      "the command ", dQuote(command, FALSE), " is not found: install the Python package ",
      "microagg-gpu, or give the path of its command", call. = FALSE
    )
  }
  kept <- seq_len(nrow(data))
  if (missing == "drop") {
    protected <- c(roles$columns, roles$ordinal, roles$nominal)
    kept <- which(Reduce(`&`, lapply(protected, function(name) !is.na(data[[name]]))))
    missing <- "error"
  }
  category <- function(name) !.microagg_plain(data[[name]]) || name %in% roles$nominal
  cells <- lapply(names(data), function(name) {
    x <- if (category(name)) .microagg_codes(data[[name]])$codes else data[[name]]
    text <- if (is.integer(x)) as.character(x) else sprintf("%.17g", x)
    ifelse(is.na(x), "", text)[kept]
  })
  folder <- tempfile("microagg")
  dir.create(folder, mode = "0700")
  on.exit(unlink(folder, recursive = TRUE))
  source <- file.path(folder, "data.csv")
  output <- file.path(folder, "protected.csv")
  quoted <- function(names) paste0("\"", gsub("\"", "\"\"", enc2utf8(names)), "\"")
  lines <- c(paste(quoted(names(data)), collapse = ","), do.call(paste, c(cells, sep = ",")))
  writeLines(lines, source, useBytes = TRUE)
  listed <- function(flag, names) {
    if (length(names)) c(flag, paste(quoted(names), collapse = ","))
  }
  order <- function(name) {
    paste0(name, "=", paste(seq_along(levels(data[[name]])), collapse = "<"))
  }
  flag <- function(name) {
    value <- more[[name]]
    name <- paste0("--", gsub("_", "-", name))
    if (isTRUE(value)) name else if (!identical(value, FALSE)) c(name, format(value, digits = 17))
  }
  given <- c(
    "protect", source, "-k", format(k), "--method", method, "--missing", missing,
    "--decimals", "exact", "-o", output, listed("--columns", roles$columns),
    listed("--by", roles$by), listed("--nominal", roles$nominal),
    if (length(roles$weight)) c("--weight", roles$weight),
    unlist(lapply(roles$ordinal, function(name) c("--ordinal", order(name)))),
    unlist(lapply(names(options), function(name) {
      c("--option", paste0(name, "=", format(options[[name]], digits = 17)))
    })),
    unlist(lapply(names(more), flag)), if (length(report)) c("--report", report, "--force")
  )
  # One line for each sentence, and not the libraries of R, which may hold another Python.
  variables <- Sys.getenv(c("COLUMNS", "LD_LIBRARY_PATH"), NA, names = TRUE)
  on.exit(
    {
      Sys.unsetenv(names(variables))
      do.call(Sys.setenv, as.list(variables[!is.na(variables)]))
    },
    add = TRUE
  )
  Sys.setenv(COLUMNS = "100000", LD_LIBRARY_PATH = .microagg_libraries())
  errors <- file.path(folder, "errors")
  said <- suppressWarnings(system2(command, shQuote(given), stdout = TRUE, stderr = errors))
  status <- attr(said, "status")
  if (!is.null(status) && status != 0) {
    problem <- if (file.exists(errors)) readLines(errors, encoding = "UTF-8")
    text <- sub("^microagg: ", "", paste(c(problem, said), collapse = "\n"))
    stop(gsub(source, "data", text, fixed = TRUE), call. = FALSE)
  }
  result <- utils::read.csv(
    output, check.names = FALSE, colClasses = "character", na.strings = "", encoding = "UTF-8"
  )
  if (nrow(result) != length(kept)) stop("the command left out records", call. = FALSE)
  replaced <- c(
    roles$columns, roles$ordinal, roles$nominal, if (isTRUE(more$average_weight)) roles$weight
  )
  new <- lapply(replaced, function(name) {
    values <- as.numeric(result[[match(name, names(data))]])
    old <- if (identical(name, roles$weight)) 0.5 else data[[name]]
    .microagg_typed(old, values, if (category(name)) .microagg_codes(data[[name]])$known)
  })
  part <- function(title) {
    line <- grep(paste0("^ *", title, " "), said, value = TRUE)
    trimws(sub(paste0("^ *", title, " +"), "", line))
  }
  list(
    columns = stats::setNames(new, replaced), verdict = part("verdict")[1],
    loss = as.numeric(sub(" *%.*", "", part("loss")[1])), kept = kept, messages = said
  )
}
