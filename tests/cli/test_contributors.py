"""Rules on contributors in the command."""

from helpers.command import ok, refuse, run, write

ORIGINAL = "id,amount\n1,90\n2,5\n3,5\n4,30\n5,30\n6,30\n"
PROTECTED = "id,amount\n4,30\n5,30\n6,30\n1,33.3\n2,33.3\n3,33.3\n"


def check(*arguments):
    write(ORIGINAL, "before.csv")
    write(PROTECTED, "after.csv")
    return run("check", "after.csv", "-k", 3, "--columns", "amount", *arguments)


def test_groups_are_in_the_protected_file_and_amounts_in_the_original():
    """90 of 100 in one group, 30 of 90 in the other; records are matched by their id."""
    found = check("--dominance", "1,85", "--original", "before.csv", "--key", "id")
    assert found.exit_code == 1
    assert (
        "FAIL: 1 of the 2 groups, with 3 of the 6 records, break (1, 85)-dominance: amount (1)."
    ) in found.stdout
    assert "90.0" in found.stdout
    assert check("--dominance", "1,90", "--original", "before.csv", "--key", "id").exit_code == 0
    weak = check("--p-percent", "5", "--original", "before.csv", "--key", "id")
    assert "PASS: all 2 groups obey the 5 % rule." in weak.stdout  # 5 is not below 4.5
    strong = check("--p-percent", "6", "--original", "before.csv", "--key", "id")
    assert strong.exit_code == 1


def test_columns_that_differ_are_the_amounts_by_default():
    write("r,a,b\nx,1,5\nx,2,5\nx,97,5\n", "before.csv")
    write("r,a,b\nx,33,5\nx,33,5\nx,33,5\n", "after.csv")
    found = run("check", "after.csv", "-k", 3, "--dominance", "1,85", "--original", "before.csv")
    assert found.exit_code == 1
    assert "a (1)" in found.stdout


def test_weights_are_contributors():
    write("w,a\n10,90\n1,5\n1,5\n", "before.csv")
    write("w,a\n10,33\n1,33\n1,33\n", "after.csv")
    rule = ("--columns", "a", "--dominance", "1,85", "--original", "before.csv")
    assert run("check", "after.csv", "-k", 3, *rule).exit_code == 1
    ok("check", "after.csv", "-k", 3, *rule, "--weight", "w")


def test_what_cannot_be_checked():
    write(ORIGINAL, "before.csv")
    write(PROTECTED, "after.csv")
    given = ("check", "after.csv", "-k", 3)
    refuse("holds means.* --original", *given, "--dominance", "1,85")
    refuse("--dominance 85 is not.* 1,85", *given, "--dominance", "85", "--original", "before.csv")
    refuse("add --dominance 1,85", *given, "--original", "before.csv")
    refuse("--p-percent 0", *given, "--p-percent", "0", "--original", "before.csv")
