"""Simulated data, toy data and the reference files."""

import functools
import http.server
import shutil
import socket
import subprocess
import sys
import threading

import numpy as np
import pytest

from microagg_gpu.datasets import clusters, fetch, simulated, toy
from microagg_gpu.errors import InputError

SHAPES = {"tarragona": (834, 13), "census": (1080, 13), "eia": (4092, 11)}  # 2005, 2006
RDA = {"tarragona": "Tarragona.rda", "census": "CASCrefmicrodata.rda", "eia": "EIA.rda"}


def test_import_needs_neither_pooch_nor_rdata():
    script = (
        "import sys, microagg_gpu.datasets, microagg_gpu.measures\n"
        "assert not {'pooch', 'rdata', 'pandas'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


# Simulated data: 2005, section 4.1


@pytest.mark.parametrize("number", range(1, 9))
def test_table_1(number):
    data, labels = simulated(f"SIM_{number}", labels=True)
    sizes = np.bincount(labels)
    sigma = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3)[number - 1]
    assert data.shape == (sizes.sum(), 10)
    assert len(sizes) == 200
    assert sizes.min() >= 10
    assert sizes.max() <= 100
    # 200 uniform sizes of 10..100: mean 11,000, standard deviation 371 (Table 1: 10,513-11,343)
    assert abs(len(data) - 11000) < 5 * 371
    within = np.sqrt(
        np.mean([np.var(data[labels == i], axis=0, ddof=1).mean() for i in range(200)])
    )
    assert within == pytest.approx(sigma, rel=0.02)


@pytest.mark.parametrize(
    ("name", "shape", "size"),
    [(f"SIM_{8 + i}", (20000 * i, 10), 100 * i) for i in range(1, 7)]  # Table 2
    + [(f"SIM_{15 + i}", (10000, d), 50) for i, d in enumerate((20, 40, 60, 80, 100, 200))]
    + [(f"SIM_{21 + i}", (200 * y, 10), y) for i, y in enumerate(range(8, 17))],  # Table 4
)
def test_tables_2_to_4(name, shape, size):
    data, labels = simulated(name, labels=True)
    assert data.shape == shape
    assert data.dtype == np.float64
    assert (np.bincount(labels) == size).all()
    assert labels.max() == 199


def test_centres_are_uniform_over_the_hypercube():
    data = clusters(2000, 3, 0.0, 1, 1, seed=5)
    assert np.abs(data).max() <= 1
    assert np.abs(data.mean(axis=0)).max() < 5 * np.sqrt(1 / 3 / 2000)
    np.testing.assert_allclose(data.var(axis=0), 1 / 3, rtol=0.1)


def test_cluster_sizes_reach_both_limits():
    _, labels = clusters(300, 1, 0.1, 2, 4, labels=True)
    assert set(np.bincount(labels)) == {2, 3, 4}


def test_a_seed_gives_the_same_records_and_another_seed_others():
    np.testing.assert_array_equal(simulated("SIM_21", seed=3), simulated("SIM_21", seed=3))
    assert not np.array_equal(simulated("SIM_21", seed=3), simulated("SIM_21", seed=4))
    np.testing.assert_array_equal(
        simulated("SIM_2"), simulated("SIM_2", labels=True)[0], err_msg="labels change the data"
    )
    # As in Table 1, data sets of the same parameters are drawn independently.
    assert len({len(simulated(f"SIM_{i}")) for i in range(1, 9)}) > 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"c": 0}, "c=0 must be a whole number from 1 to 2147483647"),
        ({"d": 1.5}, "d=1.5 must be a whole number from 1 to 2147483647"),
        ({"min_size": 9}, "min_size is 9 and max_size 8; min_size must not exceed max_size."),
        ({"sigma": -1.0}, "sigma=-1.0 must be a finite number from 0 to 1e+150"),
        ({"sigma": float("nan")}, "sigma=nan must be a finite number from 0 to 1e+150"),
        ({"seed": -1}, "seed=-1 must be a whole number of 0 or more"),
    ],
)
def test_bad_cluster_arguments(arguments, message):
    with pytest.raises(InputError) as error:
        clusters(**({"c": 3, "d": 2, "sigma": 0.1, "min_size": 5, "max_size": 8} | arguments))
    assert str(error.value) == message


