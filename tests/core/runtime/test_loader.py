"""The tiny probe, and how sessions are made."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

from core.runtime.loader import PROBE, PROBE_INPUT
from core.runtime.native_words import caught_words, error_of
from tests.core.runtime.fake_onnxruntime import INPUT, MODEL, FakeRuntime


def made_anew() -> bytes:
    weights = helper.make_tensor("w", TensorProto.FLOAT, [1, 1, 3, 3], [1.0] * 9)
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["c"]), helper.make_node("Relu", ["c"], ["y"])],
        "probe",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 6, 6])],
        [weights],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    return model.SerializeToString()


def test_the_probe_is_the_convolution_it_says_it_is():
    assert onnx.load_from_string(PROBE) == onnx.load_from_string(made_anew())
    session = onnxruntime.InferenceSession(PROBE, providers=["CPUExecutionProvider"])
    (out,) = session.run(None, {"x": PROBE_INPUT})
    np.testing.assert_array_equal(out, np.full((1, 1, 6, 6), 9, np.float32))


@pytest.mark.parametrize("threads", [1, 3])
def test_a_session_has_the_threads_its_model_asks_for(pool_of, threads):
    runtime = FakeRuntime()
    pool_of(runtime, provider="cpu").open(replace(MODEL, threads=threads)).run(INPUT)
    (options,) = runtime.options
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (threads, 1)
    assert options.log_severity_level == 3


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[E:onnxruntime:Default, x.cc:1 f] Failed with error: libX.so.1: cannot", "libX.so.1: ca"),
        ("[E:onnxruntime:Default, x.cc:1 f] it broke", "it broke"),
        ("[W:onnxruntime:Default, x.cc:1 f] only a warning", ""),
        ("", ""),
    ],
)
def test_the_error_is_found_among_the_words(text, error):
    assert error_of(text).startswith(error)
    assert bool(error_of(text)) is bool(error)


def test_standard_error_is_given_back_after_a_failure(capfd):
    with pytest.raises(ValueError, match="inside"), caught_words():
        raise ValueError("inside")
    with caught_words() as caught:
        pass
    assert caught() == ""
    os.write(2, b"still here\n")
    assert capfd.readouterr().err == "still here\n"
