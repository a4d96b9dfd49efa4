"""The package as `cmake --install` lays it down: a project outside finds it, and the program finds its helpers."""

import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import BUILD, PROGRAM, millrace  # noqa: E402
from segmenting import made_model, needs_openvino  # noqa: E402

PROJECT = """
cmake_minimum_required(VERSION 3.24)
project(outside LANGUAGES CXX)
find_package(millrace 0.1 REQUIRED)
add_executable(outside outside.cc)
target_link_libraries(outside PRIVATE millrace::millrace)
"""
CHARTS = """
#include <millrace/render.h>
#include <cstdio>
int main() {
  std::vector<double> prices = {1, 3, 2, 5, 4, 4, 6, 5, 7, 8};
  millrace::ChartDrawer drawer({.rows = 5, .width = 40, .height = 30});
  std::vector<std::uint8_t> images(2 * drawer.image_bytes());
  drawer.draw(millrace::view_of(prices.data(), {2, 5}), millrace::view_of(images.data(), {2, 30, 40}));
  std::fwrite(images.data(), 1, images.size(), stdout);
}
"""


# A latent whose channels are told apart by a stride that is not its own width's, and two groups of numbers.
LATENTS = """
#include <millrace/latents.h>
#include <cstdio>
int main() {
  std::vector<float> values(4 * 3 * 12 * 24);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7919 % 4093) / 512 - 4;
  millrace::ArrayView latent = millrace::view_of(values.data(), {4, 3, 12, 20});
  latent.strides = {3 * 12 * 24, 12 * 24, 24, 1};
  millrace::LatentMeasurer measurer;
  for (const auto& [name, value] : measurer.measure(latent).metrics)
    if (value == value) std::printf("%.*s,%.17g\\n", static_cast<int>(name.size()), name.data(), value);
  std::vector<double> table = {1, 2, 4, 7, 8, 11};
  for (const auto& found : millrace::compare_groups(millrace::view_of(table.data(), {6, 1}), {0, 0, 0, 1, 1, 1}))
    std::printf("t,%.17g\\np,%.17g\\n", found.t, found.p);
  try {
    measurer.measure(millrace::view_of(values.data(), {7, 9}));
  } catch (const std::exception& error) {
    std::printf("refused,%s\\n", error.what());
  }
}
"""


# The same pictures in memory and as files: hashes, pairs of equal ones, and a job by its name.
HASHES = """
#include <millrace/hamming.h>
#include <millrace/hash.h>
#include <millrace/jobs.h>
#include <cstdio>
int main(int count, char** paths) {
  std::vector<std::vector<std::uint8_t>> pictures;
  std::vector<millrace::ArrayView> images;
  for (int k = 1; k < count; ++k) {
    std::vector<std::uint8_t>& values = pictures.emplace_back(60 * 80);
    for (int i = 0; i < 60 * 80; ++i) values[i] = static_cast<std::uint8_t>((i % 80) * (i / 80) * (k % 3 + 1) / 19);
    images.push_back(millrace::view_of(values.data(), {60, 80}));
  }
  const millrace::ImageHasher hasher({.kinds = {"dhash"}});
  std::vector<std::uint8_t> codes(images.size() * hasher.bytes(0));
  std::uint8_t* const out[] = {codes.data()};
  hasher.hash(images, out);
  for (std::size_t k = 0; k < codes.size(); ++k) std::printf("%02x%s", codes[k], k % 8 == 7 ? "\\n" : "");
  const auto found = millrace::view_of(codes.data(), {static_cast<std::int64_t>(images.size()), 8});
  millrace::join_codes(found, {.radius = 1}, [](std::span<const millrace::CodePair> block, std::uint64_t) {
    for (const auto& pair : block) std::printf("%u %u %u\\n", pair.i, pair.j, pair.distance);
  });
  const auto done = millrace::run_job({"hash", {paths + 1, paths + count}, {{"kinds", {"dhash"}}}, ""});
  std::printf("%s", done.printed.c_str());
  try {
    millrace::run_job({"hash", {"nowhere.png"}, {{"kind", {"dhash"}}}, ""});
  } catch (const millrace::Failure& failure) {
    std::printf("%s: %s\\n", std::string(name_of(failure.error().code)).c_str(), failure.error().remedy.c_str());
  }
}
"""
VESSELS = """
#include <millrace/segment.h>
#include <cstdio>
int main(int, char** arguments) {
  std::vector<std::uint8_t> values(100 * 130 * 3);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(i * 7919 % 251);
  const millrace::Segmenter segmenter({arguments[1]}, {{"overlap", {"0.5"}}});
  const millrace::ArrayView image = millrace::view_of(values.data(), {100, 130, 3});
  const auto made = segmenter.segment({&image, 1});
  std::fwrite(made[0].outputs[0].mask.data(), 1, made[0].outputs[0].mask.size(), stdout);
}
"""