def test_bad_simulated_arguments():
    with pytest.raises(InputError, match=r"no simulated data set 'SIM_30'.*SIM_1, .*, SIM_29"):
        simulated("SIM_30")
    with pytest.raises(InputError, match="seed=-1 must be"):
        simulated("SIM_1", seed=-1)


# Toy data


def test_vmdav_example():
    data = toy("vmdav")
    assert data.shape == (13, 2)
    assert data.dtype == np.float64
    np.testing.assert_array_equal(
        data[[0, 1, 6, 12]], [[2.4, 3], [1.68, 4.9], [19.85, 12.33], [23, 18.5]]
    )


def test_companies_have_the_centroids_of_tables_ii_and_viii():
    data = toy("companies")
    assert data.shape == (11, 2)
    # Table II, the optimal 3-partition; the employees are printed without decimals
    groups = {(0, 1, 2, 9): (747.5, 46), (3, 4, 8): (756.67, 8), (5, 6, 7, 10): (322.5, 33)}
    for group, (surface, employees) in groups.items():
        centroid = data[list(group)].mean(axis=0)
        assert (round(centroid[0], 2), round(centroid[1])) == (surface, employees)
    # Table VIII; 43.66 is 43.667 cut off
    groups = {(0, 1, 2): (743.33, 43.66), (7, 9, 10, 6): (385, 39.75), (3, 4, 5, 8): (695, 12.5)}
    for group, centroid in groups.items():
        np.testing.assert_allclose(data[list(group)].mean(axis=0), centroid, atol=0.0067)


def test_unknown_toy():
    with pytest.raises(InputError, match="no toy data set 'x'; choose one of vmdav, companies"):
        toy("x")


# Reference files


