"""What each measure is and where it comes from."""

TERMS = (
    (
        "Information loss",
        "100\N{MIDDLE DOT}SSE/SST: squared distances between published and original values, as a "
        "percentage of those between original values and their mean, on the variables as scaled "
        "for grouping. 0 is no change, 100 is publishing the mean everywhere (Mateo-Sanz and "
        "Domingo-Ferrer 1999; Domingo-Ferrer and Mateo-Sanz 2002).",
    ),
    (
        "IL1s",
        "Mean distance between a published and its original value, in units of \N{SQUARE ROOT}2 "
        "original standard deviations (Yancey, Winkler and Creecy 2002; Mateo-Sanz, "
        "Seb\N{LATIN SMALL LETTER E WITH ACUTE} and Domingo-Ferrer 2004).",
    ),
    (
        "Standard deviation, after / before",
        "Averages vary less than what they average, so it is at most 1 for group means; closer to "
        "1 is better (1999, Table 2).",
    ),
    (
        "Correlation discrepancy",
        "Absolute change of a correlation, averaged over the pairs of variables (1999, Table 4; "
        "2002, Tables 2 and 4).",
    ),
    (
        "First principal component",
        "The weight of a variable is its correlation with the component of largest variance of "
        "the standardized variables; the share explained is that of its variance (1999, Table 3). "
        "The mean change of the weights is that of 2002, Table 2.",
    ),
    (
        "Groups",
        "Records that are published alike. Groups of 2k records or more are oversized: splitting "
        "them would lose less (Laszlo and Mukherjee 2005, Table 6).",
    ),
    (
        "Linkage risk",
        "An intruder who has all original records takes for each published one the nearest, "
        "within what is published unchanged, such as strata and missing values. It is the share "
        "found right; if several are equally near, the intruder guesses. Over numbers and ranks "
        "(Domingo-Ferrer and Torra 2001).",
    ),
    (
        "Interval disclosure",
        "Share of original values within an interval of p percent of the ranks on both sides of "
        "the published value, averaged over p = 1 to 10 (Domingo-Ferrer and Torra 2001). Beside "
        "it, the share within 5\N{NO-BREAK SPACE}% of a standard deviation (as in Mateo-Sanz, "
        "Seb\N{LATIN SMALL LETTER E WITH ACUTE} and Domingo-Ferrer 2004).",
    ),
    (
        "Range inference",
        "If each variable is grouped by itself, a true value lies between the averages published "
        "for the neighbouring groups; where these are close, it is as good as known (2002, "
        "section 6). Enclosed: the share of values that do lie there. Given away: those in an "
        "interval narrower than 5\N{NO-BREAK SPACE}% of a standard deviation.",
    ),
    (
        "Densities and quantiles",
        "Densities are Gaussian kernel estimates with the same bandwidth before and after, over "
        "the middle 99\N{NO-BREAK SPACE}% of the original values. Standard deviations divide by "
        "the number of values.",
    ),
)