def run(*command, **options):
    done = subprocess.run([*map(str, command)], capture_output=True, **options)
    assert done.returncode == 0, (done.stdout + done.stderr).decode()
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """Installed, and then moved: nothing in it knows where it was."""
    there = tmp_path_factory.mktemp("installed") / "there"
    run("cmake", "--install", BUILD, "--prefix", there)
    return there.rename(there.with_name("elsewhere"))


def is_sanitized():
    return b"MILLRACE_SANITIZE:STRING=\n" not in (BUILD / "CMakeCache.txt").read_bytes()


@pytest.fixture(scope="module")
def library(prefix):
    return next(prefix.glob("lib/**/libmillrace.so"))


@pytest.fixture
def outside(prefix, tmp_path):
    """Builds a program of another project, of its source."""
    if is_sanitized():
        pytest.skip("a sanitized library is for programs that are built the same")

    def build(source):
        (tmp_path / "CMakeLists.txt").write_text(PROJECT)
        (tmp_path / "outside.cc").write_text(source)
        run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
        run("cmake", "--build", tmp_path / "build")
        return tmp_path / "build/outside"

    return build


def test_a_project_outside_draws_charts(outside, tmp_path):
    drawn = np.frombuffer(run(outside(CHARTS)), np.uint8).reshape(2, 30, 40)
    np.save(tmp_path / "prices.npy", np.array([1, 3, 2, 5, 4, 4, 6, 5, 7, 8.0]))
    millrace("render", tmp_path / "prices.npy", "--window", "5", "--stride", "5", "--size", "40x30", "--store", "npy",
             "-o", tmp_path / "charts")
    assert np.array_equal(drawn, np.load(tmp_path / "charts/images.npy"))


def test_a_project_outside_measures_latents(outside, tmp_path):
    found = dict(line.split(",", 1) for line in run(outside(LATENTS)).decode().splitlines())
    values = (np.arange(4 * 3 * 12 * 24) * 7919 % 4093 / 512 - 4).astype(np.float32).reshape(4, 3, 12, 24)[..., :20]
    folder = tmp_path / "latents/a/b"
    folder.mkdir(parents=True)
    np.save(folder / "step_0.npy", np.ascontiguousarray(values))
    millrace("latents", tmp_path / "latents", "-o", tmp_path / "out")
    rows = (line.split(",") for line in (tmp_path / "out/metrics.csv").read_text().splitlines()[1:])
    expected = {metric: float(value) for _, _, _, metric, value in rows}
    assert "[C, F, H, W]" in found.pop("refused")
    welch = pytest.importorskip("scipy.stats").ttest_ind([1, 2, 4], [7, 8, 11], equal_var=False)
    assert float(found.pop("t")) == pytest.approx(welch.statistic, rel=1e-9)
    assert float(found.pop("p")) == pytest.approx(welch.pvalue, rel=1e-9)
    assert {name: float(value) for name, value in found.items()} == expected