@pytest.fixture
def no_environment(monkeypatch, tmp_path):
    """Neither MICROAGG_DATA nor anything in the cache directory."""
    monkeypatch.delenv("MICROAGG_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "*")  # what is asked for is on this machine
    monkeypatch.setenv("no_proxy", "*")
    return tmp_path / "cache" / "microagg-gpu"


@pytest.fixture
def serve(tmp_path):
    """A web server on this machine for the folder `web`; gives folder and address."""
    folder = tmp_path / "web"
    folder.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield folder, f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("name", SHAPES)
def test_csv_and_rda_hold_the_same(name, reference_data, tmp_path):
    pytest.importorskip("rdata")
    for source in (f"{name}.csv", RDA[name]):
        if not (reference_data / source).exists():
            pytest.skip(f"{source} not found")
        (tmp_path / source).mkdir()
        shutil.copy(reference_data / source, tmp_path / source)
    text, binary = (fetch(name, tmp_path / source) for source in (f"{name}.csv", RDA[name]))
    assert text.data.shape == SHAPES[name]
    assert text.data.dtype == binary.data.dtype == np.float64
    np.testing.assert_array_equal(text.data, binary.data)
    assert text.columns == binary.columns
    assert len(text.columns) == SHAPES[name][1]


def test_eia_leaves_names_and_dates_out(reference_data):
    eia = fetch("eia", reference_data)
    assert eia.columns[0] == "UTILITYID"
    assert eia.columns[1] == "RESREVENUE"
    assert eia.columns[-1] == "TOTSALES"
    assert not {"YEAR", "MONTH", "STATE"} & set(eia.columns)
    # The totals are the sums of the other amounts, but for the rounding of each.
    np.testing.assert_allclose(eia.data[0, 1:9:2].sum(), eia.data[0, 9], atol=2)


def test_where_it_looks(reference_data, no_environment, monkeypatch, tmp_path):
    if not (reference_data / "tarragona.csv").exists():
        pytest.skip("tarragona.csv not found")
    lines = (reference_data / "tarragona.csv").read_text().splitlines()
    for n, home in enumerate((no_environment, tmp_path / "named", tmp_path / "given"), start=2):
        home.mkdir(parents=True)
        (home / "tarragona.csv").write_text("\n".join(lines[:n]))
    assert len(fetch("tarragona").data) == 1
    monkeypatch.setenv("MICROAGG_DATA", str(tmp_path / "named"))
    assert len(fetch("tarragona").data) == 2
    assert len(fetch("tarragona", tmp_path / "given").data) == 3
    (tmp_path / "named" / "tarragona.csv").unlink()
    assert len(fetch("tarragona").data) == 1


def test_download(reference_data, no_environment, serve):
    pytest.importorskip("pooch")
    pytest.importorskip("rdata")
    if not (reference_data / RDA["census"]).exists():
        pytest.skip(f"{RDA['census']} not found")
    folder, address = serve
    shutil.copy(reference_data / RDA["census"], folder)
    first = fetch("census", base_url=address)
    assert first.data.shape == SHAPES["census"]
    (folder / RDA["census"]).unlink()
    np.testing.assert_array_equal(fetch("census", base_url=address).data, first.data)
    assert (no_environment / RDA["census"]).is_file()


def test_download_of_another_file(no_environment, serve):
    pytest.importorskip("pooch")
    folder, address = serve
    (folder / RDA["eia"]).write_bytes(b"something else")
    with pytest.raises(OSError, match=r"checksum differs.*put eia.csv or EIA.rda into") as error:
        fetch("eia", base_url=address)
    assert str(no_environment) in str(error.value)
    assert not (no_environment / RDA["eia"]).exists()


@pytest.mark.parametrize("address", ["not there", "nobody", "nonsense"])
def test_failed_download(address, no_environment, serve):
    pytest.importorskip("pooch")
    with socket.socket() as nobody:  # has a port, and does not listen
        nobody.bind(("127.0.0.1", 0))
        here = f"http://127.0.0.1:{nobody.getsockname()[1]}/"
        base = {"not there": serve[1], "nobody": here}.get(address, address)
        with pytest.raises(
            OSError, match=r"failed to load; put eia.csv or EIA.rda into .* MICROAGG_DATA"
        ):
            fetch("eia", base_url=base)


def test_missing_packages(no_environment, monkeypatch, tmp_path):
    (tmp_path / "EIA.rda").touch()
    monkeypatch.setitem(sys.modules, "pooch", None)
    monkeypatch.setitem(sys.modules, "rdata", None)
    with pytest.raises(ImportError, match=r'rdata \(pip install "microagg-gpu\[datasets\]"\)'):
        fetch("eia", tmp_path)
    with pytest.raises(ImportError, match=r'pooch \(pip install "microagg-gpu\[datasets\]"\)'):
        fetch("eia")


def test_bad_files(tmp_path):
    with pytest.raises(InputError, match="no reference file 'x'; choose one of tarragona, census"):
        fetch("x")
    columns = "AFNLWGT,AGI,EMCONTRB,FEDTAX,PTOTVAL,STATETAX,TAXINC,POTHVAL,INTVAL,PEARNVAL,FICA"
    (tmp_path / "census.csv").write_text(columns + ",ERNVAL\n")
    with pytest.raises(InputError, match=r"census.csv lacks 1 of 13 variables \(WSALVAL\)"):
        fetch("census", tmp_path)
    rows = [columns + ",WSALVAL,ERNVAL", ",".join("1" * 13), ",".join(["1"] * 12 + ["a"])]
    (tmp_path / "census.csv").write_text("\n".join(rows))
    with pytest.raises(InputError, match=r"census.csv, line 3: .* is not a number"):
        fetch("census", tmp_path)