def test_a_project_outside_hashes_and_runs_jobs(outside, tmp_path):
    from PIL import Image

    paths = [tmp_path / f"{k}.png" for k in range(1, 7)]
    for k, path in enumerate(paths, 1):
        Image.fromarray((np.outer(np.arange(60), np.arange(80)) * (k % 3 + 1) // 19).astype(np.uint8)).save(path)
    said = run(outside(HASHES), *paths).decode().splitlines()
    printed = millrace("hash", *paths).stdout.decode().splitlines()
    codes = [line.split()[0] for line in printed]
    assert said[:6] == codes and len(set(codes)) == 3
    assert said[6:9] == ["0 3 0", "1 4 0", "2 5 0"] and said[9:15] == printed
    assert said[15].startswith("usage: ") and "kinds" in said[15] and len(said) == 16


@needs_openvino
def test_a_project_outside_segments(outside, tmp_path):
    from PIL import Image

    model = made_model(tmp_path / "m.onnx")
    (tmp_path / "photos").mkdir()
    Image.fromarray((np.arange(100 * 130 * 3) * 7919 % 251).astype(np.uint8).reshape(100, 130, 3)).save(tmp_path / "photos/a.png")
    millrace("segment", tmp_path / "photos", "--model", tmp_path / "m.onnx", "-o", tmp_path / "out", "--write", "mask", "--overlap", "0.5")
    mask = np.array(Image.open(tmp_path / "out/a.png.mask.png"))
    assert model is not None and 0 < (mask > 0).mean() < 1
    made = run(outside(VESSELS), tmp_path / "m.onnx", env={**os.environ, "MILLRACE_HELPERS": str(BUILD)})
    assert np.array_equal(np.frombuffer(made, np.uint8).reshape(100, 130), mask)


def test_the_library_shows_what_the_headers_declare_and_nothing_else(library):
    names = [line.split(maxsplit=2)[2] for line in run("nm", "-DC", "--defined-only", library).decode().splitlines()]
    ours = [name for name in names if "millrace" in name]
    for name in ours:
        plain = name.replace("[abi:cxx11]", "").removeprefix("typeinfo for ").removeprefix("typeinfo name for ").removeprefix("vtable for ")
        # Types that are thrown are known by their typeinfo on both sides.
        assert plain.startswith(("millrace::ChartDrawer::", "millrace::LatentMeasurer::", "millrace::Segmenter::", "millrace::compare_groups(",
                                 "millrace::ImageHasher::", "millrace::same_picture(", "millrace::join_codes(", "millrace::search_codes(",
                                 "millrace::describe_jobs(", "millrace::run_job(", "millrace::Error::", "millrace::Failure",
                                 "millrace::name_of(millrace::ErrorCode)")), name
    for name in ("ChartDrawer::draw", "LatentMeasurer::measure", "compare_groups", "ImageHasher::hash", "run_job", "join_codes", "Segmenter::segment"):
        assert any(name in shown for shown in ours)
    others = [name for name in names if name not in ours and not name.startswith(("std::", "operator", "typeinfo", "vtable",
                                                                                 "guard variable", "void std::"))]
    assert not [name for name in others if name.startswith(("fmt::", "H5", "sqlite3", "spdlog", "YAML"))], others


def test_the_installed_program_finds_its_helpers(prefix, pictures_for_helpers, tmp_path):
    program = prefix / "bin/millrace"
    picture = pictures_for_helpers
    expected = millrace("hash", picture).stdout
    env = {**os.environ, "PATH": "/usr/bin:/bin"}
    env.pop("MILLRACE_HELPERS", None)
    assert run(program, "hash", picture, env=env) == expected
    # Called by a link, as /usr/local/bin often has one.
    (tmp_path / "millrace").symlink_to(program)
    assert run(tmp_path / "millrace", "hash", picture, env=env) == expected
    # Alone: nothing is looked for in a folder that is nobody's.
    (tmp_path / "libexec/millrace").mkdir(parents=True)
    (tmp_path / "work").mkdir()
    shutil.copy(prefix / "libexec/millrace/millrace-decoder", tmp_path / "libexec/millrace")
    alone = shutil.copy(program, tmp_path / "work/millrace")
    done = subprocess.run([alone, "hash", picture], capture_output=True, env=env)
    assert done.returncode != 0 and b"millrace-decoder" in done.stdout + done.stderr
    env["MILLRACE_HELPERS"] = str(prefix / "libexec/millrace")
    assert run(alone, "hash", picture, env=env) == expected
    env["MILLRACE_HELPERS"] = str(tmp_path / "nowhere")
    done = subprocess.run([PROGRAM, "hash", picture], capture_output=True, env=env)
    assert done.returncode != 0, "what was set is meant"


@pytest.fixture
def pictures_for_helpers(tmp_path):
    from PIL import Image

    path = tmp_path / "rare.gif"
    Image.fromarray((np.add.outer(np.arange(60), 2 * np.arange(80)) % 256).astype(np.uint8)).save(path)
    return path
